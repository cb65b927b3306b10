/**
 * The value reported by most nodes; several values in a tie.
 *
 * @param keyOf equal for equal reports
 */
export function saidMost<T>(said: readonly T[], keyOf: (value: T) => string): readonly T[] {
  const groups = [...Map.groupBy(said, keyOf).values()];
  const most = groups.reduce((count, { length }) => Math.max(count, length), 0);
  return groups.filter(({ length }) => length === most).map(([first]) => first!);
}
