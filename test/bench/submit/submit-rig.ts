import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { BenchChild, serviceArgs } from "../child.ts";
import type { WireRequest } from "../wires/wire-requests.ts";
import type { NodeAnswer, NodeQuestion, NodeReady } from "./chain-node.ts";
import { buyOf, openTraders, type SignedTrade, signTrades, type Trader } from "./trades.ts";

/** Settings under which limits and the machine's speed decide nothing. */
const UNLIMITED = {
  PORT: "0",
  ADMIN_PORT: "0",
  BLOCKHASH_MAX_AGE_MS: "30000",
  STATE_MAX_AGE_MS: "30000",
  BUILD_QUEUE_MS: "10000",
  BUILD_PER_SECOND: "1000000",
  ADDRESS_BUILD_PER_SECOND: "1000000",
  SUBMIT_PER_SECOND: "1000000",
  ADDRESS_SUBMIT_PER_SECOND: "1000000",
  SHADOW_EXECUTION: "off",
} as const;
const SLOT_MS = 200;
const TRADERS = 8;
const MINTS = 8;
/** How long the service is left alone, to know what it uses then. Milliseconds. */
const REST_MS = 2_000;

/** A service and what it has used. */
export interface RigService {
  readonly port: number;
  /** Undefined if it did not start. */
  readonly pid: number | undefined;
  /** Processor time the service has used. Microseconds. */
  cpu(): Promise<number>;
  close(): void;
}

/** A chain behind one node or two, and the service of a revision on it, each in a process of its own. */
export class SubmitRig implements RigService {
  readonly port: number;
  readonly ready: NodeReady;
  readonly #chain: BenchChild;
  readonly #service: RigService;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #traders: readonly Trader[];

  private constructor(
    chain: BenchChild,
    ready: NodeReady,
    service: RigService,
    environment: Readonly<Record<string, string>>,
    traders: readonly Trader[],
  ) {
    this.#chain = chain;
    this.ready = ready;
    this.#service = service;
    this.port = service.port;
    this.#environment = environment;
    this.#traders = traders;
  }

  /**
   * @param root of the service's revision
   * @param nodeArgs beside those that the service runs with
   */
  static async start(
    root: string,
    nodes: 1 | 2,
    settings: Readonly<Record<string, string>> = {},
    nodeArgs: readonly string[] = [],
  ): Promise<SubmitRig> {
    const chain = new BenchChild(fileURLToPath(new URL("chain-node.ts", import.meta.url)), root, {
      args: [`${SLOT_MS}`],
    });
    const ready = await chain.next<NodeReady>();
    const urls = ready.urls.slice(0, nodes);
    const environment = {
      ...UNLIMITED,
      SOLANA_RPC_URLS: urls.join(","),
      SOLANA_WS_URLS: urls.map(() => ready.wsUrl).join(","),
      ...settings,
    };
    const service = await startService(root, environment, nodeArgs);
    const traders = await openTraders(service.port, urls[0]!, TRADERS);
    return new SubmitRig(chain, ready, service, environment, traders);
  }

  get pid(): number | undefined {
    return this.#service.pid;
  }

  cpu(): Promise<number> {
    return this.#service.cpu();
  }

  /** Another service on the same chain and with the same settings. */
  startAnother(root: string): Promise<RigService> {
    return startService(root, this.#environment);
  }

  /** Processor time the service uses when nothing is asked of it. Microseconds a millisecond. */
  async restingCpu(): Promise<number> {
    const before = await this.cpu();
    const atMs = performance.now();
    await sleep(REST_MS);
    return ((await this.cpu()) - before) / (performance.now() - atMs);
  }

  node(question: NodeQuestion): Promise<NodeAnswer> {
    return this.#chain.ask(question);
  }

  /** Builds and signs trades of all wallets and tokens in turn. */
  sign(count: number): Promise<readonly SignedTrade[]> {
    return signTrades(this.port, this.#traders, this.ready.mints.slice(0, MINTS), count);
  }

  /** The same buy for each wallet. */
  buys(): readonly WireRequest[] {
    return this.#traders.map((trader) => buyOf(trader, this.ready.mints[0]!));
  }

  /** A buy of one of the wallets, whatever comes of it. */
  async buy(mint: string, trader = 0): Promise<void> {
    const { path, headers, body } = buyOf(this.#traders[trader]!, mint);
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method: "POST",
      headers,
      body: Buffer.from(body),
    });
    await answer.text();
  }

  close(): void {
    this.#service.close();
    this.#chain.close();
  }
}

async function startService(
  root: string,
  environment: Readonly<Record<string, string>>,
  nodeArgs: readonly string[] = [],
): Promise<RigService> {
  const child = new BenchChild(`${root}/test/bench/submit/service.ts`, root, {
    args: [JSON.stringify(environment)],
    nodeArgs: [...nodeArgs, ...serviceArgs(root)],
  });
  const { port } = await child.next<{ readonly port: number }>();
  return {
    port,
    pid: child.pid,
    cpu: async () => (await child.ask<{ readonly cpu: number }>({})).cpu,
    close: () => child.close(),
  };
}
