import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { minOf } from "../../primitives/integer.ts";
import { maximumIn, minimumOut, passingShare } from "../../primitives/slippage.ts";
import type { ChainClock } from "../../solana/account.ts";
import { isBetweenHubs } from "../../solana/hub-mints.ts";
import type { Ask, Quote } from "../../venues/venue.ts";
import type { Intent } from "../intent.ts";
import type { RouteLeg } from "../trade.ts";
import { type Candidate, rankMarkets } from "./ranking.ts";

/** One market of a route, and how far its price may move. */
export interface RouteStep {
  readonly hot: HotMarket;
  readonly quote: Quote;
  /** exactIn: least output. exactOut: most input. As this market's program checks it. */
  readonly threshold: bigint;
}

/** A way to make the trade: one market, or two through a hub. */
export interface Route {
  readonly steps: readonly RouteStep[];
  readonly platform: string;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** exactIn: least output of the whole. exactOut: most input of the whole. */
  readonly threshold: bigint;
  /**
   * Of two legs: base units of the mint passed through that are left with the wallet when the price stands still. Less or
   * more of it when it moves, never less than none.
   */
  readonly remainder: bigint | undefined;
  /** Of the legs together. */
  readonly priceImpact: number;
  /** Slot of the oldest state priced. */
  readonly stateSlot: bigint;
}

/** The ways to make a trade, best first, and what could not be priced and why. */
export interface Routes {
  readonly routes: readonly Route[];
  readonly faults: readonly MarketFault[];
}

/** The markets of the two halves of a route: from the input to a hub, and from there to the output. */
export interface HubMarkets {
  readonly hub: Address;
  readonly toHub: PairMarkets;
  readonly fromHub: PairMarkets;
}

/** Of each half of a hub route, this many of its best markets are combined: the best pair may not fit into a transaction. */
const HALVES_TRIED = 2;

/**
 * Prices every way to make the trade and orders them, best first: more output for exactIn, less input for exactOut; between
 * equals fewer legs, then the lesser platform name, then the order of `compareCandidates`.
 *
 * A route through a hub is bounded as a whole: a small share of the slippage covers what is passed between the markets,
 * the rest what the caller gives or gets. The second market of an exactIn route is given what the first yields at worst, the first of an exactOut route buys what
 * the second takes at most; what is left of the hub's mint stays with the wallet: the route's remainder.
 *
 * @throws TradewireError INSUFFICIENT_LIQUIDITY when every market is too small for it, VALIDATION_ERROR when it is too
 * small for every market, NO_ROUTE otherwise, with what was tried
 */
export function chooseRoutes(
  intent: Intent,
  direct: PairMarkets,
  hubs: readonly HubMarkets[],
  clock: ChainClock,
): Routes {
  const ranking = rankMarkets(
    direct,
    askOf(intent, intent.inMint.address, intent.outMint.address, intent.amount, clock),
    isTaxed(intent),
  );
  const refusals = [...ranking.refusals];
  const faults = [...ranking.faults];
  const routes = ranking.candidates.map((candidate) => directRoute(intent, candidate));
  for (const hub of hubs) {
    if (hub.toHub.markets.length === 0 || hub.fromHub.markets.length === 0) continue;
    routes.push(...hubRoutes(intent, hub, clock, refusals, faults));
  }
  if (routes.length === 0) throw noRoute(refusals, faults, direct.searched);
  if (hubs.length > 0) routes.sort((a, b) => compareRoutes(intent, a, b));
  return { routes, faults };
}

/** The legs of a route as the caller sees them. */
export function legsOf({ steps }: Route): readonly RouteLeg[] {
  return steps.map(({ hot, quote }) => ({
    venue: hot.venue.id,
    market: hot.market.address,
    inMint: quote.inMint,
    outMint: quote.outMint,
    inAmount: quote.inAmount,
    outAmount: quote.outAmount,
  }));
}

function isTaxed({ inMint, outMint }: Intent): boolean {
  return inMint.transferFees !== undefined || outMint.transferFees !== undefined;
}

function askOf(intent: Intent, inMint: Address, outMint: Address, amount: bigint, clock: ChainClock): Ask {
  return { mode: intent.mode, inMint, outMint, amount, clock };
}

function directRoute(intent: Intent, { hot, quote }: Candidate): Route {
  const threshold =
    intent.mode === "exactIn"
      ? minimumOut(quote.outAmount, intent.slippagePpb)
      : maximumIn(quote.inAmount, intent.slippagePpb);
  return {
    steps: [{ hot, quote, threshold }],
    platform: hot.venue.id,
    inAmount: quote.inAmount,
    outAmount: quote.outAmount,
    threshold,
    remainder: undefined,
    priceImpact: quote.priceImpact,
    stateSlot: hot.slot,
  };
}

function hubRoutes(
  intent: Intent,
  markets: HubMarkets,
  clock: ChainClock,
  refusals: TradewireError[],
  faults: MarketFault[],
): Route[] {
  const { hub, toHub, fromHub } = markets;
  const rank = (pair: PairMarkets, inMint: Address, outMint: Address, amount: bigint): readonly Candidate[] => {
    const ranking = rankMarkets(pair, askOf(intent, inMint, outMint, amount, clock), isTaxed(intent));
    refusals.push(...ranking.refusals);
    faults.push(...ranking.faults);
    return ranking.candidates.slice(0, HALVES_TRIED);
  };
  const { inMint, outMint, amount, slippagePpb } = intent;
  if (intent.mode === "exactIn") {
    const share = passingShare(slippagePpb, isBetweenHubs(inMint.address, hub));
    return rank(toHub, inMint.address, hub, amount).flatMap((first) => {
      const passed = minimumOut(first.quote.outAmount, share);
      return rank(fromHub, hub, outMint.address, passed).map((second) => {
        const threshold = minimumOut(second.quote.outAmount, slippagePpb - share);
        return joined({ ...first, threshold: passed }, { ...second, threshold }, threshold);
      });
    });
  }
  const share = passingShare(slippagePpb, isBetweenHubs(hub, outMint.address));
  return rank(fromHub, hub, outMint.address, amount).flatMap((second) => {
    const passed = maximumIn(second.quote.inAmount, share);
    return rank(toHub, inMint.address, hub, passed).map((first) => {
      const threshold = maximumIn(first.quote.inAmount, slippagePpb - share);
      return joined({ ...first, threshold }, { ...second, threshold: passed }, threshold);
    });
  });
}

function joined(first: RouteStep, second: RouteStep, threshold: bigint): Route {
  return {
    steps: [first, second],
    platform: `${first.hot.venue.id}+${second.hot.venue.id}`,
    inAmount: first.quote.inAmount,
    outAmount: second.quote.outAmount,
    threshold,
    remainder: first.quote.outAmount - second.quote.inAmount,
    priceImpact: joinedImpact(first.quote.priceImpact, second.quote.priceImpact),
    stateSlot: minOf(first.hot.slot, second.hot.slot),
  };
}

/** Digits a price impact is told with. */
const IMPACT_PARTS = 1e12;

/** By how much both together are worse than the price before, without the noise of doubles. */
function joinedImpact(first: number, second: number): number {
  return Math.round((1 - (1 - first) * (1 - second)) * IMPACT_PARTS) / IMPACT_PARTS;
}

function compareRoutes(intent: Intent, a: Route, b: Route): number {
  if (intent.mode === "exactIn" && a.outAmount !== b.outAmount) return a.outAmount > b.outAmount ? -1 : 1;
  if (a.inAmount !== b.inAmount) return a.inAmount < b.inAmount ? -1 : 1;
  if (a.steps.length !== b.steps.length) return a.steps.length - b.steps.length;
  return a.platform < b.platform ? -1 : a.platform > b.platform ? 1 : 0;
}

function noRoute(
  refusals: readonly TradewireError[],
  faults: readonly MarketFault[],
  searched: readonly string[],
): TradewireError {
  const tried = faults
    .map(({ venue, market, reason }) => `${venue}${market === undefined ? "" : ` ${market}`}: ${reason}`)
    .join("; ");
  for (const code of ["INSUFFICIENT_LIQUIDITY", "VALIDATION_ERROR", "UNSUPPORTED_TOKEN_EXTENSION"] as const) {
    const first = refusals.find((refusal) => refusal.code === code);
    if (first !== undefined && refusals.every((refusal) => refusal.code === code)) {
      const field = code === "VALIDATION_ERROR" ? { field: "amount" } : {};
      const message =
        code === "INSUFFICIENT_LIQUIDITY"
          ? "No market holds enough for this trade. Trade less."
          : asSentence(first.message);
      return new TradewireError(code, message, { ...first.facts, ...field, details: { tried } });
    }
  }
  const details = { searched: searched.join(", "), ...(tried === "" ? {} : { tried }) };
  const [first] = refusals;
  const why = first !== undefined && refusals.every(({ message }) => message === first.message) ? first.message : "";
  const message =
    tried === ""
      ? "No market of a supported venue trades these two mints, nor do two by way of SOL or USDC."
      : `No market can make this trade now${why === "" ? "" : `: ${why}`}.`;
  return new TradewireError("NO_ROUTE", message, { details });
}

/** Markets say why in words that others put behind a colon. */
const asSentence = (why: string) => `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
