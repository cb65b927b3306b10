import { randomFillSync, randomInt } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { createSubmissions } from "../accounts/submissions.ts";
import { networkOf } from "../api/http/network-of.ts";
import type { Metrics } from "../api/observe/metrics.ts";
import { createBaseFee } from "../chain/fees/base-fee.ts";
import { createLandedPrices } from "../chain/fees/landed-prices.ts";
import { createWalletBalances } from "../chain/fees/wallet-balance.ts";
import { networkName } from "../chain/head/network-name.ts";
import { createLookupTables } from "../chain/rpc/lookup-tables.ts";
import { createRpcStateSource } from "../chain/state/rpc-state-source.ts";
import type { LiveStateSource } from "../chain/state/state-source.ts";
import type { Config } from "../config/settings.ts";
import { createMarkets } from "../market/markets.ts";
import { type SearchBudget, SearchTurns } from "../market/search/search-turns.ts";
import { Address } from "../primitives/address.ts";
import { monotonicMs } from "../primitives/clock.ts";
import { createTokenSealer } from "../trade/build/token/submission-token.ts";
import { LongSearches } from "../trade/quote/long-searches.ts";
import { PriceMovements } from "../trade/quote/movement/price-movements.ts";
import { PRICE_EVERY_MS } from "../trade/quote/movement/price-series.ts";
import { createTrades } from "../trade/trades.ts";
import { venues } from "../venues/registry.ts";
import type { AccountParts } from "./account-parts.ts";
import { anotherNode } from "./chain/another-node.ts";
import type { ChainLocation } from "./chain/chain-location.ts";
import type { ChainParts } from "./chain/chain-parts.ts";
import { stateWitnesses } from "./chain/state-witnesses.ts";
import { witnessStreams } from "./chain/witness-streams.ts";
import type { AppContext } from "./context.ts";
import type { LandedTrades } from "./report/landed-trades.ts";
import type { ShadowParts } from "./shadow/shadow-parts.ts";

/** Limit on the account and program data that one trade may load: the largest venue programs, both token programs and a reserve. Bytes. */
const LOADED_ACCOUNTS_BYTES = 8 * 1024 * 1024;
const LEASE_MS = 5_000;
const CLAIM_TIMEOUT_MS = 50;

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

function searchBudgetOf(config: Config): SearchBudget {
  return {
    perKey: config.coldSearchesPerKey,
    perAddress: config.coldSearchesPerAddress,
    perSecond: config.coldSearchesPerSecond,
    burstSeconds: config.coldSearchBurstSeconds,
    atOnce: config.coldSearchesAtOnce,
    waitMs: config.coldSearchWaitMs,
  };
}

/** Observes the prices of the pairs that are quoted, until the context closes. */
function observePrices(
  { steadyMs, closers }: AppContext,
  { markets, head }: Pick<ChainParts & MarketParts, "markets" | "head">,
): PriceMovements {
  const movements = new PriceMovements({ markets, head, now: steadyMs, pause: () => setImmediate(), networkOf });
  const timer = setInterval(() => void movements.observe(), PRICE_EVERY_MS);
  closers.keep({ close: () => clearInterval(timer) });
  return movements;
}

/** Worst cases take turns within a budget of their own, of the size of that of cold searches. */
function worstCaseTurns({ config, steadyMs }: AppContext): SearchTurns {
  const budget = searchBudgetOf(config);
  return new SearchTurns({ budget, now: steadyMs, networkOf, subject: "worst cases" });
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

/** Building, submitting and looking up trades. `owner` names this process among those on the same database. */
export async function openTrades(
  context: AppContext,
  parts: ChainParts & MarketParts & AccountParts & Pick<ChainLocation, "embedded"> & { readonly landed: LandedTrades },
  { metrics, owner }: { readonly metrics: Metrics; readonly owner: string },
) {
  const { config, wallMs, steadyMs, warn, closers, otherWorkers } = context;
  const { reader, pool, witnesses, head, fees, senderPlan, landing, markets, store, clock, secrets } = parts;
  const lookupTables = closers.keep(
    await createLookupTables({
      nodes: stateWitnesses(pool, { trusted: witnesses.trusted, isCredible: (slot) => head.isCredible(slot) }),
      addresses: config.lookupTables ?? parts.embedded?.lookupTables.map(Address.of) ?? [],
      warn,
    }),
  );
  const baseFee = closers.keep(await createBaseFee({ pool, head, warn }));
  if (config.transactionV1 === "on" && !head.hasTransactionV1())
    warn("TRANSACTION_V1 is on, but the cluster has not activated it; version 1 is offered once it has.");
  const turns = closers.keep(worstCaseTurns(context));
  const movements = observePrices(context, parts);
  const sealer = createTokenSealer({
    keys: secrets.tokenKeys,
    genesisHash: head.genesisHash(),
    now: wallMs,
    fillRandom: randomFillSync,
  });
  otherWorkers?.listen((accounts, slot) => markets.noteWritten(accounts, slot));
  const trades = createTrades(
    {
      markets,
      reader,
      head,
      fees,
      senders: senderPlan,
      sealer,
      now: wallMs,
      movements,
      worstCases: {
        turn: async (caller) => (await turns.next(caller, new Promise(() => {})))!,
        pause: () => setImmediate(),
      },
      searches: new LongSearches({ pause: () => setImmediate(), networkOf }),
      lookupTables: () => lookupTables.tables(),
      baseFee: () => baseFee.lamports(),
      settings: {
        computeUnitMarginPercent: config.computeUnitMarginPercent,
        loadedAccountsBytes: LOADED_ACCOUNTS_BYTES,
        expiryMarginMs: config.expiryMarginMs,
        faucet: faucetOf(parts.embedded !== undefined, networkName(head.genesisHash())),
        get transactionV1() {
          return config.transactionV1 === "on" && head.hasTransactionV1();
        },
      },
    },
    {
      sealer,
      submissions: createSubmissions(store, clock.now),
      landing,
      venues,
      now: wallMs,
      monotonicMs,
      warn,
      owner,
      isCutOff: () => witnesses.endpoints.every((endpoint) => witnesses.isSilent(endpoint)),
      observe: (report) => metrics.recordSubmission(report),
      slot: () => head.slot(),
      conditions: {
        slot: () => head.slot(),
        blockHeight: () => head.blockHeight(),
        slotMs: () => head.slotMs(),
        rentExemption: (space) => head.rentExemption(space),
        prices: createLandedPrices({ pool, now: steadyMs }),
        balances: createWalletBalances({ pool, now: steadyMs }),
      },
      noteWritten(accounts, slot) {
        markets.noteWritten(accounts, slot);
        otherWorkers?.tellWritten(accounts, slot);
      },
      onLanded: (report) => parts.landed.note(report),
      settings: {
        answerMs: config.submitTimeoutMs,
        historyMs: config.historyHours * 3_600_000,
        leaseMs: LEASE_MS,
        claimTimeoutMs: CLAIM_TIMEOUT_MS,
      },
    },
    randomInt,
    randomFillSync,
  );
  return closers.keep(trades);
}

/** How a wallet gets SOL on a test chain. */
function faucetOf(isEmbedded: boolean, network: string): ((wallet: Address) => string) | undefined {
  if (isEmbedded) return (wallet) => `POST /faucet {"walletAddress":"${wallet}"} gives 10 SOL of this chain`;
  if (network === "mainnet" || network === "localnet") return undefined;
  return (wallet) => `solana airdrop 1 ${wallet} --url ${network} gives some on this network`;
}
