let startMs: number | undefined;

/**
 * Whole milliseconds since the first time that was asked about; rounds down. The engine keeps small integers in the objects that hold
 * them. Epoch milliseconds are objects of their own, which of an account not used lately are one more miss of the processor's caches.
 *
 * @param epochMs milliseconds since 1970
 */
export function sinceStart(epochMs: number): number {
  startMs ??= epochMs;
  return Math.floor(epochMs - startMs);
}
