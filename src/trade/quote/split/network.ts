import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import { rankMarkets } from "../ranking.ts";
import type { FlowEdge, FlowNetwork } from "./flow.ts";
import { MarketCurve } from "./market-curve.ts";

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

/** Up to this many markets of a pair are all sampled; of more, those that rank best at the small size. */
const SAMPLED_ALWAYS = 16;
/** Markets of a pair in the network at most. */
const MOST_OF_A_PAIR = 8;
/** A size between the small one and the whole, as a part of the whole. */
const MIDDLE_PART = 4n;
/** A market that takes part carries about the whole over this. */
const LIKELY_PATHS = 4;
/** The small size, as a part of the whole. */
const SMALL_PART = 16n;
/** A price may be this much better than the worst that the best market gives, and still be left out. */
const TOLERANCE = 1e-9;

/**
 * The markets that could have a part in a split, as curves. Left out are those whose price for a small part is worse than
 * what the best market of the pair gives for the last part of everything.
 *
 * @param crossings the pairs of the trade; those that start at the input first
 * @param inAmount about what goes in. Base units
 */
export function sampleNetwork(
  intent: Intent,
  crossings: readonly MintCrossing[],
  inAmount: bigint,
  clock: ChainClock,
): CurveNetwork {
  const addresses: Address[] = [intent.inMint.address, intent.outMint.address];
  const arriving = new Map<Address, number>([[intent.inMint.address, Number(inAmount)]]);
  const edges: FlowEdge[] = [];
  for (const { from, to, pair } of crossings) {
    const amount = BigInt(Math.floor(arriving.get(from) ?? 0));
    if (pair.markets.length === 0 || amount === 0n) continue;
    const curves = sampleCrossing(intent, { from, to, pair }, amount, clock);
    if (curves.length === 0) continue;
    if (!addresses.includes(to)) addresses.push(to);
    const yielded = curves.reduce((most, curve) => Math.max(most, curve.out(Number(amount))), 0);
    arriving.set(to, Math.max(arriving.get(to) ?? 0, yielded));
    for (const curve of curves) edges.push({ from: addresses.indexOf(from), to: addresses.indexOf(to), curve });
  }
  return { mints: addresses.length, addresses, edges };
}

function sampleCrossing(
  intent: Intent,
  { from, to, pair }: MintCrossing,
  amount: bigint,
  clock: ChainClock,
): MarketCurve[] {
  const small = amount / SMALL_PART > 0n ? amount / SMALL_PART : amount;
  const curves: { readonly curve: MarketCurve; readonly out: number }[] = [];
  for (const hot of candidatesOf(intent, { from, to, pair }, small, clock)) {
    const curve = new MarketCurve(hot, from, to);
    if (curve.sample(small, clock)) curves.push({ curve, out: curve.out(Number(small)) });
  }
  curves.sort((a, b) => b.out - a.out);
  const kept: MarketCurve[] = [];
  let last = 0;
  for (const { curve, out } of curves) {
    // Worse from its first part on than the best market is for the last part of everything.
    if (out < last * (1 - TOLERANCE)) break;
    sampleLarge(curve, amount, small, clock);
    kept.push(curve);
    last = Math.max(last, lastPartOf(curve, amount, small));
  }
  if (kept.length <= MOST_OF_A_PAIR) return kept;
  const share = Number(amount) / LIKELY_PATHS;
  return kept.sort((a, b) => b.out(share) - a.out(share)).slice(0, MOST_OF_A_PAIR);
}

/** Samples the whole amount; if the market refuses it, the most of its halves that it takes. */
function sampleLarge(curve: MarketCurve, amount: bigint, small: bigint, clock: ChainClock): void {
  curve.sample(amount / MIDDLE_PART, clock);
  let refused = 0n;
  for (let size = amount; size > small; size /= 2n) {
    if (!curve.sample(size, clock)) {
      refused = size;
      continue;
    }
    // Between what it takes and what it refuses, twice.
    if (refused > 0n && !curve.sample((size + refused) / 2n, clock)) curve.sample((3n * size + refused) / 4n, clock);
    return;
  }
}

/** What a market gives for the last small part of everything; 0 if it cannot take everything. */
function lastPartOf(curve: MarketCurve, amount: bigint, small: bigint): number {
  const [all, part] = [Number(amount), Number(small)];
  return curve.most < all ? 0 : curve.out(all) - curve.out(all - part);
}

function candidatesOf(
  { inMint, outMint }: Intent,
  { from, to, pair }: MintCrossing,
  small: bigint,
  clock: ChainClock,
): readonly HotMarket[] {
  if (pair.markets.length <= SAMPLED_ALWAYS) return pair.markets;
  const isTaxed = inMint.transferFees !== undefined || outMint.transferFees !== undefined;
  const ranked = [small, small * (SMALL_PART / BigInt(LIKELY_PATHS))].flatMap((amount) =>
    rankMarkets(pair, { mode: "exactIn", inMint: from, outMint: to, amount, clock }, isTaxed)
      .candidates.slice(0, MOST_OF_A_PAIR)
      .map(({ hot }) => hot),
  );
  return [...new Set(ranked)];
}
