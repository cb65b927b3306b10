import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../../market/port.ts";
import { compareAddresses } from "../../primitives/address.ts";
import type { Ask, Quote } from "../../venues/venue.ts";

/** One market's answer to an ask. */
export interface Candidate {
  readonly hot: HotMarket;
  readonly quote: Quote;
}

/** The markets that can fill an ask, best first, and why the others cannot. */
interface Ranking {
  readonly candidates: readonly Candidate[];
  readonly refusals: readonly TradewireError[];
  readonly faults: readonly MarketFault[];
}

/** Up to this many markets are always priced; beyond that, bounds decide which. */
const PRICED_ALWAYS = 4;
/** Bounds are taken at powers of four; an ask lies between two of them. */
const SIZE_STEP_BITS = 2;
/** Lifetime of a bound while the market's accounts do not change: slots, and seconds that surely cover them. */
const BOUND_LIFE_SLOTS = 25n;
const BOUND_LIFE_SECONDS = 25n;
/** A market is skipped only if it is worse by more than 0.1 %: bounds are taken at two moments, not at every one between. */
const BOUND_SLACK_DIVISOR = 1_000n;
/** Below this size rounding is a noticeable part of a trade. */
const LEAST_PROPORTIONAL = 1n << 16n;
/** Base units of output that rounding may cost. */
const ROUNDING = 8n;

/**
 * Prices the markets of a pair. Pairs may have many markets, most of them dead, and must still be fast: output never falls
 * as input grows, and the rate never improves, so a market's output at the round sizes around the asked one bounds what it
 * can do. Markets are priced in the order of their bounds until no other can beat the best. Bounds are kept while the
 * market's accounts do not change; they are the better of now and of the end of their lifetime, because fees that depend on
 * time fall over it.
 *
 * @param isTaxed whether a mint withholds transfer fees: capped fees make rates improve with size
 */
export function rankMarkets(pair: PairMarkets, ask: Ask, isTaxed: boolean): Ranking {
  const candidates: Candidate[] = [];
  const refusals: TradewireError[] = [];
  const faults: MarketFault[] = [...pair.faults];
  const bounds = pair.markets.length <= PRICED_ALWAYS ? undefined : boundsOf(pair, ask, isTaxed);
  let best: bigint | undefined;
  for (let index = 0; index < pair.markets.length; index++) {
    const bounded = bounds?.order[index];
    const hot = bounded?.hot ?? pair.markets[index]!;
    if (bounds !== undefined && best !== undefined && index >= PRICED_ALWAYS) {
      if (isBeaten(ask, leadingBound(bounds, ask, bounded!), best)) break;
      if (isBeaten(ask, bounded!.above, best)) continue;
    }
    try {
      const quote = hot.venue.quote(hot.state, ask);
      candidates.push({ hot, quote });
      const value = ask.mode === "exactIn" ? quote.outAmount : quote.inAmount;
      if (best === undefined || (ask.mode === "exactIn" ? value > best : value < best)) best = value;
    } catch (error) {
      if (!(error instanceof TradewireError)) throw error;
      refusals.push(error);
      faults.push({ venue: hot.venue.id, market: hot.market.address.toString(), reason: error.message });
    }
  }
  if (candidates.length > 1) candidates.sort(compareCandidates);
  return { candidates, refusals, faults };
}

/** Best first: more output, then less input, then venue name, then market address. A total order. */
export function compareCandidates(a: Candidate, b: Candidate): number {
  if (a.quote.mode === "exactOut" && a.quote.inAmount !== b.quote.inAmount) {
    return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  }
  if (a.quote.outAmount !== b.quote.outAmount) return a.quote.outAmount > b.quote.outAmount ? -1 : 1;
  if (a.quote.inAmount !== b.quote.inAmount) return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  if (a.hot.venue.id !== b.hot.venue.id) return a.hot.venue.id < b.hot.venue.id ? -1 : 1;
  return compareAddresses(a.hot.market.address, b.hot.market.address);
}

/** What a market gives at a round size. `refused`: it cannot fill the ask. `unbounded`: nothing is known. */
type Reach = bigint | "unbounded" | "refused";

interface Bounded {
  readonly hot: HotMarket;
  /** At the round size at or below the asked one. exactIn: output. exactOut: input. */
  readonly below: Reach;
  /** At the round size above. exactIn: output. exactOut: unbounded. */
  readonly above: Reach;
}

interface Bounds {
  /** The round size at or below the asked one. */
  readonly size: bigint;
  /** Whether no larger size has a better rate than `size`. */
  readonly isProportional: boolean;
  /** Most promising first, by the leading bound. */
  readonly order: readonly Bounded[];
  readonly slot: bigint;
}

/** By market state, then by ask. */
const reachByMarket = new WeakMap<HotMarket, Map<string, { readonly value: Reach; readonly slot: bigint }>>();
/** By the state of the pair, then by ask. */
const boundsByPair = new WeakMap<PairMarkets, Map<string, Bounds>>();

function boundsOf(pair: PairMarkets, ask: Ask, isTaxed: boolean): Bounds {
  const step = Math.floor((ask.amount.toString(2).length - 1) / SIZE_STEP_BITS);
  const key = `${ask.mode} ${step} ${ask.inMint === pair.markets[0]!.market.mints[0]}`;
  let known = boundsByPair.get(pair);
  if (known === undefined) {
    known = new Map();
    boundsByPair.set(pair, known);
  }
  const kept = known.get(key);
  if (kept !== undefined && ask.clock.slot - kept.slot <= BOUND_LIFE_SLOTS) return kept;
  const size = 1n << BigInt(step * SIZE_STEP_BITS);
  const isProportional = !isTaxed && size >= LEAST_PROPORTIONAL;
  const leading = isProportional || ask.mode === "exactOut" ? "below" : "above";
  const order = pair.markets
    .map((hot): Bounded => {
      const below = reachOf(hot, ask, step, "below");
      // Refused at the smaller size, so at the larger one too.
      const above =
        ask.mode === "exactOut" ? "unbounded" : below === "refused" ? "refused" : reachOf(hot, ask, step + 1, "above");
      return { hot, below, above };
    })
    .sort((a, b) => compareReach(ask, a[leading], b[leading]));
  const bounds = { size, isProportional, order, slot: ask.clock.slot };
  known.set(key, bounds);
  return bounds;
}

/** The bound that decides the order, scaled to the asked amount: no later market has a better one. */
function leadingBound({ size, isProportional }: Bounds, { mode, amount }: Ask, { below, above }: Bounded): Reach {
  if (mode === "exactIn" && !isProportional) return above;
  if (typeof below === "string" || !isProportional) return below;
  return mode === "exactIn" ? ((below + ROUNDING) * amount) / size : ((below - ROUNDING) * amount) / size;
}

function reachOf(hot: HotMarket, ask: Ask, step: number, side: "below" | "above"): Reach {
  const key = `${ask.mode} ${side} ${step} ${ask.inMint === hot.market.mints[0]}`;
  let known = reachByMarket.get(hot);
  if (known === undefined) {
    known = new Map();
    reachByMarket.set(hot, known);
  }
  const kept = known.get(key);
  if (kept !== undefined && ask.clock.slot - kept.slot <= BOUND_LIFE_SLOTS) return kept.value;
  const { slot, epoch, unixTimestamp } = ask.clock;
  const now = { ...ask, amount: 1n << BigInt(step * SIZE_STEP_BITS) };
  const then = { slot: slot + BOUND_LIFE_SLOTS, epoch, unixTimestamp: unixTimestamp + BOUND_LIFE_SECONDS };
  const [a, b] = [computeReach(hot, now, side), computeReach(hot, { ...now, clock: then }, side)];
  const value = compareReach(ask, a, b) <= 0 ? a : b;
  known.set(key, { value, slot });
  return value;
}

function computeReach(hot: HotMarket, ask: Ask, side: "below" | "above"): Reach {
  try {
    const quote = hot.venue.quote(hot.state, ask);
    return ask.mode === "exactIn" ? quote.outAmount : quote.inAmount;
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
    // Too large proves nothing for smaller amounts; too small proves nothing for larger ones, except next to no output if the
    // amount is not small in itself. Anything else is refused at every size.
    if (side === "above") return error.code === "INSUFFICIENT_LIQUIDITY" ? "unbounded" : "refused";
    if (error.code !== "VALIDATION_ERROR") return "refused";
    return ask.mode === "exactIn" && ask.amount >= LEAST_PROPORTIONAL ? 0n : "unbounded";
  }
}

/** Unbounded first, refused last, the others most promising first. */
function compareReach(ask: Ask, a: Reach, b: Reach): number {
  if (a === b) return 0;
  if (a === "unbounded" || b === "refused") return -1;
  if (b === "unbounded" || a === "refused") return 1;
  return (ask.mode === "exactIn" ? a > b : a < b) ? -1 : 1;
}

/** True if a market within this bound cannot beat the best. */
function isBeaten(ask: Ask, reach: Reach, best: bigint): boolean {
  if (typeof reach === "string") return reach === "refused";
  const slack = reach / BOUND_SLACK_DIVISOR;
  return ask.mode === "exactIn" ? reach + slack < best : reach - slack > best;
}
