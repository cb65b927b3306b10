import { randomFillSync, randomInt } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { createSubmissions } from "../accounts/submissions.ts";
import { networkOf } from "../api/http/network-of.ts";
import type { Metrics } from "../api/observe/metrics.ts";
import { FAUCET_SOL } from "../api/pages/faucet.ts";
import { createBaseFee } from "../chain/fees/base-fee.ts";
import { createLandedPrices } from "../chain/fees/landed-prices.ts";
import { createWalletBalances } from "../chain/fees/wallet-balance.ts";
import { networkName } from "../chain/head/network-name.ts";
import { createLookupTables } from "../chain/rpc/lookup-tables.ts";
import { SearchTurns } from "../market/search/search-turns.ts";
import { Address } from "../primitives/address.ts";
import { monotonicMs } from "../primitives/clock.ts";
import { createTokenSealer, type TokenSealer } from "../trade/build/token/submission-token.ts";
import { LongSearches } from "../trade/quote/long-searches.ts";
import { PriceMovements } from "../trade/quote/movement/price-movements.ts";
import { PRICE_EVERY_MS } from "../trade/quote/movement/price-series.ts";
import type { SubmitPorts } from "../trade/submit/submit-trade.ts";
import { createTrades, type TradesBuildPorts } from "../trade/trades.ts";
import { venues } from "../venues/registry.ts";
import type { AccountParts } from "./account-parts.ts";
import type { ChainLocation } from "./chain/chain-location.ts";
import type { ChainParts } from "./chain/chain-parts.ts";
import { stateWitnesses } from "./chain/state-witnesses.ts";
import type { AppContext } from "./context.ts";
import { type MarketParts, searchBudgetOf } from "./market-parts.ts";
import type { LandedTrades } from "./report/landed-trades.ts";

/** Limit on the account and program data that one trade may load: the largest venue programs, both token programs and a reserve. Bytes. */
const LOADED_ACCOUNTS_BYTES = 8 * 1024 * 1024;
/** Another process takes over a submission whose lease was not renewed for this long. Milliseconds. */
const LEASE_MS = 5_000;
/** Longest that a broadcast waits for its claim to be written. Milliseconds. */
const CLAIM_TIMEOUT_MS = 50;

/** What building and submitting trades is made of. */
type PartsOfTrades = ChainParts &
  MarketParts &
  AccountParts &
  Pick<ChainLocation, "embedded"> & { readonly landed: LandedTrades };

/** Building, submitting and looking up trades. `owner` names this process among those on the same database. */
export async function openTrades(
  context: AppContext,
  parts: PartsOfTrades,
  { metrics, owner }: { readonly metrics: Metrics; readonly owner: string },
) {
  const { otherWorkers, closers } = context;
  const { head, secrets, markets } = parts;
  const sealer = createTokenSealer({
    keys: secrets.tokenKeys,
    genesisHash: head.genesisHash(),
    now: context.wallMs,
    fillRandom: randomFillSync,
  });
  otherWorkers?.listen((accounts, slot) => markets.noteWritten(accounts, slot));
  const build = await buildPorts(context, parts, sealer);
  const submit = submitPorts(context, parts, { sealer, metrics, owner });
  return closers.keep(createTrades(build, submit, randomInt, randomFillSync));
}

async function buildPorts(context: AppContext, parts: PartsOfTrades, sealer: TokenSealer): Promise<TradesBuildPorts> {
  const { config, wallMs, warn, closers } = context;
  const { reader, pool, witnesses, head, fees, senderPlan, markets, embedded } = parts;
  const lookupTables = closers.keep(
    await createLookupTables({
      nodes: stateWitnesses(pool, { trusted: witnesses.trusted, isCredible: (slot) => head.isCredible(slot) }),
      addresses: config.lookupTables ?? embedded?.lookupTables.map(Address.of) ?? [],
      warn,
    }),
  );
  const baseFee = closers.keep(await createBaseFee({ pool, head, warn }));
  if (config.transactionV1 === "on" && !head.hasTransactionV1())
    warn("TRANSACTION_V1 is on, but the cluster has not activated it; version 1 is offered once it has.");
  const turns = closers.keep(worstCaseTurns(context));
  return {
    markets,
    reader,
    head,
    fees,
    senders: senderPlan,
    sealer,
    now: wallMs,
    movements: observePrices(context, parts),
    worstCases: {
      // A worst case is needed until it is answered: no turn is ever moot.
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
      faucet: embedded === undefined ? faucetOf(networkName(head.genesisHash())) : embeddedFaucet,
      get transactionV1() {
        return config.transactionV1 === "on" && head.hasTransactionV1();
      },
    },
  };
}

function submitPorts(
  { config, wallMs, steadyMs, warn, otherWorkers }: AppContext,
  { pool, witnesses, head, landing, markets, store, clock, landed }: PartsOfTrades,
  { sealer, metrics, owner }: { readonly sealer: TokenSealer; readonly metrics: Metrics; readonly owner: string },
): SubmitPorts {
  return {
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
    onLanded: (report) => landed.note(report),
    settings: {
      answerMs: config.submitTimeoutMs,
      historyMs: config.historyHours * 3_600_000,
      leaseMs: LEASE_MS,
      claimTimeoutMs: CLAIM_TIMEOUT_MS,
    },
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

const embeddedFaucet = (wallet: Address): string =>
  `POST /faucet {"walletAddress":"${wallet}"} gives ${FAUCET_SOL} SOL of this chain`;

/** How a wallet gets SOL on a test network; undefined where nobody gives any. */
function faucetOf(network: string): ((wallet: Address) => string) | undefined {
  if (network === "mainnet" || network === "localnet") return undefined;
  return (wallet) => `solana airdrop 1 ${wallet} --url ${network} gives some on this network`;
}
