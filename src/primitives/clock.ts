/** Wall-clock time, passed as an argument so that tests can set it. Milliseconds since 1970. */
export type Now = () => number;

/** A monotonic clock, for durations and deadlines. Milliseconds since an arbitrary point. */
export const monotonicMs = (): number => performance.now();

/** What follows the second, by the millisecond. */
const MILLIS: readonly string[] = Array.from({ length: 1_000 }, (_, millis) => `.${`${millis}`.padStart(3, "0")}Z`);
let knownSecond = Number.NaN;
let knownText = "";

/** ISO 8601 UTC with exactly three millisecond digits, the format of `expiresAt`. Truncates to milliseconds. */
export function isoMillis(epochMs: number): string {
  const milliseconds = Math.floor(epochMs);
  const second = Math.floor(milliseconds / 1_000);
  // Consecutive times are close together: most differ from the last one in a few digits only.
  if (second !== knownSecond) {
    knownText = new Date(second * 1_000).toISOString().slice(0, -".000Z".length);
    knownSecond = second;
  }
  return knownText + MILLIS[milliseconds - second * 1_000]!;
}

/** Steps of the wall clock smaller than this are left to the monotonic one. Milliseconds. */
const STEP_MS = 50;

/**
 * A wall clock for ages: it follows the wall's steps forward, as after a suspension, and never goes back. Of a wall clock that is
 * set back, everything known would seem fresh until it has caught up. Ahead of the wall from then on, so it is not for times that
 * others see.
 */
export function steadyClock(wallMs: Now, elapsedMs: Now): Now {
  /** From each clock to the steady time. */
  let fromWall = 0;
  let fromElapsed = wallMs() - elapsedMs();
  return () => {
    const elapsed = elapsedMs();
    const ahead = wallMs() + fromWall - (elapsed + fromElapsed);
    if (ahead > STEP_MS) fromElapsed += ahead;
    else if (ahead < -STEP_MS) fromWall -= ahead;
    return elapsed + fromElapsed;
  };
}
