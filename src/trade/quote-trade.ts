import type { ChainHead } from "../chain/port.ts";
import type { Markets, PairMarkets } from "../market/port.ts";
import { estimatesOf } from "./build-trade.ts";
import { canonicalMint, type Intent, resolveIntent } from "./intent.ts";
import { chooseRoute, legOf } from "./route.ts";
import type { QuotedTrade, Trades } from "./trade.ts";

interface QuotePorts {
  readonly markets: Markets;
  readonly head: ChainHead;
}

type QuoteRequest = Parameters<Trades["quote"]>[0];

/**
 * Prices a trade without building it: the chosen route, the runners-up best first, and what could not be priced and why.
 * @throws TradewireError as `buildTrade`, without what concerns the wallet
 */
export function quoteTrade(ports: QuotePorts, request: QuoteRequest): QuotedTrade | Promise<QuotedTrade> {
  const { markets } = ports;
  const inMint = markets.mint(canonicalMint(request.inMint));
  const outMint = markets.mint(canonicalMint(request.outMint));
  if (inMint instanceof Promise || outMint instanceof Promise) {
    return Promise.all([inMint, outMint]).then(([a, b]) => quoteIntent(ports, resolveIntent(request, a, b)));
  }
  return quoteIntent(ports, resolveIntent(request, inMint, outMint));
}

function quoteIntent(ports: QuotePorts, intent: Intent): QuotedTrade | Promise<QuotedTrade> {
  const pair = ports.markets.marketsOf({ a: intent.inMint.address, b: intent.outMint.address });
  return pair instanceof Promise ? pair.then((found) => answer(ports, intent, found)) : answer(ports, intent, pair);
}

function answer({ head }: QuotePorts, intent: Intent, pair: PairMarkets): QuotedTrade {
  const route = chooseRoute(intent, pair, head.clock());
  return {
    inMint: intent.inMint.address,
    outMint: intent.outMint.address,
    inDecimals: intent.inMint.decimals,
    outDecimals: intent.outMint.decimals,
    platform: route.platform,
    estimates: estimatesOf(route),
    route: route.legs,
    alternatives: route.runnersUp.map((candidate) => ({
      platform: candidate.hot.venue.id,
      inAmount: candidate.quote.inAmount,
      outAmount: candidate.quote.outAmount,
      priceImpact: candidate.quote.priceImpact,
      route: [legOf(candidate)],
    })),
    faults: route.faults,
  };
}
