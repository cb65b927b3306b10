import { TradewireError } from "../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../market/port.ts";
import { compareAddresses } from "../primitives/address.ts";
import { maximumIn, minimumOut } from "../primitives/slippage.ts";
import type { ChainClock } from "../solana/account.ts";
import type { Ask, Quote } from "../venues/venue.ts";
import type { Intent } from "./intent.ts";
import type { RouteLeg } from "./trade.ts";

/** One market's answer to an ask. */
export interface Candidate {
  readonly hot: HotMarket;
  readonly quote: Quote;
}

/** The chosen way to trade, with the bound the user's slippage sets. */
export interface Route {
  readonly best: Candidate;
  /** The others, best first. */
  readonly runnersUp: readonly Candidate[];
  readonly faults: readonly MarketFault[];
  readonly platform: string;
  readonly legs: readonly RouteLeg[];
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** exactIn: least output. exactOut: most input. */
  readonly threshold: bigint;
  readonly priceImpact: number;
  /** Slot of the oldest state priced. */
  readonly stateSlot: bigint;
}

/**
 * Prices every market of the pair and chooses the best.
 * @throws TradewireError INSUFFICIENT_LIQUIDITY when every market is too small for it, VALIDATION_ERROR when it is too
 * small for every market, NO_ROUTE otherwise, with what was tried
 */
export function chooseRoute(intent: Intent, pair: PairMarkets, clock: ChainClock): Route {
  const ask: Ask = {
    mode: intent.mode,
    inMint: intent.inMint.address,
    outMint: intent.outMint.address,
    amount: intent.amount,
    clock,
  };
  const candidates: Candidate[] = [];
  const refusals: TradewireError[] = [];
  const faults: MarketFault[] = [...pair.faults];
  for (const hot of pair.markets) {
    try {
      candidates.push({ hot, quote: hot.venue.quote(hot.state, ask) });
    } catch (error) {
      if (!(error instanceof TradewireError)) throw error;
      refusals.push(error);
      faults.push({ venue: hot.venue.id, market: hot.market.address.toString(), reason: error.message });
    }
  }
  if (candidates.length > 1) candidates.sort(compareCandidates);
  const [best, ...runnersUp] = candidates;
  if (best === undefined) throw noRoute(refusals, faults);
  const { quote, hot } = best;
  return {
    best,
    runnersUp,
    faults,
    platform: hot.venue.id,
    legs: [legOf(best)],
    inAmount: quote.inAmount,
    outAmount: quote.outAmount,
    threshold:
      intent.mode === "exactIn"
        ? minimumOut(quote.outAmount, intent.slippagePpb)
        : maximumIn(quote.inAmount, intent.slippagePpb),
    priceImpact: quote.priceImpact,
    stateSlot: hot.slot,
  };
}

/** A candidate as the caller sees it. */
export function legOf({ hot, quote }: Candidate): RouteLeg {
  return {
    venue: hot.venue.id,
    market: hot.market.address,
    inMint: quote.inMint,
    outMint: quote.outMint,
    inAmount: quote.inAmount,
    outAmount: quote.outAmount,
  };
}

/** Best first: more out, then less in, then the lesser venue name, then the lesser market address. A total order. */
function compareCandidates(a: Candidate, b: Candidate): number {
  if (a.quote.mode === "exactOut" && a.quote.inAmount !== b.quote.inAmount)
    return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  if (a.quote.outAmount !== b.quote.outAmount) return a.quote.outAmount > b.quote.outAmount ? -1 : 1;
  if (a.quote.inAmount !== b.quote.inAmount) return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  if (a.hot.venue.id !== b.hot.venue.id) return a.hot.venue.id < b.hot.venue.id ? -1 : 1;
  return compareAddresses(a.hot.market.address, b.hot.market.address);
}

function noRoute(refusals: readonly TradewireError[], faults: readonly MarketFault[]): TradewireError {
  const tried = faults
    .map(({ venue, market, reason }) => `${venue}${market === undefined ? "" : ` ${market}`}: ${reason}`)
    .join("; ");
  for (const code of ["INSUFFICIENT_LIQUIDITY", "VALIDATION_ERROR", "UNSUPPORTED_TOKEN_EXTENSION"] as const) {
    const first = refusals.find((refusal) => refusal.code === code);
    if (first !== undefined && refusals.every((refusal) => refusal.code === code)) {
      return new TradewireError(code, first.message, { ...first.facts, details: { tried } });
    }
  }
  if (tried === "") return new TradewireError("NO_ROUTE", "No market trades these two mints on any supported venue.");
  return new TradewireError("NO_ROUTE", "No market can make this trade now.", { details: { tried } });
}
