import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets, PairMarkets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import type { ChainClock } from "../../solana/account.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Intent } from "../intent.ts";
import { chooseRoutes, type HubMarkets, type Routes } from "./route.ts";
import { onlyAllowed, UNBOUNDED } from "./route-bounds.ts";
import { onlyChecked } from "./route-proof.ts";

/** A hub with its mint: a trade through it may need a token account of that mint. */
interface KnownHub extends HubMarkets {
  readonly mint: Mint;
}

/** The markets of a trade at one moment. */
export interface Snapshot {
  readonly direct: PairMarkets;
  readonly hubs: readonly KnownHub[];
}

type MarketsPort = Pick<Markets, "marketsOf" | "knownMarkets" | "mint">;

/**
 * The snapshot from memory, or undefined if the pair itself is not known yet. Hubs not known yet are left out and searched
 * in the background: a trade that works without them does not wait for them.
 *
 * @throws TradewireError STATE_STALE
 */
export function takeSnapshot(markets: MarketsPort, inMint: Address, outMint: Address): Snapshot | undefined {
  const direct = markets.marketsOf({ a: inMint, b: outMint });
  if (direct instanceof Promise) return undefined;
  const hubs: KnownHub[] = [];
  let isWaiting = false;
  for (const hub of hubsOf(inMint, outMint)) {
    const mint = markets.mint(hub);
    const toHub = markets.knownMarkets({ a: inMint, b: hub });
    const fromHub = markets.knownMarkets({ a: hub, b: outMint });
    if (mint instanceof Promise || toHub === undefined || fromHub === undefined) isWaiting = true;
    else if (mint !== null) hubs.push({ hub, mint, toHub, fromHub });
  }
  return isWaiting && direct.markets.length === 0 ? undefined : { direct, hubs };
}

/**
 * The routes of the trade on the snapshot, best first. If there is none the pair is searched again: a market that closes
 * is often replaced by another.
 *
 * @throws TradewireError as `chooseRoutes`
 */
export function routesOf(
  markets: Pick<Markets, "searchSoon">,
  intent: Intent,
  snapshot: Snapshot,
  clock: ChainClock,
): Routes {
  const { direct, hubs } = eligibleOf(intent, snapshot);
  try {
    return chooseRoutes(intent, direct, hubs, clock);
  } catch (error) {
    if (error instanceof TradewireError && error.code === "NO_ROUTE")
      markets.searchSoon({ a: intent.inMint.address, b: intent.outMint.address });
    throw error;
  }
}

/** The markets that the trade may use. */
function eligibleOf({ requireChecked, bounds = UNBOUNDED }: Intent, snapshot: Snapshot): Snapshot {
  const direct = bounds.maxLegs === 1 ? { ...snapshot, hubs: [] } : snapshot;
  if (requireChecked !== true && bounds.allows === undefined) return direct;
  const filter = (pair: PairMarkets) => {
    const allowed = onlyAllowed(pair, bounds);
    return requireChecked === true ? onlyChecked(allowed) : allowed;
  };
  return {
    direct: filter(direct.direct),
    hubs: direct.hubs.map((hub) => ({ ...hub, toHub: filter(hub.toHub), fromHub: filter(hub.fromHub) })),
  };
}

/** The snapshot with every hub, reading what is missing, all at once. @throws TradewireError STATE_STALE, UPSTREAM_ERROR */
export async function awaitSnapshot(markets: MarketsPort, inMint: Address, outMint: Address): Promise<Snapshot> {
  const hubs = hubsOf(inMint, outMint).map(async (hub): Promise<KnownHub | undefined> => {
    const [mint, toHub, fromHub] = await Promise.all([
      markets.mint(hub),
      markets.marketsOf({ a: inMint, b: hub }),
      markets.marketsOf({ a: hub, b: outMint }),
    ]);
    return mint === null ? undefined : { hub, mint, toHub, fromHub };
  });
  const [direct, ...known] = await Promise.all([markets.marketsOf({ a: inMint, b: outMint }), ...hubs]);
  return { direct, hubs: known.filter((hub) => hub !== undefined) };
}

function hubsOf(inMint: Address, outMint: Address): readonly Address[] {
  return HUB_MINTS.filter((hub) => hub !== inMint && hub !== outMint);
}
