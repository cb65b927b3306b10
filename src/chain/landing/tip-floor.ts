import type { Now } from "../../primitives/clock.ts";
import { readText } from "../rpc/read-text.ts";

/** A statistic of recently landed tips: a percentile, or the smoothed median. */
export type TipPercentile = 25 | 50 | 75 | 95 | 99 | "ema50";

/** A block engine's report of recently landed tips. Answers from memory; nothing waits. */
export interface TipFloor {
  /** Lamports, rounded up; undefined while no recent and plausible report is known. */
  lamports(percentile: TipPercentile): bigint | undefined;
  close(): void;
}

interface TipFloorOptions {
  readonly url: string;
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly refreshMs?: number;
  /** Longest wait for a whole response. */
  readonly timeoutMs?: number;
  /** Largest response read. */
  readonly maxResponseBytes?: number;
}

const DEFAULT_REFRESH_MS = 5_000;
const DEFAULT_TIMEOUT_MS = 2_000;
const DEFAULT_MAX_RESPONSE_BYTES = 64 * 1024;
/** Older reports are not used. Milliseconds. */
const MAX_AGE_MS = 60_000;
const LAMPORTS_PER_SOL = 1e9;
/** Largest plausible tip: a report with a larger figure is discarded as a whole. */
const MAX_SOL = 100;

/** Fields of the report, percentiles in ascending order. */
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
 * Reads recently landed tips from a block engine, repeatedly in the background. Reports are untrusted: bounded in size and
 * time, never redirected, and discarded as a whole if any figure is implausible.
 *
 * @see https://docs.jito.wtf/lowlatencytxnsend/#get-tip-information
 */
export function createTipFloor(options: TipFloorOptions): TipFloor {
  return new PolledTipFloor(options);
}

class PolledTipFloor implements TipFloor {
  readonly #url: string;
  /** Never the whole URL: it may carry a key. */
  readonly #host: string;
  readonly #now: Now;
  readonly #warn: (message: string) => void;
  readonly #timeoutMs: number;
  readonly #maxResponseBytes: number;
  readonly #timer: NodeJS.Timeout;
  #tips: ReadonlyMap<TipPercentile, bigint> | undefined;
  #freshUntilMs = 0;
  #isReading = false;
  #isFailing = false;
  #isClosed = false;

  constructor(options: TipFloorOptions) {
    this.#url = options.url;
    this.#host = new URL(options.url).host;
    this.#now = options.now;
    this.#warn = options.warn;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#maxResponseBytes = options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES;
    void this.#refresh();
    this.#timer = setInterval(() => void this.#refresh(), options.refreshMs ?? DEFAULT_REFRESH_MS);
  }

  lamports(percentile: TipPercentile): bigint | undefined {
    return this.#now() < this.#freshUntilMs ? this.#tips?.get(percentile) : undefined;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  async #refresh(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      this.#tips = decodeTips(await this.#fetchReport());
      this.#freshUntilMs = this.#now() + MAX_AGE_MS;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#isClosed)
        this.#warn(
          `Cannot read landed tips from ${this.#host}; the last report is used for a while, then the configured tips: ${String(error)}`,
        );
      this.#isFailing = true;
    } finally {
      this.#isReading = false;
    }
  }

  async #fetchReport(): Promise<string> {
    const response = await fetch(this.#url, { redirect: "error", signal: AbortSignal.timeout(this.#timeoutMs) });
    const text = await readText(response, this.#maxResponseBytes);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    if (text === undefined) throw new Error(`more than ${this.#maxResponseBytes} bytes`);
    return text;
  }
}

/** @throws SyntaxError, TypeError, RangeError for anything but a list whose first entry holds six plausible amounts of SOL */
function decodeTips(text: string): ReadonlyMap<TipPercentile, bigint> {
  const [newest] = JSON.parse(text) as readonly (Readonly<Record<string, unknown>> | null)[];
  const tips = new Map<TipPercentile, bigint>();
  let previous = 0;
  for (const [percentile, field] of FIELDS) {
    const sol = newest?.[field];
    if (typeof sol !== "number" || !(sol >= 0 && sol <= MAX_SOL))
      throw new RangeError(`${field} is not a plausible amount of SOL`);
    if (percentile !== "ema50" && sol < previous) throw new RangeError(`${field} is less than the percentile below it`);
    previous = sol;
    tips.set(percentile, BigInt(Math.ceil(sol * LAMPORTS_PER_SOL)));
  }
  return tips;
}
