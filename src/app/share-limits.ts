import type { LimitUsage } from "../accounts/limit-usage.ts";
import type { RateLimits } from "../api/call/rate-limits.ts";

/**
 * Lets processes on one database limit a caller together: each counts on its own and hears of the others' counts every
 * `everyMs`. While the database does not answer, each goes on with what it knows.
 *
 * @returns how to stop
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
