import type { Priority, Tip } from "../../chain/port.ts";
import type { MarketFault } from "../../market/port.ts";
import { type BuildPorts, checkPriceImpact, estimatesOf, tooLarge } from "../build/build-trade.ts";
import { fitOf } from "../build/route-fit.ts";
import { canonicalMint, type Intent, resolveIntent } from "../intent.ts";
import type { QuotedTrade, Trades } from "../trade.ts";
import { legsOf, type Route } from "./route.ts";
import { awaitSnapshot, routesOf, type Snapshot, takeSnapshot } from "./snapshot.ts";

type QuotePorts = Omit<BuildPorts, "nextNonce" | "sealer" | "now">;

type QuoteRequest = Parameters<Trades["quote"]>[0];

/**
 * Prices a trade without building it: the chosen route, the runners-up best first, and what could not be priced and why.
 * What no transaction can hold is not promised: such routes are among the faults.
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

function answer(ports: QuotePorts, request: QuoteRequest, intent: Intent, snapshot: Snapshot): QuotedTrade {
  const { routes, faults } = routesOf(ports.markets, intent, snapshot, ports.head.clock());
  const { offered, tooLarge } = measured(ports, intent, snapshot, routes);
  const [best, ...runnersUp] = offered;
  checkPriceImpact(request, best!.route);
  return {
    inMint: intent.inMint.address,
    outMint: intent.outMint.address,
    inDecimals: intent.inMint.decimals,
    outDecimals: intent.outMint.decimals,
    platform: best!.route.platform,
    estimates: estimatesOf(best!.route),
    route: legsOf(best!.route),
    needsOpenAccounts: best!.needsOpenAccounts,
    alternatives: runnersUp.map(({ route, needsOpenAccounts }) => ({
      platform: route.platform,
      inAmount: route.inAmount,
      outAmount: route.outAmount,
      priceImpact: route.priceImpact,
      route: legsOf(route),
      needsOpenAccounts,
    })),
    faults: [...faults, ...tooLarge],
  };
}

interface Offered {
  readonly route: Route;
  readonly needsOpenAccounts: boolean;
}

/** The routes a transaction can hold, and those that none can. @throws TradewireError NO_ROUTE when it can hold none */
function measured(
  ports: QuotePorts,
  intent: Intent,
  snapshot: Snapshot,
  routes: readonly Route[],
): { readonly offered: readonly Offered[]; readonly tooLarge: readonly MarketFault[] } {
  const tips = mostTips(ports);
  const offered: Offered[] = [];
  const faults: MarketFault[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const route of routes) {
    const fit = fitOf(ports, intent, snapshot, route, tips);
    if (typeof fit === "string") {
      offered.push({ route, needsOpenAccounts: fit === "openAccounts" });
      continue;
    }
    least = Math.min(least, fit);
    const markets = route.steps.map(({ hot }) => hot.market.address).join("+");
    faults.push({ venue: route.platform, market: markets, reason: `needs a transaction of ${fit} bytes at least` });
  }
  if (offered.length === 0) throw tooLarge(least, ports.settings);
  return { offered, tooLarge: faults };
}

const PRIORITIES: readonly Priority[] = ["economy", "fast", "faster", "fastest"];

/** The tips of the priority that asks for most of them. */
function mostTips({ senders }: QuotePorts): readonly Tip[] {
  return PRIORITIES.map((priority) => senders.choose(priority, 0).tips).reduce((a, b) => (b.length > a.length ? b : a));
}
