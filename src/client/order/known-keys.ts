/**
 * Checks that an object has no key besides the known ones: a limit with a typing error in its name limits nothing.
 * @param what for the message, such as "the order"
 * @throws TypeError naming the key, and the known one it resembles
 */
export function refuseUnknownKeys(
  given: object | undefined,
  known: Readonly<Record<string, true>>,
  what: string,
): void {
  for (const key of Object.keys(given ?? {})) {
    if (Object.hasOwn(known, key)) continue;
    const words = Object.keys(known).map((name) => [distance(key.toLowerCase(), name.toLowerCase()), name] as const);
    const [close] = words.sort(([a], [b]) => a - b);
    const hint = close === undefined || close[0] > 3 ? "" : ` Did you mean "${close[1]}"?`;
    throw new TypeError(`Unknown key "${key}" in ${what}.${hint}`);
  }
}

/** Insertions, deletions and substitutions between two words. @see Levenshtein distance */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
