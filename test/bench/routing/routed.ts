import { TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { Mint } from "../../../src/solana/token/mint.ts";
import { TOKEN_ACCOUNT_SIZE } from "../../../src/solana/token/token-account.ts";
import type { Intent } from "../../../src/trade/intent.ts";
import { allAtOnce } from "../../../src/trade/quote/long-searches.ts";
import { UNBOUNDED } from "../../../src/trade/quote/route-bounds.ts";
import { type FoundRoutes, routesOf, type Snapshot } from "../../../src/trade/quote/snapshot.ts";
import type { RoutingWorld } from "./worlds.ts";

/** An ask as the router gets it. */
export interface RoutedAsk {
  readonly intent: Intent;
  readonly snapshot: Snapshot;
}

/**
 * An exact input from the first mint of a world to the second.
 *
 * @param bounds on its paths, if not the router's own
 */
export function askOf(
  { mints, marketsOf }: RoutingWorld,
  amount: bigint,
  bounds: { readonly maxPaths?: number } = {},
): RoutedAsk {
  const [inMint, outMint, ...hubs] = mints;
  const mint = (address: (typeof mints)[number]) =>
    ({ address, program: TOKEN_PROGRAM, decimals: 9, supply: 10n ** 18n, accountSize: TOKEN_ACCOUNT_SIZE }) as Mint;
  return {
    intent: {
      inMint: mint(inMint!),
      outMint: mint(outMint!),
      mode: "exactIn",
      amount,
      slippagePpb: 0n,
      emptied: undefined,
      bounds: { ...UNBOUNDED, ...bounds },
    },
    snapshot: {
      direct: marketsOf(inMint!, outMint!),
      hubs: hubs.map((hub) => ({
        hub,
        mint: mint(hub),
        toHub: marketsOf(inMint!, hub),
        fromHub: marketsOf(hub, outMint!),
      })),
      between: hubs.flatMap((from) =>
        hubs.filter((to) => to !== from).map((to) => ({ from, to, pair: marketsOf(from, to) })),
      ),
    },
  };
}

/** The router's routes, best first; none if it refuses. */
export function routesFor({ intent, snapshot }: RoutedAsk, { clock }: RoutingWorld): FoundRoutes {
  try {
    return allAtOnce(routesOf({ searchSoon: () => undefined }, intent, snapshot, clock));
  } catch {
    return { routes: [], faults: [] };
  }
}

/** What the router gives; undefined if it refuses. */
export function routed(
  world: RoutingWorld,
  amount: bigint,
  bounds: { readonly maxPaths?: number } = {},
): number | undefined {
  const route = routesFor(askOf(world, amount, bounds), world).routes[0];
  return route === undefined ? undefined : Number(route.outAmount);
}
