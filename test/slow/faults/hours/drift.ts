/** A measurement. */
export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

const HOUR_MS = 3_600_000;

/** By how much samples grow in an hour: the median of the slopes between any two, which single samples do not move. At least two samples. */
export function driftPerHour(samples: readonly Sample[]): number {
  const slopes = samples.flatMap((from, i) =>
    samples.slice(i + 1).map((to) => ((to.value - from.value) / (to.atMs - from.atMs)) * HOUR_MS),
  );
  return medianOf(slopes);
}

/** Of an even number of values the upper one of the middle. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
