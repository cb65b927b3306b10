import type { Address } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import type { MintCrossing } from "../split/network.ts";
import { bestPairRate } from "./best-rate.ts";
import { roundSizeOf } from "./market-rate.ts";

interface RateTerms {
  /** The input. Base units. */
  readonly inAmount: number;
  readonly maxLegs: number;
  readonly clock: ChainClock;
}

/** The output per unit of a pair's best market, for a small part of the amount that may reach it. */
interface RatedCrossing {
  readonly from: Address;
  readonly to: Address;
  readonly rate: number;
}

/**
 * The output per unit of the best path, for a small part of the trade.
 *
 * @param crossings the pairs of the trade; those that start at the input first, those that end at the output last
 */
export function bestSmallRate(intent: Intent, crossings: readonly MintCrossing[], terms: RateTerms): number {
  const { inAmount, maxLegs, clock } = terms;
  const arriving = new Map<Address, number>([[intent.inMint.address, inAmount]]);
  const rated: RatedCrossing[] = [];
  for (const { from, to, pair } of crossings) {
    const amount = arriving.get(from) ?? 0;
    if (pair.markets.length === 0 || amount < 1) continue;
    const ask = { mode: intent.mode, inMint: from, outMint: to, roundSize: roundSizeOf(amount), clock };
    const rate = bestPairRate(pair, ask);
    if (rate === 0) continue;
    // Several markets together may give what one cannot: assume that all trade at the best price.
    arriving.set(to, Math.max(arriving.get(to) ?? 0, Math.floor(amount * rate)));
    rated.push({ from, to, rate });
  }
  return bestRate(intent, rated, maxLegs);
}

function bestRate({ inMint, outMint }: Intent, crossings: readonly RatedCrossing[], maxLegs: number): number {
  let reached = new Map([[inMint.address, 1]]);
  let best = 0;
  for (let leg = 0; leg < maxLegs; leg++) {
    const next = new Map<Address, number>();
    for (const { from, to, rate } of crossings) {
      const amount = (reached.get(from) ?? 0) * rate;
      if (amount > (next.get(to) ?? 0)) next.set(to, amount);
    }
    best = Math.max(best, next.get(outMint.address) ?? 0);
    reached = next;
  }
  return best;
}
