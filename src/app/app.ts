import { randomBytes, randomUUID } from "node:crypto";
import { createAccounts } from "../accounts/accounts.ts";
import { createLimitUsage } from "../accounts/limit-usage.ts";
import type { Accounts } from "../accounts/port.ts";
import { OBSERVED_METHODS } from "../api/call/access.ts";
import type { Admin } from "../api/observe/admin.ts";
import { Metrics } from "../api/observe/metrics.ts";
import { RecentMinutes } from "../api/observe/recent-figures.ts";
import { FAUCET_SOL, registerFaucet } from "../api/pages/faucet.ts";
import { registerPages } from "../api/pages/register-pages.ts";
import { Api } from "../api/server.ts";
import { NodeError } from "../chain/rpc/node-error.ts";
import type { Config } from "../config/settings.ts";
import type { Address } from "../primitives/address.ts";
import { LAMPORTS_PER_SOL } from "../primitives/amount.ts";
import { monotonicMs, type Now, steadyClock } from "../primitives/clock.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Trades } from "../trade/trade.ts";
import { venues } from "../venues/registry.ts";
import { openAccounts } from "./account-parts.ts";
import { apiSettings } from "./api-settings.ts";
import { requestAirdrop } from "./chain/airdrop.ts";
import { type ChainLocation, locateChain } from "./chain/chain-location.ts";
import { connectChain } from "./chain/chain-parts.ts";
import type { EmbeddedChain } from "./chain/embedded-chain.ts";
import { type AppContext, type AppLogger, Closers } from "./context.ts";
import { watchMarkets } from "./market-parts.ts";
import { connectionsWithin, mostOpenFiles } from "./open-files.ts";
import type { OtherWorkers } from "./other-workers.ts";
import { PublicAddress } from "./public-address.ts";
import { DeployedVenues } from "./report/deployed-venues.ts";
import { serviceGauges } from "./report/gauges.ts";
import { Health } from "./report/health.ts";
import { LandedTrades } from "./report/landed-trades.ts";
import { LimitedWarnings } from "./report/limited-warnings.ts";
import { observeCalls, openAdmin } from "./report/observers.ts";
import { type OwnProcess, processGauges } from "./report/process-gauges.ts";
import { describeNetwork, describeStatus } from "./report/service-status.ts";
import { connectShadow, type ShadowParts } from "./shadow/shadow-parts.ts";
import { shareLimits } from "./share-limits.ts";
import { openTrades } from "./trade-parts.ts";
import "./v8-rules.ts";

/** The running service. */
export interface App {
  readonly host: string;
  readonly port: number;
  /** How callers reach it. */
  readonly url: string;
  /** The embedded chain, if the service runs on one. */
  readonly chain: EmbeddedChain | undefined;
  /** The same, for tests and demos to control, if it runs in this process. */
  readonly sandbox: Sandbox | undefined;
  /** Gives lamports of the embedded chain to a wallet, or resolves to false if it lets the address receive none; undefined on a public network. */
  readonly giveSol: ((wallet: Address, lamports: bigint) => Promise<boolean>) | undefined;
  readonly trades: Trades;
  readonly accounts: Accounts;
  readonly api: Api;
  readonly admin: Admin;
  /** Undefined if it is off. */
  readonly shadow: ShadowParts | undefined;
  /** Shows new connections what the files of TLS_CERT and TLS_KEY hold now. @throws Error if that is no certificate and its key */
  renewCertificate(): void;
  /** Reports "not ready" and closes connections after each response, while requests are still served; resolves after LAME_DUCK_MS. */
  drain(): Promise<void>;
  /** Refuses new connections, lets pending calls finish, stops everything. */
  close(): Promise<void>;
}

/**
 * Composes the service from its settings and starts it. If a step fails, everything opened before it is closed again.
 * @throws Error if a port is taken, a file cannot be read, a node or the database cannot be reached
 */
export async function startApp(options: {
  readonly config: Config;
  readonly logger: AppLogger;
  readonly now: Now;
  /** An embedded chain that runs in another process; used instead of nodes. */
  readonly chain?: EmbeddedChain | undefined;
  /** Called once if the nodes now serve another chain: none of this service's state is valid there. */
  readonly onForeignChain?: (message: string) => void;
  /** The process it runs in, whose memory and processor time its metrics report. */
  readonly own?: OwnProcess;
  /** Present if others share its port. */
  readonly otherWorkers?: OtherWorkers | undefined;
  /** The socket of this machine's shadow process; absent: one is started, if the settings ask for it. */
  readonly shadowPath?: string | undefined;
}): Promise<App> {
  const { config, logger, now, onForeignChain } = options;
  const closers = new Closers();
  const warnings = closers.keep(new LimitedWarnings((message) => logger.warn({}, message), monotonicMs));
  const context: AppContext = {
    config,
    logger,
    wallMs: now,
    steadyMs: steadyClock(now, monotonicMs),
    random: Math.random,
    warn: (message) => warnings.warn(message),
    onForeignChain,
    own: options.own,
    otherWorkers: options.otherWorkers,
    closers,
  };
  try {
    return await compose(context, await locateChain(context, options.chain, options.shadowPath));
  } catch (error) {
    // What kept it from starting is told, not what failed to close on the way.
    await closers.close().catch(() => {});
    // The operator may see which node failed and what it said.
    throw error instanceof NodeError ? new Error(String(error)) : error;
  }
}

async function compose(context: AppContext, location: ChainLocation): Promise<App> {
  const { config, closers } = context;
  const owner = randomUUID();
  const metrics = new Metrics(OBSERVED_METHODS);
  const parts = await openParts(context, location);
  const { shadow } = parts;
  const trades = await openTrades(context, parts, { metrics, owner });
  const address = new PublicAddress(config);
  const network = describeNetwork(context, location, parts);
  const health = new Health({ ...parts, maxAgeMs: config.stateMaxAgeMs });
  const accounts = openAccountService(context, parts, { address, network });
  const api = openApi(context, { ...parts, accounts, trades, health }, { address, metrics, owner });
  const admin = await openAdmin(context, {
    metrics: () => metrics.describe(),
    readiness: () => health.readiness(),
  });
  metrics.watch(serviceGauges({ ...parts, api, trades, canBuild: () => health.canBuild() }));
  if (context.own !== undefined) metrics.watch(processGauges(context.own));
  closers.keep(api);
  openPages(context, { ...parts, location, health, network, trades }, { api, metrics });
  const giveSol = openFaucet(location, api);

  const { host, port } = await api.listen();
  address.listensOn(port);
  return {
    host,
    port,
    url: address.urlAt(host),
    chain: location.embedded,
    giveSol,
    sandbox: location.sandbox,
    trades,
    accounts,
    api,
    admin,
    shadow,
    renewCertificate() {
      const certificate = address.readCertificate();
      if (certificate !== undefined) api.renewCertificate(certificate);
    },
    async drain() {
      health.startDraining();
      api.drain();
      await new Promise((resolve) => setTimeout(resolve, config.lameDuckMs));
    },
    close: () => closers.close(),
  };
}

/** What trades are made of: the database, the chain, live markets, and what checks them. */
async function openParts(context: AppContext, location: ChainLocation) {
  const { config, logger } = context;
  const { embedded } = location;
  const accounts = await openAccounts(context);
  const chain = await connectChain(context, location);
  const shadow = connectShadow(context, chain, location);
  const markets = await watchMarkets(context, chain, { ...accounts, embedded, shadow });
  const landed = new LandedTrades({
    marginPercent: config.computeUnitMarginPercent,
    recheck: (market, unitsRatio) => shadow?.checks.noteLanded(market, unitsRatio),
    log: (facts, message) => logger.warn(facts, message),
  });
  return { ...accounts, ...chain, ...markets, embedded, shadow, landed };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

function openAccountService(
  { config }: AppContext,
  { store, keys, secrets, clock }: Parts,
  { address, network }: { readonly address: PublicAddress; readonly network: string },
): Accounts {
  return createAccounts({
    store,
    keys,
    pepper: secrets.keyPepper,
    publicUrl: () => address.publicUrl(),
    chainId: network,
    maxKeysPerAccount: config.maxKeysPerAccount,
    now: clock.now,
    randomBytes,
  });
}

/** The edge, with limits that count the calls of every process on the database. It does not listen yet. */
function openApi(
  context: AppContext,
  parts: Pick<Parts, "store" | "keys"> & {
    readonly accounts: Accounts;
    readonly trades: Trades;
    readonly health: Health;
  },
  { address, metrics, owner }: { readonly address: PublicAddress; readonly metrics: Metrics; readonly owner: string },
): Api {
  const { config, logger, wallMs, closers } = context;
  const { store, keys, accounts, trades, health } = parts;
  const api = new Api({
    nowMs: monotonicMs,
    wallMs,
    requestIdPrefix: randomBytes(6).toString("hex"),
    observe: observeCalls(context, metrics),
    trades,
    accounts,
    keys,
    logger,
    canBuild: () => health.canBuild(),
    settings: apiSettings(
      { ...config, ...heldConnections(context) },
      { tls: address.tls, publicUrl: () => address.publicUrl() },
    ),
  });
  const { databaseUrl, limitSyncMs } = config;
  if (databaseUrl !== undefined && limitSyncMs > 0)
    closers.add(shareLimits(api.limits, createLimitUsage(store, owner, wallMs, monotonicMs, limitSyncMs), limitSyncMs));
  return api;
}

/** Serves the pages, which show the status of the service. */
function openPages(
  context: AppContext,
  parts: Omit<Parameters<typeof describeStatus>[1], "deployed" | "recent"> & { readonly trades: Trades },
  { api, metrics }: { readonly api: Api; readonly metrics: Metrics },
): void {
  const { config, closers } = context;
  const { trades, location, reader } = parts;
  const deployed = new DeployedVenues(reader, venues, monotonicMs);
  const recent = publishesFigures(config, location)
    ? closers.keep(new RecentMinutes(() => ({ ...metrics.snapshot(), venues: trades.venueCounts() })))
    : undefined;
  // Asked for once now: the first page is to know it.
  deployed.absent();
  registerPages(api.documents, () => describeStatus(context, { ...parts, deployed, recent }), monotonicMs);
}

/** The connections of callers that this process may hold. Says if they are fewer than the settings allow. */
function heldConnections({ config, warn }: AppContext): ReturnType<typeof connectionsWithin> {
  const files = mostOpenFiles();
  const held = connectionsWithin(files, config);
  if (held.maxConnections < config.maxConnections)
    warn(
      `MAX_CONNECTIONS is ${config.maxConnections}, and this process may open ${files} files: it holds ${held.maxConnections} connections. Raise the limit (ulimit -n, LimitNOFILE), or lower MAX_CONNECTIONS.`,
    );
  return held;
}

/** Serves the faucet of an embedded chain. @returns what gives its lamports; undefined on a public network */
function openFaucet({ embedded }: ChainLocation, { documents }: Api): App["giveSol"] {
  if (embedded === undefined) return undefined;
  const giveSol = (wallet: Address, lamports: bigint) => requestAirdrop(embedded.rpcUrl, wallet, lamports);
  registerFaucet(documents, (wallet) => giveSol(wallet, BigInt(FAUCET_SOL) * LAMPORTS_PER_SOL));
  return giveSol;
}

/** Whether anyone may see how much is traded here: on a test chain unless the settings say otherwise. */
function publishesFigures({ statusFigures }: Config, { embedded }: ChainLocation): boolean {
  return statusFigures === undefined ? embedded !== undefined : statusFigures === "on";
}
