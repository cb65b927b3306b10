import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import { roundSizeOf } from "../bounds/market-rate.ts";
import type { MarketCurve, QuoteBudget } from "./curves/market-curve.ts";
import { heldCurve, sampledCurve } from "./curves/sampled-curves.ts";
import type { CurveNetwork, MintCrossing, SmallTrades } from "./network.ts";

/** With more changed markets than this, a plan is made again instead of adapted. */
const MOST_CHANGED = 16;
/**
 * How much more or less a market may give than when the plan was made. Since another market may now be better, at most twice this part of
 * what one market carries is lost. Fraction.
 */
export const MOST_MOVED = 2e-4;

/** The new states of the markets that changed, by their old states. */
export type ChangedMarkets = ReadonlyMap<HotMarket, HotMarket>;

/** Which of a trade's markets changed; undefined if some came or went, or too many changed. */
export function changedMarkets(
  before: readonly PairMarkets[],
  crossings: readonly MintCrossing[],
): ChangedMarkets | undefined {
  if (before.length !== crossings.length) return undefined;
  const changed = new Map<HotMarket, HotMarket>();
  for (const [index, { pair }] of crossings.entries()) {
    const { markets } = before[index]!;
    if (pair === before[index]) continue;
    if (markets.length !== pair.markets.length) return undefined;
    for (let place = 0; place < markets.length; place++) {
      const [old, hot] = [markets[place]!, pair.markets[place]!];
      if (old === hot) continue;
      if (old.market.address !== hot.market.address || old.venue !== hot.venue) return undefined;
      changed.set(old, hot);
      if (changed.size > MOST_CHANGED) return undefined;
    }
  }
  return changed;
}

/** The sampled markets of a trade. */
interface KnownMarkets {
  readonly network: CurveNetwork;
  readonly small: SmallTrades;
}

/**
 * The same with changed markets put in their old places. Their curves stay: a curve that is a little off steers a division well
 * enough, and learns from its exact quotes. A market that had no part, and would have none now, may give anything. Undefined if another one
 * moved by more, or was not known before.
 */
export function heldMarkets(
  { network, small }: KnownMarkets,
  changed: ChangedMarkets,
  clock: ChainClock,
  budget: QuoteBudget,
): KnownMarkets | undefined {
  const parts = new Set(network.edges.map(({ curve }) => curve));
  const held = new Map<MarketCurve, MarketCurve>();
  // Between hubs, a market has a curve each way.
  const known = new Set<HotMarket>();
  for (const [place, { amount, curves }] of small.crossings.entries()) {
    for (const { curve } of curves) {
      const now = changed.get(curve.hot);
      if (now === undefined) continue;
      const leastRate = parts.has(curve) ? undefined : network.leastRates[place]!;
      const terms = { roundSize: roundSizeOf(amount), clock, tolerance: MOST_MOVED, leastRate };
      const same = heldCurve(curve, now, terms, budget);
      if (same === undefined) return undefined;
      held.set(curve, same);
      known.add(now);
    }
  }
  for (const { hot, ask, isRefused } of small.timed) {
    const now = isRefused ? changed.get(hot) : undefined;
    if (now === undefined) continue;
    if (budget.left <= 0 || sampledCurve(now, { ...ask, clock }, budget) !== undefined) return undefined;
    known.add(now);
  }
  if (known.size < changed.size) return undefined;
  const withHeld = <T extends { readonly curve: MarketCurve }>(one: T): T => {
    const curve = held.get(one.curve);
    return curve === undefined ? one : { ...one, curve };
  };
  const crossings = small.crossings.map((crossing) => ({ ...crossing, curves: crossing.curves.map(withHeld) }));
  const timed = small.timed.map((one) => {
    const hot = changed.get(one.hot) ?? one.hot;
    return hot === one.hot ? one : { ...one, hot };
  });
  return { network: { ...network, edges: network.edges.map(withHeld) }, small: { ...small, crossings, timed } };
}
