import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { type History, type TradeOrder, Trader } from "./trader.ts";

export interface RigOptions {
  readonly seed: number;
  readonly slotMs?: number;
  readonly confirmedAfterSlots?: number;
  readonly endpoints?: number;
  readonly processes?: number;
  readonly traders?: number;
  readonly databaseUrl?: string;
  /** By process, in place of `databaseUrl`. */
  readonly databaseUrls?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Each process talks to the chain through this many nodes of its own, in place of `endpoints` that all share. */
  readonly nodesEach?: number;
  /** By process: how wrong its clock is. */
  readonly clockSkewsMs?: readonly number[];
  /** The processes can say what they hold; default false. */
  readonly measuresMemory?: boolean;
}

const DEFAULT_SLOT_MS = 80;
/** Bytes that rent is paid for beside an account's data. */
export const ACCOUNT_OVERHEAD_BYTES = 128n;
const LAMPORTS_EACH = 1_000_000_000_000;

/** The whole of a scenario: chain, lying nodes, services on one database, callers, and what all of them did. */
export class Rig {
  readonly options: RigOptions;
  readonly random: Random;
  readonly sandbox: Sandbox;
  readonly proxies: readonly RpcProxy[];
  readonly services: ServiceProcess[] = [];
  /** Every process there was, running or not. */
  readonly everyService: ServiceProcess[] = [];
  readonly traders: Trader[] = [];
  readonly history: History = { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] };
  readonly dataDir: string;
  readonly startSlot: number;
  /** Lamports per byte that accounts had to hold, from these slots on. */
  readonly rents: { readonly fromSlot: number; readonly lamportsPerByte: bigint }[] = [];

  private constructor(options: RigOptions, sandbox: Sandbox, proxies: readonly RpcProxy[], startSlot: number) {
    this.options = options;
    this.random = createRandom(options.seed);
    this.sandbox = sandbox;
    this.proxies = proxies;
    this.dataDir = mkdtempSync(join(tmpdir(), "tradewire-faults-"));
    this.startSlot = startSlot;
  }

  async setRent(lamportsPerByte: bigint): Promise<void> {
    await this.sandbox.setRent(lamportsPerByte);
    this.rents.push({ fromSlot: await this.rpc<number>("getSlot", [{ commitment: "processed" }]), lamportsPerByte });
  }

  static async start(options: RigOptions): Promise<Rig> {
    const sandbox = await startSandbox({
      seed: 1 + (options.seed % 4),
      slotMs: options.slotMs ?? DEFAULT_SLOT_MS,
      keepSlots: 100_000,
      ...(options.confirmedAfterSlots === undefined ? {} : { confirmedAfterSlots: options.confirmedAfterSlots }),
    });
    const processes = options.processes ?? 1;
    const count = options.nodesEach === undefined ? (options.endpoints ?? 2) : processes * options.nodesEach;
    const proxies = await Promise.all(Array.from({ length: count }, () => startRpcProxy(sandbox)));
    const startSlot = await rpc<number>(sandbox, "getSlot", [{ commitment: "processed" }]);
    const rig = new Rig(options, sandbox, proxies, startSlot);
    const rentOfNothing = await rig.rpc<number>("getMinimumBalanceForRentExemption", [0]);
    rig.rents.push({ fromSlot: 0, lamportsPerByte: BigInt(rentOfNothing) / ACCOUNT_OVERHEAD_BYTES });
    try {
      // The first one alone: it makes the secrets and the database that all share.
      for (let i = 0; i < processes; i++) await rig.startService(i);
      for (let i = 0; i < (options.traders ?? 2); i++) await rig.addTrader();
    } catch (error) {
      await rig.close();
      throw error;
    }
    return rig;
  }

  async startService(index = this.everyService.length): Promise<ServiceProcess> {
    const { environment, clockSkewsMs, databaseUrls, measuresMemory } = this.options;
    const databaseUrl = databaseUrls?.[index] ?? this.options.databaseUrl;
    const proxies = this.nodesOf(index);
    const service = await startServiceProcess(
      `process ${this.everyService.length + 1}`,
      {
        PORT: "0",
        ADMIN_PORT: "0",
        PUBLIC_URL: "http://tradewire.test",
        DATA_DIR: this.dataDir,
        SIGN_IN_CHAIN_ID: "localnet",
        SOLANA_RPC_URLS: proxies.map(({ url }) => url).join(","),
        SOLANA_WS_URLS: proxies.map(({ wsUrl }) => wsUrl).join(","),
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
        ...environment,
      },
      { clockSkewMs: clockSkewsMs?.[index], measuresMemory },
    );
    this.services.push(service);
    this.everyService.push(service);
    return service;
  }

  /** The nodes of the process with this index, or of the one that replaces it. */
  nodesOf(index: number): readonly RpcProxy[] {
    const { nodesEach } = this.options;
    if (nodesEach === undefined) return this.proxies;
    const from = (index * nodesEach) % this.proxies.length;
    return this.proxies.slice(from, from + nodesEach);
  }

  async addTrader(): Promise<Trader> {
    const trader = new Trader(this.options.seed * 1_000 + this.traders.length, this.history);
    await this.rpc("requestAirdrop", [trader.address, LAMPORTS_EACH]);
    // A fork may drop what is not confirmed.
    while (
      (await this.rpc<{ value: number }>("getBalance", [trader.address, { commitment: "confirmed" }])).value === 0
    ) {
      await sleep(20);
    }
    await trader.register(this.services[0]!.url);
    this.traders.push(trader);
    return trader;
  }

  rpc<T>(method: string, params: unknown[] = []): Promise<T> {
    return rpc(this.sandbox, method, params);
  }

  /** A small buy of the token at that place in the world, wrapped around. */
  buy(index = 0, sol = 0.01): TradeOrder {
    const tokens = this.sandbox.world.tokens.filter(({ venue }) => venue === "raydium_cpmm");
    return { path: "buy", body: { mint: tokens[index % tokens.length]!.mint.toString(), solAmount: sol } };
  }

  /** Builds until it succeeds, for scenarios in which the build is not the point. */
  async built(trader: Trader, order: TradeOrder, service = this.services[0]!, patienceMs = 60_000) {
    for (const until = Date.now() + patienceMs; ; await sleep(50)) {
      const built = await trader.build(service.url, order);
      if (built !== undefined) return built;
      if (Date.now() > until) {
        throw new Error(
          `no build within ${patienceMs} ms: ${JSON.stringify(this.history.refusedBuilds.at(-1))}\n${service.output().slice(-2_000)}`,
        );
      }
    }
  }

  /** Waits until the chain can take none of the messages built any more, and what it took is final. */
  async settle(): Promise<void> {
    const last = Math.max(0, ...this.history.builds.map(({ lastValidBlockHeight }) => lastValidBlockHeight));
    const unfinished = () => {
      const ended = new Set(
        this.history.submits.filter(({ data, error }) => isTerminal(data, error)).map(({ messageHash }) => messageHash),
      );
      return this.history.submits.some(({ messageHash }) => !ended.has(messageHash));
    };
    if (unfinished()) {
      for (;;) {
        const height = await this.rpc<number>("getBlockHeight", [{ commitment: "finalized" }]);
        if (height > last) break;
        await this.sandbox.advanceSlots(Math.min(20, last - height + 1));
        await sleep(20);
      }
    }
    await this.sandbox.advanceSlots(40);
  }

  /** Asks every running process to end. @returns those that did not end well, in words */
  async stopServices(): Promise<string[]> {
    const running = this.services.filter(({ isRunning }) => isRunning);
    const codes = await Promise.all(running.map((service) => service.stop()));
    return running.flatMap(({ name }, i) => (codes[i] === 0 ? [] : [`I7 ${name} ended with code ${codes[i]}`]));
  }

  async close(): Promise<void> {
    await this.stopServices();
    // A story that failed may have taken one from the list to kill it later.
    await Promise.all(this.everyService.filter(({ isRunning }) => isRunning).map((service) => service.kill()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await this.sandbox.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** True for an answer that must never change. */
export function isTerminal(
  data: { readonly status: string } | undefined,
  error: { readonly code: string } | undefined,
) {
  if (data !== undefined) return data.status === "confirmed" || data.status === "finalized";
  return error !== undefined && TERMINAL_ERRORS.has(error.code);
}

/** Errors of a submit that say how the trade ended. */
export const TERMINAL_ERRORS = new Set([
  "TX_EXPIRED",
  "SLIPPAGE_EXCEEDED",
  "PROGRAM_ERROR",
  "INSUFFICIENT_LIQUIDITY",
  "INSUFFICIENT_SOL",
  "INSUFFICIENT_TOKEN_BALANCE",
  "NO_ROUTE",
]);

/** A call to the chain itself, past the proxies. */
async function rpc<T>({ rpcUrl }: Sandbox, method: string, params: unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as { result: T; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
