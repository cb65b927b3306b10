/** Wall-clock time as an argument, so that every test can set it. Milliseconds since 1970. */
export type Now = () => number;

/** A clock that never goes back, for durations and deadlines. Milliseconds since some point in the past. */
export const monotonicMs = (): number => performance.now();

let knownSecond = Number.NaN;
let knownText = "";

/** ISO 8601 UTC with exactly three millisecond digits, as `expiresAt` is written; what is below a millisecond is cut off. */
export function isoMillis(epochMs: number): string {
  const milliseconds = Math.floor(epochMs);
  const second = Math.floor(milliseconds / 1_000);
  // Times that are written lie close together: most share all but their last digits with the one before.
  if (second !== knownSecond) {
    knownText = new Date(second * 1_000).toISOString().slice(0, -"000Z".length);
    knownSecond = second;
  }
  return `${knownText}${String(milliseconds - second * 1_000).padStart(3, "0")}Z`;
}
