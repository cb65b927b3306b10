/**
 * What more nodes have said than anything else: several values if as many have said each.
 *
 * @param keyOf equal for values that say the same
 */
export function saidMost<T>(said: readonly T[], keyOf: (value: T) => string): readonly T[] {
  const groups = [...Map.groupBy(said, keyOf).values()];
  const most = groups.reduce((count, { length }) => Math.max(count, length), 0);
  return groups.filter(({ length }) => length === most).map(([first]) => first!);
}
