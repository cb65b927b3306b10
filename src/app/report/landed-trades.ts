import type { Address } from "../../primitives/address.ts";
import type { LandedReport } from "../../trade/submit/outcome/landed-report.ts";

interface LandedTradesOptions {
  /** Added to the bound of compute units in every limit. Percent. */
  readonly marginPercent: number;
  /** Checks a market again, if it is checked at all; `unitsRatio` is use over bound, if a trade as quoted took more than its bound. */
  readonly recheck: (market: Address, unitsRatio: number | undefined) => void;
  readonly log: (facts: object, message: string) => void;
}

/** Landed transactions since the start, held against their builds. */
interface LandedCounts {
  readonly landed: number;
  /** Failed, or moved other amounts than quoted. */
  readonly different: number;
  /** Took more compute units than their bound, and landed by the margin or failed. */
  readonly overBound: number;
}

/**
 * Holds what lands against its build: a market whose trade failed, moved other amounts than quoted or took more compute units
 * than its bound is checked again.
 */
export class LandedTrades {
  readonly #options: LandedTradesOptions;
  readonly #counts = { landed: 0, different: 0, overBound: 0 };

  constructor(options: LandedTradesOptions) {
    this.#options = options;
  }

  note({ signature, markets, isAsQuoted, units }: Omit<LandedReport, "venues" | "failure">): void {
    const { marginPercent, recheck, log } = this.#options;
    const ratio = units === undefined ? 0 : (units.used * (100 + marginPercent)) / (100 * units.limit);
    const isOverBound = ratio > 1;
    this.#counts.landed += 1;
    if (!isAsQuoted) this.#counts.different += 1;
    if (isOverBound) {
      this.#counts.overBound += 1;
      log({ signature, ...units }, "a transaction took more compute units than its bound");
    }
    if (isAsQuoted && !isOverBound) return;
    // A trade on other prices crosses other ticks: its use says nothing of the bound it was built with.
    for (const market of markets) recheck(market, isAsQuoted ? ratio : undefined);
  }

  /** Counts since the start. */
  counts(): LandedCounts {
    return this.#counts;
  }
}
