/**
 * Checks that an object has no key besides the known ones: a limit with a typing error in its name limits nothing.
 * @param what for the message, such as "the order"
 * @param elsewhere keys that have their place in another argument, and which that is
 * @throws TypeError naming the key, and the known ones it resembles or where it belongs
 */
export function refuseUnknownKeys(
  given: object | undefined,
  known: Readonly<Record<string, true>>,
  what: string,
  elsewhere?: { readonly keys: Readonly<Record<string, true>>; readonly place: string },
): void {
  for (const key of Object.keys(given ?? {})) {
    if (Object.hasOwn(known, key)) continue;
    const isElsewhere = elsewhere !== undefined && Object.hasOwn(elsewhere.keys, key);
    throw new TypeError(
      `Unknown key "${key}" in ${what}.${isElsewhere ? ` It belongs into ${elsewhere.place}.` : hint(key, known)}`,
    );
  }
}

/** The keys that the unknown one begins, or else those it is nearest to; one of two units alone would be a guess. */
function hint(key: string, known: Readonly<Record<string, true>>): string {
  const word = key.toLowerCase();
  const names = Object.keys(known);
  const begun = word.length < 5 ? [] : names.filter((name) => name.toLowerCase().startsWith(word));
  const distances = names.map((name) => distance(word, name.toLowerCase()));
  const least = Math.min(...distances);
  const near = least > 3 ? [] : names.filter((_, index) => distances[index] === least);
  const meant = begun.length > 0 ? begun : near;
  return meant.length === 0 ? "" : ` Did you mean ${meant.map((name) => `"${name}"`).join(" or ")}?`;
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

/**
 * An object's own values and, of the known keys, those that it inherits, as they are now: what its owner does with it afterwards changes
 * no call that has begun. Lists and plain objects among the values are copied too.
 */
export function copyOf<T extends object>(given: T, known: Readonly<Record<string, true>>): T {
  const copy = { ...given };
  for (const key of Object.keys(known) as (keyof T)[]) if (key in given) copy[key] = copyOfValue(given[key]);
  return copy;
}

function copyOfValue<V>(value: V): V {
  if (Array.isArray(value)) return [...value] as V;
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? { ...value } : value;
}
