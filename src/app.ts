import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createAccounts } from "./accounts/accounts.ts";
import { createKeyDirectory } from "./accounts/key-directory.ts";
import type { Accounts } from "./accounts/port.ts";
import { startSweeping } from "./accounts/retention.ts";
import { loadSecrets } from "./accounts/secrets.ts";
import { openStore } from "./accounts/store.ts";
import { createSubmissions } from "./accounts/submissions.ts";
import { type Api, createApi } from "./api/server.ts";
import { DEFAULT_API_SETTINGS } from "./api/settings.ts";
import { createAccountReader } from "./chain/account-reader.ts";
import { createChainHead } from "./chain/chain-head.ts";
import { createLanding } from "./chain/landing.ts";
import { createLookupTables } from "./chain/lookup-tables.ts";
import { createNodeLane } from "./chain/lane.ts";
import { createPriorityFees } from "./chain/priority-fees.ts";
import { createRpcEndpoint } from "./chain/rpc-endpoint.ts";
import { createRpcPool } from "./chain/rpc-pool.ts";
import { createRpcStateSource } from "./chain/rpc-state-source.ts";
import { createSubscriptions } from "./chain/subscriptions.ts";
import { createTransactionReader } from "./chain/transaction-reader.ts";
import { type Config, priorityBounds, websocketUrl } from "./config.ts";
import { createMarkets } from "./market/markets.ts";
import type { Now } from "./primitives/clock.ts";
import { type Sandbox, startSandbox } from "./sandbox/sandbox.ts";
import { createTokenSealer } from "./trade/submission-token.ts";
import type { Trades } from "./trade/trade.ts";
import { createTrades } from "./trade/trades.ts";
import { venues } from "./venues/registry.ts";

/** Where the service reports. A pino logger is one. */
export interface AppLogger {
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
  /** The embedded chain, where there is one. */
  readonly sandbox: Sandbox | undefined;
  readonly trades: Trades;
  readonly accounts: Accounts;
  readonly api: Api;
  /** Refuses new connections, lets calls under way end, stops everything. */
  close(): Promise<void>;
}

/** Memory of accounts and programs one trade may load: the largest venue programs, both token programs and room beside. Bytes. */
const LOADED_ACCOUNTS_BYTES = 8 * 1024 * 1024;
const LEASE_MS = 5_000;
const CLAIM_TIMEOUT_MS = 100;

/**
 * Composes the service from its settings and starts it. Whatever was opened is closed again when a later step fails.
 * @throws Error when a port is taken, a file cannot be read, a node or the database cannot be reached
 */
export async function startApp(options: {
  readonly config: Config;
  readonly logger: AppLogger;
  readonly now?: Now;
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
    throw error;
  }
}

async function compose(parts: {
  readonly config: Config;
  readonly logger: AppLogger;
  readonly now: Now;
  readonly onClose: (close: () => unknown) => void;
  readonly closeAll: () => Promise<void>;
}): Promise<App> {
  const { config, logger, now, onClose, closeAll } = parts;
  const warn = (message: string) => logger.warn({}, message);

  const sandbox = config.solanaRpcUrls === undefined ? await openSandbox(config) : undefined;
  if (sandbox !== undefined) onClose(() => sandbox.close());
  const rpcUrls = config.solanaRpcUrls ?? [sandbox!.rpcUrl];
  const wsUrls = config.solanaWsUrls ?? (sandbox === undefined ? rpcUrls.map(websocketUrl) : [sandbox.wsUrl]);

  const secrets = loadSecrets(config.dataDir, { keyPepper: config.keyPepper, tokenKeys: config.tokenKeys });
  const store = await openStore({ dataDir: config.dataDir, databaseUrl: config.databaseUrl });
  onClose(() => store.close());
  onClose(startSweeping(store, now));
  const keys = createKeyDirectory({ store, pepper: secrets.keyPepper, now });
  onClose(() => keys.close());

  const pool = createRpcPool({ endpoints: rpcUrls.map((url) => createRpcEndpoint({ url, now })), now, warn });
  const subscriptions = createSubscriptions({ urls: wsUrls, now, warn });
  onClose(() => subscriptions.close());
  const head = await createChainHead({ pool, subscriptions, now, warn, maxAgeMs: config.blockhashMaxAgeMs });
  onClose(() => head.close());
  const fees = createPriorityFees({ pool, now, warn, bounds: priorityBounds(config) });
  onClose(() => fees.close());
  const lanes = pool.endpoints.map((endpoint, i) => createNodeLane(endpoint, i, { now }));
  const landing = createLanding({ pool, lanes, subscriptions, head, now, warn });
  onClose(() => landing.close());
  const reader = createAccountReader({ pool, commitment: "processed" });
  const source = createRpcStateSource({ reader, subscriptions, now, warn, commitment: "processed" });
  onClose(() => source.close());
  const markets = createMarkets({ reader, source, head, venues, now, warn, maxAgeMs: config.stateMaxAgeMs });
  onClose(() => markets.close());

  const lookupTables = await createLookupTables({ reader, addresses: config.lookupTables, warn });
  onClose(() => lookupTables.close());

  const sealer = createTokenSealer({ keys: secrets.tokenKeys, genesisHash: head.genesisHash(), now });
  const trades = createTrades(
    {
      markets,
      head,
      fees,
      sealer,
      now,
      lookupTables: () => lookupTables.tables(),
      settings: {
        computeUnitMarginPercent: config.computeUnitMarginPercent,
        loadedAccountsBytes: LOADED_ACCOUNTS_BYTES,
        expiryMarginMs: config.expiryMarginMs,
      },
    },
    {
      sealer,
      submissions: createSubmissions(store, now),
      landing,
      transactions: createTransactionReader({ pool }),
      venues,
      now,
      owner: randomUUID(),
      settings: { answerMs: config.submitAnswerMs, leaseMs: LEASE_MS, claimTimeoutMs: CLAIM_TIMEOUT_MS },
      warn,
    },
  );

  const tls =
    config.tlsCert === undefined || config.tlsKey === undefined
  onClose(() => trades.close());
      ? undefined
      : { cert: readFileSync(config.tlsCert, "utf8"), key: readFileSync(config.tlsKey, "utf8") };
  const publicUrl =
    config.publicUrl ?? `${tls === undefined ? "http" : "https"}://${reachableHost(config.host)}:${config.port}`;
  const accounts = createAccounts({
    store,
    keys,
    pepper: secrets.keyPepper,
    publicUrl,
    chainId: sandbox === undefined ? config.signInChainId : "localnet",
    maxKeysPerAccount: config.maxKeysPerAccount,
    now,
  });
  const api = await createApi({
    trades,
    accounts,
    keys,
    logger,
    serving: () => head.slotAgeMs() < config.stateMaxAgeMs,
    settings: {
      ...DEFAULT_API_SETTINGS,
      host: config.host,
      port: config.port,
      tls,
      publicUrl,
      keepAliveMs: config.keepAliveMs,
      keepAliveHintMs: config.keepAliveHintMs,
      maxRequestsPerConnection: config.maxRequestsPerConnection,
      bodyLimitBytes: config.bodyLimitBytes,
      headerLimitBytes: config.headerLimitBytes,
      headersTimeoutMs: config.headersTimeoutMs,
      requestTimeoutMs: config.requestTimeoutMs,
      drainMs: config.drainMs,
    },
  });
  onClose(() => api.close());
  const { host, port } = await api.listen();
  const url = `${tls === undefined ? "http" : "https"}://${reachableHost(host)}:${port}`;
  return { host, port, url, sandbox, trades, accounts, api, close: closeAll };
}

function openSandbox(config: Config): Promise<Sandbox> {
  return startSandbox({
    port: config.sandboxPort,
    seed: config.sandboxSeed,
    slotMs: config.sandboxSlotMs,
    ...(config.sandboxPrograms === undefined ? {} : { programsDir: config.sandboxPrograms }),
  });
}

/** A listening address as something to connect to: "every interface" is reached on this machine by its loopback. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
