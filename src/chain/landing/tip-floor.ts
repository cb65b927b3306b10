import type { Now } from "../../primitives/clock.ts";
import { readText } from "../rpc/rpc-endpoint.ts";

/** Which tips of those that landed lately: a percentile, or the smoothed median. */
export type TipPercentile = 25 | 50 | 75 | 95 | 99 | "ema50";

/** What a block engine tells of the tips that landed lately. Answers from memory; nothing waits. */
export interface TipFloor {
  /** Lamports, rounded up; undefined while nothing recent and sensible is known. */
  lamports(percentile: TipPercentile): bigint | undefined;
  close(): void;
}

interface TipFloorOptions {
  readonly url: string;
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly refreshMs?: number;
  /** Longest wait for a whole answer, and the largest one read. */
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  /** What was told longer ago is not used any more. */
  readonly maxAgeMs?: number;
}

const DEFAULT_REFRESH_MS = 5_000;
const DEFAULT_TIMEOUT_MS = 2_000;
const DEFAULT_MAX_RESPONSE_BYTES = 64 * 1024;
const DEFAULT_MAX_AGE_MS = 60_000;
const LAMPORTS_PER_SOL = 1e9;
/** More than anybody tips: an answer with such a figure is not believed at all. */
const MOST_SOL = 100;

/** Fields of the answer, the percentiles from the least to the greatest. */
const FIELDS: readonly (readonly [TipPercentile, string])[] = [
  [25, "landed_tips_25th_percentile"],
  [50, "landed_tips_50th_percentile"],
  [75, "landed_tips_75th_percentile"],
  [95, "landed_tips_95th_percentile"],
  [99, "landed_tips_99th_percentile"],
  ["ema50", "ema_landed_tips_50th_percentile"],
];
export const TIP_PERCENTILES: readonly TipPercentile[] = FIELDS.map(([percentile]) => percentile);

/**
 * Reads the tips that landed lately from a block engine, again and again in the background. The answer is untrusted: bounded in
 * size and time, never redirected, and passed over as a whole when any figure in it is odd.
 *
 * @see https://docs.jito.wtf/lowlatencytxnsend/#get-tip-information
 */
export function createTipFloor({
  url,
  now,
  warn,
  refreshMs = DEFAULT_REFRESH_MS,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES,
  maxAgeMs = DEFAULT_MAX_AGE_MS,
}: TipFloorOptions): TipFloor {
  // Never the whole URL: it may carry a key.
  const name = new URL(url).host;
  let tips: ReadonlyMap<TipPercentile, bigint> | undefined;
  let freshUntilMs = 0;
  let reading = false;
  let failing = false;
  let closed = false;

  async function refresh(): Promise<void> {
    if (reading) return;
    reading = true;
    try {
      const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
      const text = await readText(response, maxResponseBytes);
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      if (text === undefined) throw new Error(`more than ${maxResponseBytes} bytes`);
      tips = decodeTips(text);
      freshUntilMs = now() + maxAgeMs;
      failing = false;
    } catch (error) {
      if (!failing && !closed)
        warn(
          `Cannot read landed tips from ${name}; the last known stay a while, then the configured: ${String(error)}`,
        );
      failing = true;
    } finally {
      reading = false;
    }
  }

  void refresh();
  const timer = setInterval(() => void refresh(), refreshMs);
  return {
    lamports: (percentile) => (now() < freshUntilMs ? tips?.get(percentile) : undefined),
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}

/** @throws SyntaxError, TypeError, RangeError for anything but a list that begins with six sensible amounts of SOL */
function decodeTips(text: string): ReadonlyMap<TipPercentile, bigint> {
  const [newest] = JSON.parse(text) as readonly (Readonly<Record<string, unknown>> | null)[];
  const tips = new Map<TipPercentile, bigint>();
  let below = 0;
  for (const [percentile, field] of FIELDS) {
    const sol = newest?.[field];
    if (typeof sol !== "number" || !(sol >= 0 && sol <= MOST_SOL)) throw new RangeError(`${field} is no amount of SOL`);
    if (percentile !== "ema50" && sol < below) throw new RangeError(`${field} is less than the one below it`);
    below = sol;
    tips.set(percentile, BigInt(Math.ceil(sol * LAMPORTS_PER_SOL)));
  }
  return tips;
}
