/** The longest that timers wait, about 23 days; a longer one would ring at once. Milliseconds. */
export const MOST_MS = 2_000_000_000;

/** Milliseconds as timers take them: whole, and no more than those wait. @throws TypeError unless they are a number, 0 or more */
export function timerMs(ms: number, name: string): number {
  if (typeof ms === "number" && ms >= 0) return Math.min(Math.ceil(ms), MOST_MS);
  throw new TypeError(`${name} is milliseconds, 0 or more, not ${String(ms)}.`);
}
