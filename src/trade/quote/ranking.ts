import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../../market/port.ts";
import { compareAddresses } from "../../primitives/address.ts";
import type { Ask, Quote } from "../../venues/venue.ts";

/** One market's answer to an ask. */
export interface Candidate {
  readonly hot: HotMarket;
  readonly quote: Quote;
}

/** The best markets of a pair for an ask, best first, and what the others said. */
interface Ranking {
  readonly candidates: readonly Candidate[];
  readonly refusals: readonly TradewireError[];
  readonly faults: readonly MarketFault[];
}

/** Up to this many markets are all priced; beyond, bounds decide who is worth pricing. */
const PRICED_ALWAYS = 4;
/** Bounds are kept at sizes of powers of four: an ask lies between two of them. */
const RUNG_BITS = 2;
/** A bound serves this long while a market's accounts stand. Slots, and seconds by which that many slots surely have passed. */
const BOUND_LIFE_SLOTS = 25n;
const BOUND_LIFE_SECONDS = 25n;
/** A market is dropped only when it is worse by more than a thousandth: bounds are taken at two moments, not at all between. */
const BOUND_SLACK_DIVISOR = 1_000n;
/** Below this size roundings are no small part of a trade. */
const LEAST_PROPORTIONAL = 1n << 16n;
/** Base units that roundings may take of a trade's output. */
const ROUNDING = 8n;

/**
 * Prices the markets of a pair. Many markets, most of them dead, must not make a build slow: output never falls when the
 * input grows, and the rate never gets better when the trade grows, so what a market does at the round sizes around the
 * asked one bounds what it can do. Markets are priced in the order of their bounds until none left can beat the best. The
 * bounds are kept while a market's accounts stand; they are the better of now and of the end of their life, because fees
 * that depend on time fall with it.
 *
 * @param isTaxed whether a mint withholds a part of transfers: where that part has a maximum, rates do get better with size
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

/** Best first: more out, then less in, then the lesser venue name, then the lesser market address. A total order. */
export function compareCandidates(a: Candidate, b: Candidate): number {
  if (a.quote.mode === "exactOut" && a.quote.inAmount !== b.quote.inAmount) {
    return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  }
  if (a.quote.outAmount !== b.quote.outAmount) return a.quote.outAmount > b.quote.outAmount ? -1 : 1;
  if (a.quote.inAmount !== b.quote.inAmount) return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  if (a.hot.venue.id !== b.hot.venue.id) return a.hot.venue.id < b.hot.venue.id ? -1 : 1;
  return compareAddresses(a.hot.market.address, b.hot.market.address);
}

/** What a market did when asked for a round size. `refused`: it cannot make the trade. `unbounded`: that says nothing. */
type Reach = bigint | "unbounded" | "refused";

interface Bounded {
  readonly hot: HotMarket;
  /** At the round size at or below the asked one: output for exactIn, input for exactOut. */
  readonly below: Reach;
  /** exactIn: output at the round size above. exactOut: unbounded. */
  readonly above: Reach;
}

interface Bounds {
  /** The round size at or below the asked one. */
  readonly size: bigint;
  /** Whether the rate at `size` is the best there is from there on. */
  readonly isProportional: boolean;
  /** Most promising first, by the bound that leads. */
  readonly order: readonly Bounded[];
  readonly slot: bigint;
}

/** By market state, then by what is asked. */
const reachByMarket = new WeakMap<HotMarket, Map<string, { readonly value: Reach; readonly slot: bigint }>>();
/** By the pair as it stands, then by what is asked. */
const boundsByPair = new WeakMap<PairMarkets, Map<string, Bounds>>();

function boundsOf(pair: PairMarkets, ask: Ask, isTaxed: boolean): Bounds {
  const rung = Math.floor((ask.amount.toString(2).length - 1) / RUNG_BITS);
  const key = `${ask.mode} ${rung} ${ask.inMint === pair.markets[0]!.market.mints[0]}`;
  let known = boundsByPair.get(pair);
  if (known === undefined) {
    known = new Map();
    boundsByPair.set(pair, known);
  }
  const kept = known.get(key);
  if (kept !== undefined && ask.clock.slot - kept.slot <= BOUND_LIFE_SLOTS) return kept;
  const size = 1n << BigInt(rung * RUNG_BITS);
  const isProportional = !isTaxed && size >= LEAST_PROPORTIONAL;
  const leading = isProportional || ask.mode === "exactOut" ? "below" : "above";
  const order = pair.markets
    .map((hot): Bounded => {
      const below = reachOf(hot, ask, rung, "below");
      // More than the market holds at the lesser size: no question at the larger.
      const above =
        ask.mode === "exactOut" ? "unbounded" : below === "refused" ? "refused" : reachOf(hot, ask, rung + 1, "above");
      return { hot, below, above };
    })
    .sort((a, b) => compareReach(ask, a[leading], b[leading]));
  const bounds = { size, isProportional, order, slot: ask.clock.slot };
  known.set(key, bounds);
  return bounds;
}

/** The bound the order goes by, at the asked amount: no market after this one has a better one. */
function leadingBound({ size, isProportional }: Bounds, { mode, amount }: Ask, { below, above }: Bounded): Reach {
  if (mode === "exactIn" && !isProportional) return above;
  if (typeof below === "string" || !isProportional) return below;
  return mode === "exactIn" ? ((below + ROUNDING) * amount) / size : ((below - ROUNDING) * amount) / size;
}

function reachOf(hot: HotMarket, ask: Ask, rung: number, side: "below" | "above"): Reach {
  const key = `${ask.mode} ${side} ${rung} ${ask.inMint === hot.market.mints[0]}`;
  let known = reachByMarket.get(hot);
  if (known === undefined) {
    known = new Map();
    reachByMarket.set(hot, known);
  }
  const kept = known.get(key);
  if (kept !== undefined && ask.clock.slot - kept.slot <= BOUND_LIFE_SLOTS) return kept.value;
  const { slot, epoch, unixTimestamp } = ask.clock;
  const now = { ...ask, amount: 1n << BigInt(rung * RUNG_BITS) };
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
    // Too much says nothing of a smaller amount. Too little says nothing of a larger one, except that it gives next to nothing
    // where the amount is not small in itself. All else is refused at any size.
    if (side === "above") return error.code === "INSUFFICIENT_LIQUIDITY" ? "unbounded" : "refused";
    if (error.code !== "VALIDATION_ERROR") return "refused";
    return ask.mode === "exactIn" && ask.amount >= LEAST_PROPORTIONAL ? 0n : "unbounded";
  }
}

/** Unbounded first, refused last, between them the most promising first. */
function compareReach(ask: Ask, a: Reach, b: Reach): number {
  if (a === b) return 0;
  if (a === "unbounded" || b === "refused") return -1;
  if (b === "unbounded" || a === "refused") return 1;
  return (ask.mode === "exactIn" ? a > b : a < b) ? -1 : 1;
}

/** True when a market that reaches no further cannot beat the best. */
function isBeaten(ask: Ask, reach: Reach, best: bigint): boolean {
  if (typeof reach === "string") return reach === "refused";
  const slack = reach / BOUND_SLACK_DIVISOR;
  return ask.mode === "exactIn" ? reach + slack < best : reach - slack > best;
}
