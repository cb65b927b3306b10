import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { createAccounts } from "../accounts/accounts.ts";
import { createKeyDirectory } from "../accounts/keys/key-directory.ts";
import { requirePepper } from "../accounts/keys/require-pepper.ts";
import { createLimitUsage } from "../accounts/limit-usage.ts";
import type { Accounts } from "../accounts/port.ts";
import { loadSecrets } from "../accounts/secrets.ts";
import { startSweeping } from "../accounts/store/retention.ts";
import { openStore } from "../accounts/store/store.ts";
import { createSubmissions } from "../accounts/submissions.ts";
import type { CallObserver, CallRecord } from "../api/call/call-record.ts";
import { type Admin, type AdminParts, type Readiness, startAdmin } from "../api/observe/admin.ts";
import { Metrics } from "../api/observe/metrics.ts";
import type { ServiceStatus, VenueStatus } from "../api/observe/service-status.ts";
import { Tracing } from "../api/observe/tracing.ts";
import { registerPages } from "../api/pages/register-pages.ts";
import { Api } from "../api/server.ts";
import { createBaseFee } from "../chain/fees/base-fee.ts";
import { createPercentileFees, createStockFees } from "../chain/fees/fee-sources.ts";
import { createPriorityFees } from "../chain/fees/priority-fees.ts";
import { createChainHead } from "../chain/head/chain-head.ts";
import { networkName } from "../chain/head/network-name.ts";
import { createLanding } from "../chain/landing/landing.ts";
import { createNodeSender, createRelaySender } from "../chain/landing/sender.ts";
import { createSenderPlan } from "../chain/landing/sender-plan.ts";
import { createTipFloor } from "../chain/landing/tip-floor.ts";
import { createAccountReader } from "../chain/rpc/account-reader.ts";
import { createLookupTables } from "../chain/rpc/lookup-tables.ts";
import { NodeError } from "../chain/rpc/node-error.ts";
import { createRpcEndpoint } from "../chain/rpc/rpc-endpoint.ts";
import { createRpcPool } from "../chain/rpc/rpc-pool.ts";
import { createSubscriptions } from "../chain/rpc/subscriptions.ts";
import { createTransactionReader } from "../chain/rpc/transaction-reader.ts";
import { createRpcStateSource, type RpcStateSourceOptions } from "../chain/state/rpc-state-source.ts";
import type { LiveStateSource } from "../chain/state/state-source.ts";
import { createStreamFees } from "../chain/yellowstone/stream-fees.ts";
import { createMarkets, type VenueReport } from "../market/markets.ts";
import { Address } from "../primitives/address.ts";
import { monotonicMs, type Now } from "../primitives/clock.ts";
import { priorityBounds, priorityTrims } from "../process/config/priority-settings.ts";
import type { Config } from "../process/config/settings.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createTokenSealer } from "../trade/build/submission-token.ts";
import type { Trades } from "../trade/trade.ts";
import { createTrades } from "../trade/trades.ts";
import { venues } from "../venues/registry.ts";
import { apiSettings } from "./api-settings.ts";
import { describeChain, type EmbeddedChain, startEmbeddedChain } from "./embedded-chain.ts";
import { serviceGauges } from "./gauges.ts";
import { shareLimits } from "./share-limits.ts";
import { websocketUrl } from "./websocket-url.ts";

/** Where the service reports. A pino logger is one. */
export interface AppLogger {
  debug?(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** The running service. */
export interface App {
  readonly host: string;
  readonly port: number;
  /** How callers reach it. */
  readonly url: string;
  /** The embedded chain, where the service runs on one. */
  readonly chain: EmbeddedChain | undefined;
  /** The same, to be moved by tests and demos, where it runs in this process. */
  readonly sandbox: Sandbox | undefined;
  readonly trades: Trades;
  readonly accounts: Accounts;
  readonly api: Api;
  readonly admin: Admin;
  /** Says "not ready", and asks callers to connect elsewhere while requests are still taken; resolves after LAME_DUCK_MS. */
  drain(): Promise<void>;
  /** Refuses new connections, lets calls under way end, stops everything. */
  close(): Promise<void>;
}

/** Memory of accounts and programs one trade may load: the largest venue programs, both token programs and room beside. Bytes. */
const LOADED_ACCOUNTS_BYTES = 8 * 1024 * 1024;
const LEASE_MS = 5_000;
const CLAIM_TIMEOUT_MS = 50;
/** Accounts whose fees are looked up at each refresh where that is no call across the network. */
const ACCOUNTS_READ_FROM_STREAM = 256;
/** The store is looked at every second; it is said not to answer when it has left two looks unanswered and some more. */
const STORE_SILENT_MS = 3_000;

/**
 * Composes the service from its settings and starts it. Whatever was opened is closed again when a later step fails.
 * @throws Error when a port is taken, a file cannot be read, a node or the database cannot be reached
 */
export async function startApp(options: {
  readonly config: Config;
  readonly logger: AppLogger;
  readonly now?: Now;
  /** An embedded chain that runs in another process, in place of nodes. */
  readonly chain?: EmbeddedChain | undefined;
}): Promise<App> {
  const closers: (() => unknown)[] = [];
  const onClose = (close: () => unknown) => closers.unshift(close);
  const closeAll = async () => {
    for (const close of closers.splice(0)) await close();
  };
  try {
    return await compose({ ...options, now: options.now ?? Date.now, onClose, closeAll });
  } catch (error) {
    await closeAll();
    // Whoever starts the service may know which node it is, and what that said.
    throw error instanceof NodeError ? new Error(String(error)) : error;
  }
}

async function compose(parts: {
  readonly config: Config;
  readonly logger: AppLogger;
  readonly now: Now;
  readonly chain?: EmbeddedChain | undefined;
  readonly onClose: (close: () => unknown) => void;
  readonly closeAll: () => Promise<void>;
}): Promise<App> {
  const { config, logger, now, onClose, closeAll } = parts;
  const warn = (message: string) => logger.warn({}, message);

  const needsChain = config.solanaRpcUrls === undefined && parts.chain === undefined;
  const sandbox = needsChain ? await startEmbeddedChain(config) : undefined;
  if (sandbox !== undefined) onClose(() => sandbox.close());
  const chain = sandbox === undefined ? parts.chain : describeChain(sandbox);
  const rpcUrls = chain === undefined ? config.solanaRpcUrls! : [chain.rpcUrl];
  const wsUrls = chain === undefined ? (config.solanaWsUrls ?? rpcUrls.map(websocketUrl)) : [chain.wsUrl];

  const secrets = loadSecrets(config.dataDir, { keyPepper: config.keyPepper, tokenKeys: config.tokenKeys });
  const store = await openStore({ dataDir: config.dataDir, databaseUrl: config.databaseUrl });
  onClose(() => store.close());
  await requirePepper(store, secrets.keyPepper);
  onClose(startSweeping(store, now));
  const keys = createKeyDirectory({ store, pepper: secrets.keyPepper, now: monotonicMs });
  onClose(() => keys.close());

  const pool = createRpcPool({ endpoints: rpcUrls.map((url) => createRpcEndpoint({ url, now })), now, warn });
  const subscriptions = createSubscriptions({ urls: wsUrls, now, warn });
  onClose(() => subscriptions.close());
  const head = await createChainHead({ pool, subscriptions, now, warn, maxAgeMs: config.blockhashMaxAgeMs });
  onClose(() => head.close());
  const trims = priorityTrims(config);
  const stream =
    config.yellowstoneUrl === undefined
      ? undefined
      : createStreamFees({ url: config.yellowstoneUrl, token: config.yellowstoneToken, now, warn, trims });
  if (stream !== undefined) onClose(() => stream.close());
  const fees = createPriorityFees({
    sources: [
      ...(stream === undefined ? [] : [stream]),
      createPercentileFees(pool, { now, warn, trims }),
      createStockFees(pool, trims),
    ],
    ...(stream === undefined ? {} : { accountsPerRefresh: ACCOUNTS_READ_FROM_STREAM }),
    now,
    warn,
    bounds: priorityBounds(config),
  });
  onClose(() => fees.close());
  const relays = config.relays ?? [];
  const tipFloorUrls = new Set(relays.flatMap(({ tipFloor }) => tipFloor?.url ?? []));
  const tipFloors = new Map([...tipFloorUrls].map((url) => [url, createTipFloor({ url, now, warn })] as const));
  onClose(() => {
    for (const tipFloor of tipFloors.values()) tipFloor.close();
  });
  const senders = [
    ...pool.endpoints.map((endpoint, i) => createNodeSender(endpoint, i, { now, warn })),
    ...relays.map((relay) => createRelaySender(relay, { ...relay, now, warn })),
  ];
  const landing = createLanding({ pool, senders, subscriptions, head, now, warn });
  onClose(() => landing.close());
  const reader = createAccountReader({ pool, commitment: "processed", isCredible: head.isCredible });
  const source = await openStateSource(config, { reader, subscriptions, now, warn, headSlot: head.slot });
  onClose(() => source.close());
  const markets = createMarkets({
    reader,
    source,
    head,
    venues,
    now,
    warn,
    maxAgeMs: config.stateMaxAgeMs,
    maxMarketsPerPair: config.marketsPerPair,
    researchMs: config.marketSearchIntervalMs,
    researchPaceMs: config.marketSearchSpacingMs,
  });
  onClose(() => markets.close());

  const lookupTables = await createLookupTables({
    reader,
    addresses: config.lookupTables ?? chain?.lookupTables.map(Address.of) ?? [],
    warn,
  });
  onClose(() => lookupTables.close());

  const baseFee = await createBaseFee({ pool, head, warn });
  onClose(() => baseFee.close());

  const sealer = createTokenSealer({ keys: secrets.tokenKeys, genesisHash: head.genesisHash(), now });
  const owner = randomUUID();
  const metrics = new Metrics();
  const trades = createTrades(
    {
      markets,
      head,
      fees,
      senders: createSenderPlan(relays, tipFloors),
      sealer,
      now,
      lookupTables: () => lookupTables.tables(),
      baseFee: () => baseFee.lamports(),
      settings: {
        computeUnitMarginPercent: config.computeUnitMarginPercent,
        loadedAccountsBytes: LOADED_ACCOUNTS_BYTES,
        expiryMarginMs: config.expiryMarginMs,
        transactionV1: config.transactionV1 === "on",
      },
    },
    {
      sealer,
      submissions: createSubmissions(store, now),
      landing,
      transactions: createTransactionReader({ pool }),
      venues,
      now,
      warn,
      owner,
      observe: (report) => metrics.recordSubmission(report),
      settings: { answerMs: config.submitTimeoutMs, leaseMs: LEASE_MS, claimTimeoutMs: CLAIM_TIMEOUT_MS },
    },
    randomInt,
  );
  onClose(() => trades.close());

  const tls =
    config.tlsCert === undefined || config.tlsKey === undefined
      ? undefined
      : { cert: readFileSync(config.tlsCert, "utf8"), key: readFileSync(config.tlsKey, "utf8") };
  const urlAt = (host: string, port: number) =>
    `${tls === undefined ? "http" : "https"}://${reachableHost(host)}:${port}`;
  let listeningPort = config.port;
  const publicUrl = () => config.publicUrl ?? urlAt(config.host, listeningPort);
  const network = chain === undefined ? (config.signInChainId ?? networkName(head.genesisHash())) : "localnet";
  const serving = () => head.slotAgeMs() < config.stateMaxAgeMs;
  const accounts = createAccounts({
    store,
    keys,
    pepper: secrets.keyPepper,
    publicUrl,
    chainId: network,
    maxKeysPerAccount: config.maxKeysPerAccount,
    now,
  });
  let draining = false;
  const readiness = (): Readiness => {
    // A store that is away stops registration and first uses of keys. Whoever is known trades on, so it alone takes no
    // process out of service: all would go at once.
    const storeAnswers = keys.storeAgeMs() < STORE_SILENT_MS;
    return {
      ready: serving() && !draining,
      checks: {
        chain: serving() ? "ok" : `the last slot was seen ${head.slotAgeMs()} ms ago`,
        store: storeAnswers ? "ok" : "does not answer: registration and keys not used before are refused",
        process: draining ? "draining" : "ok",
      },
    };
  };
  const tracing =
    config.otelExporterOtlpEndpoint === undefined
      ? undefined
      : new Tracing({
          endpoint: config.otelExporterOtlpEndpoint,
          headers: config.otelExporterOtlpHeaders,
          serviceName: config.otelServiceName,
          percent: config.tracePercent,
          epochOffsetMs: performance.timeOrigin,
          randomBytes,
          warn,
        });
  if (tracing !== undefined) onClose(() => tracing.close());
  const observe: CallObserver = (record) => {
    metrics.record(record);
    tracing?.record(record);
    logCall(config, logger, record);
  };
  const api = new Api({
    nowMs: monotonicMs,
    requestIdPrefix: randomBytes(6).toString("hex"),
    observe,
    trades,
    accounts,
    keys,
    logger,
    serving,
    settings: apiSettings(config, { tls, publicUrl }),
  });
  if (config.databaseUrl !== undefined && config.limitSyncMs > 0) {
    onClose(shareLimits(api.limits, createLimitUsage(store, owner, now), config.limitSyncMs));
  }
  const admin = await startAdminSomewhere(logger, {
    host: config.adminHost,
    port: config.adminPort,
    metrics: () => metrics.describe(),
    readiness,
  });
  metrics.watch(
    serviceGauges({ api, head, keys, markets, source, landing, senders, isReady: () => serving() && !draining }),
  );
  onClose(() => admin.close());
  onClose(() => api.close());
  const status = (): ServiceStatus => ({
    serving: serving(),
    network,
    chain: {
      slot: Number(head.slot()),
      blockHeight: Number(head.blockHeight()),
      slotMs: head.slotMs(),
      slotAgeMs: head.slotAgeMs(),
    },
    venues: markets.report().map((report) => venueStatus(report, serving(), now())),
    senders: senders.map((sender) => ({ name: sender.name, state: sender.isCooling() ? "down" : "up" })),
    tokens: chain?.tokens ?? [],
  });
  registerPages(api.fastify, status, monotonicMs);
  const { host, port } = await api.listen();
  listeningPort = port;
  const url = urlAt(host, port);
  return {
    host,
    port,
    url,
    chain,
    sandbox,
    trades,
    accounts,
    api,
    admin,
    async drain() {
      draining = true;
      api.drain();
      await new Promise((resolve) => setTimeout(resolve, config.lameDuckMs));
    },
    close: closeAll,
  };
}

function venueStatus({ id, markets, lastSearch }: VenueReport, isServing: boolean, nowMs: number): VenueStatus {
  const state = !isServing ? "waiting" : lastSearch === undefined ? "idle" : lastSearch.ok ? "ready" : "failing";
  return { id, state, markets, searchAgeMs: lastSearch === undefined ? null : Math.max(0, nowMs - lastSearch.atMs) };
}

/** A taken admin port is a reason to complain, not to serve nobody. */
async function startAdminSomewhere(logger: AppLogger, parts: AdminParts): Promise<Admin> {
  try {
    return await startAdmin(parts);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    const admin = await startAdmin({ ...parts, port: 0 });
    logger.error({ wanted: parts.port, port: admin.port }, "the admin port is taken; another is used");
    return admin;
  }
}

/** A line for every submit, and for every call where so much is asked for. Keys, tokens and bytes of trades are never in one. */
function logCall(config: Config, logger: AppLogger, record: CallRecord): void {
  const isSubmit = record.method === "Submit";
  if (!isSubmit && config.logLevel !== "debug" && config.logLevel !== "trace") return;
  const { requestId, method, code, durationMs, keyId, stages } = record;
  const facts = {
    requestId,
    method,
    code,
    ms: Math.round(durationMs * 1_000) / 1_000,
    keyId,
    stages: stages.describe(),
  };
  if (isSubmit) logger.info(facts, "submit");
  else logger.debug?.(facts, "call");
}

/** What speaks to a Yellowstone server is loaded only where there is one. */
async function openStateSource(
  config: Config,
  parts: Pick<RpcStateSourceOptions, "reader" | "subscriptions" | "now" | "warn" | "headSlot">,
): Promise<LiveStateSource> {
  if (config.yellowstoneUrl === undefined) return createRpcStateSource({ ...parts, commitment: "processed" });
  const { createYellowstoneStateSource } = await import("../chain/yellowstone/yellowstone-state-source.ts");
  return createYellowstoneStateSource({ ...parts, url: config.yellowstoneUrl, token: config.yellowstoneToken });
}

/** A listening address as something to connect to: "every interface" is reached on this machine by its loopback. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
