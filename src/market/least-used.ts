/** The entries above `limit`, longest unused first. Sorts `entries` in place if there are any. */
export function leastUsed<T extends { readonly lastUsedMs: number }>(entries: T[], limit: number): readonly T[] {
  if (entries.length <= limit) return [];
  return entries.sort((x, y) => x.lastUsedMs - y.lastUsedMs).slice(0, entries.length - limit);
}
