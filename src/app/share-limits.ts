import type { LimitUsage } from "../accounts/limit-usage.ts";
import type { RateLimits } from "../api/call/rate-limits.ts";

/**
 * Enforces limits across processes on one database: each counts alone and receives the others' counts every `everyMs`
 * milliseconds. While the database does not answer, each continues with what it has.
 *
 * @returns a function that stops it
 */
export function shareLimits(limits: RateLimits, usage: LimitUsage, everyMs: number): () => void {
  let busy = false;
  limits.takeUsage();
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    usage
      .exchange(limits.takeUsage())
      .then((elsewhere) => limits.charge(elsewhere))
      .catch(() => {})
      .finally(() => {
        busy = false;
      });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
