/** Wall-clock time as an argument, so that every test can set it. Milliseconds since 1970. */
export type Now = () => number;

/** ISO 8601 UTC with exactly three millisecond digits, as `expiresAt` is written. */
export function isoMillis(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
