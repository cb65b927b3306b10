import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { rankMarkets } from "../ranking.ts";
import type { FlowEdge, FlowNetwork } from "./flow.ts";
import type { MarketCurve, QuoteBudget } from "./market-curve.ts";
import {
  type CurveAsk,
  roundSizeOf,
  type SampledCurve,
  SMALL_PART,
  sampledCurve,
  sampleWhole,
} from "./sampled-curves.ts";

/** Two mints of a trade, and the markets where the first can be given for the second. */
export interface MintCrossing {
  readonly from: Address;
  readonly to: Address;
  readonly pair: PairMarkets;
}

/** The mints of a trade by number (0 the input, 1 the output, hubs after), and the markets between them as curves. */
export interface CurveNetwork extends FlowNetwork {
  readonly addresses: readonly Address[];
}

/** How a network is sampled. */
export interface NetworkTerms {
  /** About what goes in. Base units. */
  readonly inAmount: number;
  readonly clock: ChainClock;
  readonly budget: QuoteBudget;
}

/** Up to this many markets of a pair are all sampled; of more, those that rank best at two sizes. */
const SAMPLED_ALWAYS = 48;
/** Markets of a pair in the network at most. */
const MOST_OF_A_PAIR = 8;
/** A market that takes part carries about the whole over this. */
const LIKELY_PATHS = 4;
/** A price may be this much better than the worst that the best market gives, and still be left out. */
const TOLERANCE = 1e-9;

/**
 * The markets that could have a part in a split, as curves of the network's own. Left out are those whose price for a small
 * part is worse than what the best market of the pair gives for the last part of everything.
 *
 * @param crossings the pairs of the trade; those that start at the input first
 */
export function sampleNetwork(
  intent: Intent,
  crossings: readonly MintCrossing[],
  { inAmount, clock, budget }: NetworkTerms,
): CurveNetwork {
  const addresses: Address[] = [intent.inMint.address, intent.outMint.address];
  const arriving = new Map<Address, number>([[intent.inMint.address, inAmount]]);
  const edges: FlowEdge[] = [];
  for (const { from, to, pair } of crossings) {
    const amount = arriving.get(from) ?? 0;
    if (pair.markets.length === 0 || amount < 1) continue;
    const { curves, rate } = sampleCrossing(intent, { from, to, pair }, { inAmount: amount, clock, budget });
    if (curves.length === 0) continue;
    if (!addresses.includes(to)) addresses.push(to);
    // Several markets may give what one cannot: as much as the best price of all gives.
    arriving.set(to, Math.max(arriving.get(to) ?? 0, Math.floor(amount * rate)));
    const [start, end] = [addresses.indexOf(from), addresses.indexOf(to)];
    for (const curve of curves) edges.push({ from: start, to: end, curve: curve.copy() });
  }
  return { mints: addresses.length, addresses, edges };
}

/** The curves of a pair, and the best price of a small part of the amount: output per input. */
function sampleCrossing(
  intent: Intent,
  crossing: MintCrossing,
  terms: NetworkTerms,
): { readonly curves: readonly MarketCurve[]; readonly rate: number } {
  const { inAmount: amount, clock, budget } = terms;
  const ask: CurveAsk = { inMint: crossing.from, outMint: crossing.to, roundSize: roundSizeOf(amount), clock };
  const sampled: SampledCurve[] = [];
  for (const hot of candidatesOf(intent, crossing, amount, clock)) {
    const curve = canServe(hot, intent.mode) ? sampledCurve(hot, ask, budget) : undefined;
    if (curve !== undefined) sampled.push(curve);
  }
  sampled.sort((a, b) => b.smallOut - a.smallOut);
  const kept: MarketCurve[] = [];
  let last = 0;
  for (const one of sampled) {
    // Worse from its first part on than the best market is for the last part of everything.
    if (one.smallOut < last * (1 - TOLERANCE)) break;
    sampleWhole(one, ask, budget);
    kept.push(one.curve);
    last = Math.max(last, lastPartOf(one.curve, amount, ask.roundSize / SMALL_PART));
  }
  const rate = ((sampled[0]?.smallOut ?? 0) * SMALL_PART) / ask.roundSize;
  if (kept.length <= MOST_OF_A_PAIR) return { curves: kept, rate };
  const share = amount / LIKELY_PATHS;
  return { curves: kept.sort((a, b) => b.out(share) - a.out(share)).slice(0, MOST_OF_A_PAIR), rate };
}

const canServe = ({ venue }: HotMarket, mode: SwapMode) => mode === "exactIn" || venue.supports.exactOut;

/** What a market gives for the last small part of everything; 0 if it cannot take everything. */
function lastPartOf(curve: MarketCurve, all: number, part: number): number {
  return curve.most < all ? 0 : curve.out(all) - curve.out(all - part);
}

function candidatesOf(
  { inMint, outMint }: Intent,
  { from, to, pair }: MintCrossing,
  amount: number,
  clock: ChainClock,
): readonly HotMarket[] {
  if (pair.markets.length <= SAMPLED_ALWAYS) return pair.markets;
  const isTaxed = inMint.transferFees !== undefined || outMint.transferFees !== undefined;
  const ranked = [amount / SMALL_PART, amount / LIKELY_PATHS].flatMap((part) =>
    rankMarkets(pair, { mode: "exactIn", inMint: from, outMint: to, amount: BigInt(Math.ceil(part)), clock }, isTaxed)
      .candidates.slice(0, MOST_OF_A_PAIR)
      .map(({ hot }) => hot),
  );
  return [...new Set(ranked)];
}
