import type { HotMarket } from "../../market/port.ts";
import type { Quote } from "../../venues/venue.ts";
import type { BuiltTrade, Remainder, RouteLeg } from "../trade.ts";

/** One market of a route, with the limit its program enforces. */
export interface RouteStep {
  readonly hot: HotMarket;
  readonly quote: Quote;
  /** exactIn: least output. exactOut: most input. Base units. */
  readonly threshold: bigint;
}

/** A way to make the trade: one market, several in a row through hubs, or parallel paths of these. */
export interface Route {
  /** In order of execution. A market that several paths share is one step. */
  readonly steps: readonly RouteStep[];
  /** Path by path, as answers list them; absent if there is one path, whose legs are the steps. */
  readonly legs?: readonly RouteLeg[];
  readonly platform: string;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** exactIn: least output of the whole route. exactOut: most input. */
  readonly threshold: bigint;
  /**
   * What it is worth to the wallet before costs: for exactIn its output and what selling the remainders would give, for exactOut
   * its input less that. Base units of the output or input mint.
   */
  readonly value: bigint;
  /**
   * Base units of each mint between two markets that stay with the wallet if prices stand still. More or less if they move,
   * never below zero.
   */
  readonly remainders: readonly Remainder[];
  /** Of the whole route, as a fraction. */
  readonly priceImpact: number;
  /** Slot of the oldest state priced. */
  readonly stateSlot: bigint;
}

/** The legs of a route, as answers list them. */
export function legsOf({ steps, legs }: Pick<Route, "steps" | "legs">): readonly RouteLeg[] {
  if (legs !== undefined) return legs;
  if (steps.length === 1) return [legOf(steps[0]!)];
  return steps.map(legOf);
}

function legOf({ hot, quote }: RouteStep): RouteLeg {
  return {
    venue: hot.venue.id,
    market: hot.market.address,
    inMint: quote.inMint,
    outMint: quote.outMint,
    inAmount: quote.inAmount,
    outAmount: quote.outAmount,
  };
}

/** Parallel paths of a route. */
export function pathCount({ legs }: Pick<Route, "legs">): number {
  return (legs?.at(-1)?.path ?? 0) + 1;
}

/** True for a single path over two markets. */
export function isThroughHub(route: Pick<Route, "steps" | "legs"> | undefined): boolean {
  return route !== undefined && route.steps.length === 2 && pathCount(route) === 1;
}

/** What a route is expected to move. @param fitLoss see `fitLossOf` */
export function estimatesOf(route: Route, fitLoss: number): BuiltTrade["estimates"] {
  const { inAmount, outAmount, remainders, priceImpact, threshold } = route;
  return { inAmount, outAmount, remainders, priceImpact, threshold, fitLoss: fitLoss > 0 ? fitLoss : undefined };
}
