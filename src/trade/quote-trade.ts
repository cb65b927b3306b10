import type { ChainHead } from "../chain/port.ts";
import type { Markets } from "../market/port.ts";
import { checkPriceImpact, estimatesOf } from "./build-trade.ts";
import { canonicalMint, type Intent, resolveIntent } from "./intent.ts";
import { legsOf } from "./route.ts";
import { awaitSnapshot, routesOf, type Snapshot, takeSnapshot } from "./snapshot.ts";
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
  if (inMint instanceof Promise || outMint instanceof Promise) return quoteCold(ports, request);
  const intent = resolveIntent(request, inMint, outMint);
  const snapshot = takeSnapshot(markets, intent.inMint.address, intent.outMint.address);
  return snapshot === undefined ? quoteCold(ports, request) : answer(ports, request, intent, snapshot);
}

async function quoteCold(ports: QuotePorts, request: QuoteRequest): Promise<QuotedTrade> {
  const { markets } = ports;
  const [inMint, outMint] = await Promise.all([
    markets.mint(canonicalMint(request.inMint)),
    markets.mint(canonicalMint(request.outMint)),
  ]);
  const intent = resolveIntent(request, inMint, outMint);
  return answer(ports, request, intent, await awaitSnapshot(markets, intent.inMint.address, intent.outMint.address));
}

function answer({ head, markets }: QuotePorts, request: QuoteRequest, intent: Intent, snapshot: Snapshot): QuotedTrade {
  const { routes, faults } = routesOf(markets, intent, snapshot, head.clock());
  const [best, ...runnersUp] = routes;
  checkPriceImpact(request, best!);
  return {
    inMint: intent.inMint.address,
    outMint: intent.outMint.address,
    inDecimals: intent.inMint.decimals,
    outDecimals: intent.outMint.decimals,
    platform: best!.platform,
    estimates: estimatesOf(best!),
    route: legsOf(best!),
    alternatives: runnersUp.map((route) => ({
      platform: route.platform,
      inAmount: route.inAmount,
      outAmount: route.outAmount,
      priceImpact: route.priceImpact,
      route: legsOf(route),
    })),
    faults,
  };
}
