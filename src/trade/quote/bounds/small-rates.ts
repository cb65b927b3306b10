import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { compareAddresses } from "../../../primitives/address.ts";
import { isAlive, type Since } from "./life.ts";
import { MarketRate, type RateAsk } from "./market-rate.ts";

/** Sizes and directions kept per pair. */
const MOST_KEPT = 16;

/** What each market of a pair gives for a unit of a small size. After a change, only the markets that changed are quoted. */
export class SmallRates {
  /** When the oldest of them was taken. */
  readonly since: Since;
  readonly markets: readonly HotMarket[];
  /** By place of the market. */
  readonly rates: readonly MarketRate[];
  /** Shared by all successors that take rates over from one another. */
  readonly series: object;
  /** The rates, -1 if not known yet, and when they were taken, in arrays: the rate objects lie scattered in memory. */
  readonly #values: number[];
  readonly #slots: readonly number[];
  #best: number | undefined;

  /** @param earlier rates for the same ask, still alive: those of markets that have not changed since are taken over */
  constructor({ markets, line }: PairMarkets, ask: RateAsk, earlier?: SmallRates) {
    const kept = earlier?.markets.length === markets.length ? earlier : undefined;
    const rates = kept === undefined ? [] : kept.rates.slice();
    const values = kept === undefined ? [] : kept.#values.slice();
    const slots = kept === undefined ? [] : kept.#slots.slice();
    for (let place = 0; place < markets.length; place++) {
      const hot = markets[place]!;
      if (kept?.markets[place] === hot) continue;
      const rate =
        // Without a line, nothing can be reused from earlier states of the pair.
        line === undefined
          ? keptRateOf(hot, ask)
          : new MarketRate(hot, ask, isSame(kept?.markets[place], hot) ? kept!.rates[place] : undefined);
      rates[place] = rate;
      values[place] = -1;
      slots[place] = Number(rate.since.slot);
    }
    this.markets = markets;
    this.rates = rates;
    this.series = kept?.series ?? {};
    this.#values = values;
    this.#slots = slots;
    const { slot, epoch } = ask.clock;
    this.since = { slot: BigInt(slots.reduce((least, taken) => Math.min(least, taken), Number(slot))), epoch };
  }

  /** The best of them, see `lifelongRate`; 0 if every market refuses the size. */
  get best(): number {
    if (this.#best !== undefined) return this.#best;
    const values = this.#values;
    let best = 0;
    for (let place = 0; place < values.length; place++) {
      if (values[place]! < 0) values[place] = this.rates[place]!.rate;
      best = Math.max(best, values[place]!);
    }
    this.#best = best;
    return best;
  }
}

const isSame = (before: HotMarket | undefined, now: HotMarket) => before?.market.address === now.market.address;

/** By line of the pair, or by the pair; then by ask. */
const ratesByPair = new WeakMap<object, Map<number, SmallRates>>();

/** The small rates of a pair's markets. Kept while none of them changes; after a change, those of the others are. */
export function smallRatesOf(pair: PairMarkets, ask: RateAsk): SmallRates {
  const key = keyOf(ask);
  const owner = pair.line ?? pair;
  let known = ratesByPair.get(owner);
  if (known === undefined) {
    known = new Map();
    ratesByPair.set(owner, known);
  }
  const last = known.get(key);
  const earlier = last !== undefined && isAlive(last.since, ask.clock) ? last : undefined;
  if (earlier?.markets === pair.markets) return earlier;
  const rates = new SmallRates(pair, ask, earlier);
  known.delete(key);
  if (known.size >= MOST_KEPT) known.delete(known.keys().next().value!);
  known.set(key, rates);
  return rates;
}

/** Equal for asks of one mode, direction and size. Each venue names a market's mints in an order of its own. */
function keyOf({ mode, inMint, outMint, roundSize }: RateAsk): number {
  return Math.log2(roundSize) * 4 + (mode === "exactIn" ? 2 : 0) + (compareAddresses(inMint, outMint) < 0 ? 1 : 0);
}

/** By market state, then by ask. */
const keptByMarket = new WeakMap<HotMarket, Map<number, MarketRate>>();

function keptRateOf(hot: HotMarket, ask: RateAsk): MarketRate {
  const key = keyOf(ask);
  let kept = keptByMarket.get(hot);
  if (kept === undefined) {
    kept = new Map();
    keptByMarket.set(hot, kept);
  }
  const known = kept.get(key);
  if (known !== undefined && isAlive(known.since, ask.clock)) return known;
  const rate = new MarketRate(hot, ask);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, rate);
  return rate;
}
