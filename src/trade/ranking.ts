import { TradewireError } from "../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../market/port.ts";
import { compareAddresses } from "../primitives/address.ts";
import type { Ask, Quote } from "../venues/venue.ts";

/** One market's answer to an ask. */
export interface Candidate {
  readonly hot: HotMarket;
  readonly quote: Quote;
}

/** The best markets of a pair for an ask, best first, and what the others said. */
export interface Ranking {
  readonly candidates: readonly Candidate[];
  readonly refusals: readonly TradewireError[];
  readonly faults: readonly MarketFault[];
}

/** Up to this many markets are all priced; beyond, bounds decide who is worth pricing. */
const PRICED_ALWAYS = 4;
/** Bounds are kept at sizes of powers of four: an ask lies between two of them. */
const RUNG_BITS = 2;
/** Fees may change with time while accounts do not: a bound older than this is computed again. Slots. */
const BOUND_LIFE_SLOTS = 25n;
/** What time alone may improve in the life of a bound; a market is dropped only when it is worse by more. Percent. */
const BOUND_SLACK_PERCENT = 1n;

/**
 * Prices the markets of a pair. Many markets, most of them dead, must not make a build slow: output never falls when the
 * input grows, so the output at the next larger round size bounds what a market can give. Markets are priced in the order
 * of their bounds until no bound left can beat the best. The bounds are kept while a market's accounts stand.
 */
export function rankMarkets(pair: PairMarkets, ask: Ask): Ranking {
  const candidates: Candidate[] = [];
  const refusals: TradewireError[] = [];
  const faults: MarketFault[] = [...pair.faults];
  const ordered = pair.markets.length <= PRICED_ALWAYS ? undefined : boundsOf(pair, ask);
  let best: bigint | undefined;
  for (let index = 0; index < pair.markets.length; index++) {
    const { hot, bound } = ordered?.[index] ?? { hot: pair.markets[index]!, bound: undefined };
    if (index >= PRICED_ALWAYS && isBeaten(ask, bound, best)) break;
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

/** What a market can at best do: the most output (exactIn) or the least input (exactOut). */
interface Bound {
  /** `unbounded`: it has to be priced. `refused`: it cannot make the trade, whatever the exact size. */
  readonly value: bigint | "unbounded" | "refused";
  readonly slot: bigint;
}

interface Bounded {
  readonly hot: HotMarket;
  readonly bound: Bound["value"];
}

/** By market state, then by what is asked. */
const boundsByMarket = new WeakMap<HotMarket, Map<string, Bound>>();
/** By the pair as it stands, then by what is asked: the markets in the order of their bounds. */
const ordersByPair = new WeakMap<
  PairMarkets,
  Map<string, { readonly slot: bigint; readonly order: readonly Bounded[] }>
>();

function boundsOf(pair: PairMarkets, ask: Ask): readonly Bounded[] {
  const bits = ask.amount.toString(2).length - 1;
  // The rung at or above the amount for exactIn, at or below it for exactOut.
  const rung = ask.mode === "exactIn" ? Math.floor(bits / RUNG_BITS) + 1 : Math.floor(bits / RUNG_BITS);
  const key = `${ask.mode} ${rung} ${ask.inMint === pair.markets[0]!.market.mints[0]}`;
  let orders = ordersByPair.get(pair);
  if (orders === undefined) {
    orders = new Map();
    ordersByPair.set(pair, orders);
  }
  const known = orders.get(key);
  if (known !== undefined && ask.clock.slot - known.slot <= BOUND_LIFE_SLOTS) return known.order;
  const roundAsk: Ask = { ...ask, amount: 1n << BigInt(rung * RUNG_BITS) };
  const order = pair.markets
    .map((hot) => ({ hot, bound: boundOf(hot, roundAsk, `${ask.mode} ${rung} ${ask.inMint === hot.market.mints[0]}`) }))
    .sort((a, b) => compareBounds(ask, a.bound, b.bound));
  orders.set(key, { slot: ask.clock.slot, order });
  return order;
}

function boundOf(hot: HotMarket, roundAsk: Ask, key: string): Bound["value"] {
  let bounds = boundsByMarket.get(hot);
  if (bounds === undefined) {
    bounds = new Map();
    boundsByMarket.set(hot, bounds);
  }
  const known = bounds.get(key);
  if (known !== undefined && roundAsk.clock.slot - known.slot <= BOUND_LIFE_SLOTS) return known.value;
  const value = computeBound(hot, roundAsk);
  bounds.set(key, { value, slot: roundAsk.clock.slot });
  return value;
}

function computeBound(hot: HotMarket, roundAsk: Ask): Bound["value"] {
  try {
    const quote = hot.venue.quote(hot.state, roundAsk);
    return roundAsk.mode === "exactIn" ? quote.outAmount : quote.inAmount;
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
    // More than the market can take says nothing of a smaller amount. All else only gets worse as the amount shrinks or grows away.
    if (error.code === "INSUFFICIENT_LIQUIDITY") return roundAsk.mode === "exactIn" ? "unbounded" : "refused";
    return error.code === "VALIDATION_ERROR" && roundAsk.mode === "exactOut" ? "unbounded" : "refused";
  }
}

/** Unbounded first, refused last, between them the most promising first. */
function compareBounds(ask: Ask, a: Bound["value"], b: Bound["value"]): number {
  if (a === b) return 0;
  if (a === "unbounded" || b === "refused") return -1;
  if (b === "unbounded" || a === "refused") return 1;
  return (ask.mode === "exactIn" ? a > b : a < b) ? -1 : 1;
}

/** True when a market with this bound, and so every one after it, cannot beat the best. */
function isBeaten(ask: Ask, bound: Bound["value"] | undefined, best: bigint | undefined): boolean {
  if (bound === "refused") return best !== undefined;
  if (bound === undefined || bound === "unbounded" || best === undefined) return false;
  const slack = (bound * BOUND_SLACK_PERCENT) / 100n;
  return ask.mode === "exactIn" ? bound + slack < best : bound - slack > best;
}
