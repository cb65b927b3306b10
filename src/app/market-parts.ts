import { networkOf } from "../api/http/network-of.ts";
import { createRpcStateSource } from "../chain/state/rpc-state-source.ts";
import type { LiveStateSource } from "../chain/state/state-source.ts";
import type { Config } from "../config/settings.ts";
import { createMarkets } from "../market/markets.ts";
import type { SearchBudget } from "../market/search/search-turns.ts";
import { venues } from "../venues/registry.ts";
import type { AccountParts } from "./account-parts.ts";
import { anotherNode } from "./chain/another-node.ts";
import type { ChainLocation } from "./chain/chain-location.ts";
import type { ChainParts } from "./chain/chain-parts.ts";
import { stateWitnesses } from "./chain/state-witnesses.ts";
import { witnessStreams } from "./chain/witness-streams.ts";
import type { AppContext } from "./context.ts";
import type { ShadowParts } from "./shadow/shadow-parts.ts";

/** Live markets. */
export type MarketParts = Awaited<ReturnType<typeof watchMarkets>>;

/** Starts following market state. */
export async function watchMarkets(
  context: AppContext,
  chain: ChainParts,
  {
    openMarketIndex,
    embedded,
    shadow,
  }: Pick<AccountParts, "openMarketIndex"> &
    Pick<ChainLocation, "embedded"> & { readonly shadow: ShadowParts | undefined },
) {
  const { config, steadyMs, warn, closers } = context;
  const { reader, head } = chain;
  // An embedded chain starts from scratch with each process: nothing found on it lasts.
  const index = embedded === undefined ? openMarketIndex(head.genesisHash()) : undefined;
  const source = closers.keep(await openStateSource(context, chain));
  const markets = closers.keep(
    createMarkets({
      reader,
      another: anotherNode(chain.pool, (slot) => head.isCredible(slot)),
      source,
      // A chain that pauses is not stale, a silent one is.
      head: { slotAgeMs: () => head.silenceMs(), clock: () => head.clock() },
      venues,
      judge: shadow?.checks,
      index,
      searchBudget: searchBudgetOf(config),
      networkOf,
      now: steadyMs,
      warn,
      maxAgeMs: config.stateMaxAgeMs,
      hubMints: config.hubMints,
      maxMarketsPerPair: config.marketsPerPair,
      researchMs: config.marketSearchIntervalMs,
      researchPaceMs: config.marketSearchSpacingMs,
    }),
  );
  return { source, markets };
}

/** How many cold searches are made: each costs the nodes dozens of calls. */
export function searchBudgetOf(config: Config): SearchBudget {
  return {
    perKey: config.coldSearchesPerKey,
    perAddress: config.coldSearchesPerAddress,
    perSecond: config.coldSearchesPerSecond,
    burstSeconds: config.coldSearchBurstSeconds,
    atOnce: config.coldSearchesAtOnce,
    waitMs: config.coldSearchWaitMs,
  };
}

/** The Yellowstone client is loaded only if there is a server for it. */
async function openStateSource(
  context: AppContext,
  { pool, witnesses: nodes, reader, subscriptions, head, wsUrls, seldom }: ChainParts,
): Promise<LiveStateSource> {
  const { config, steadyMs: now, random, warn } = context;
  const witnesses = stateWitnesses(pool, {
    trusted: nodes.trusted,
    isCredible: (slot) => head.isCredible(slot),
  });
  const { comparisonsPerSecond } = config;
  const compared = { witnesses, comparisonsPerSecond, witnessStreams: witnessStreams(context, { wsUrls, seldom }) };
  const heads = { headSlot: () => head.slot(), slotByNodes: () => head.slotByNodes() };
  const parts = { reader, subscriptions, now, warn, ...heads, ...compared };
  if (config.yellowstoneUrl === undefined) return createRpcStateSource({ ...parts, commitment: "processed" });
  const { createYellowstoneStateSource } = await import("../chain/yellowstone/yellowstone-state-source.ts");
  return createYellowstoneStateSource({ ...parts, random, url: config.yellowstoneUrl, token: config.yellowstoneToken });
}
