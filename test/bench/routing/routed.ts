import { TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { Intent } from "../../../src/trade/intent.ts";
import { UNBOUNDED } from "../../../src/trade/quote/route-bounds.ts";
import { routesOf, type Snapshot } from "../../../src/trade/quote/snapshot.ts";
import type { RoutingWorld } from "./worlds.ts";

/**
 * What the router gives for an exact input from the first mint of a world to the second; undefined if it refuses.
 *
 * @param bounds on its paths, if not the router's own
 */
export function routed(
  { mints, marketsOf, clock }: RoutingWorld,
  amount: bigint,
  bounds: { readonly maxPaths?: number } = {},
): number | undefined {
  const [inMint, outMint, ...hubs] = mints;
  const mint = (address: (typeof mints)[number]) =>
    ({ address, program: TOKEN_PROGRAM, decimals: 9, supply: 10n ** 18n }) as Intent["inMint"];
  const intent: Intent = {
    inMint: mint(inMint!),
    outMint: mint(outMint!),
    mode: "exactIn",
    amount,
    slippagePpb: 0n,
    emptied: undefined,
    bounds: { ...UNBOUNDED, ...bounds },
  };
  const snapshot: Snapshot = {
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
  };
  try {
    return Number(routesOf({ searchSoon: () => undefined }, intent, snapshot, clock).routes[0]!.outAmount);
  } catch {
    return undefined;
  }
}
