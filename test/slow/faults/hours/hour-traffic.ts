import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { TradeService } from "../../../../gen/tradewire/v1/trade_pb.ts";
import { SwapMode } from "../../../../gen/tradewire/v1/types_pb.ts";
import { Address } from "../../../../src/primitives/address.ts";
import type { Rig } from "../rig.ts";
import type { Faults } from "../rpc-proxy.ts";
import { ended, submitUntilEnded } from "../scenario.ts";
import { type History, type TradeOrder, Trader } from "../trader.ts";

const PATIENCE_MS = 120_000;
/** Typed callers leave nothing open behind them. */
const IDLE_MS = 500;

const TRANSPORTS: readonly ((baseUrl: string) => Transport)[] = [
  (baseUrl) => createGrpcTransport({ baseUrl, idleConnectionTimeoutMs: IDLE_MS }),
  (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", idleConnectionTimeoutMs: IDLE_MS }),
];

/** What happens to one of two nodes for a while. */
const TROUBLES: readonly Partial<Faults>[] = [
  { connection: "refuse" },
  { connection: "reset" },
  { connection: "blackhole" },
  { delayMs: 2_000 },
  { httpStatus: 429 },
  { httpStatus: 503 },
  { lagSlots: 5 },
  { hidesStatuses: true },
  { sends: "drop" },
  { notices: "silent" },
  { notices: "lossy" },
  { notices: "duplicate" },
  { answers: "wrongId" },
  { answers: "truncated" },
  { refusesSockets: true },
];

/** Callers of every kind, and nodes that fail now and then, until it is stopped. */
export class HourTraffic {
  readonly #rig: Rig;
  readonly #over = new AbortController();
  /** Of callers who come once; their keys are not searched for in the logs. */
  readonly #passing: History = { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] };
  #newcomers = 0;
  readonly #errands: readonly (() => Promise<unknown>)[];
  /** Trades that ended, and errands that were made. */
  trades = 0;
  errands = 0;

  constructor(rig: Rig) {
    this.#rig = rig;
    this.#errands = [
      () => this.#ask("/v1/tx/quote", this.#quote()),
      () => this.#ask("/v1/tx/quote", { ...this.#quote(), worstCase: true, maxPaths: 4 }),
      () => this.#ask("/v1/tx/buy", { ...this.#order().body, mint: this.#anyAddress() }),
      () => this.#ask("/v1/tx/submit", { submissionToken: "tw1.none", signedTransaction: "AAAA" }),
      () => this.#ask("/v1/tx/buy", "{".repeat(50)),
      () => this.#ask("/v1/tx/buy", "x".repeat(20_000)),
      () => this.#ask("/v1/tx/buy", this.#order().body, "nobody"),
      () => this.#ask("/v1/tx?limit=20"),
      () => this.#ask("/v1/auth/profile"),
      () => this.#ask("/v1/auth/balances"),
      () => this.#ask("/v1/priority"),
      () => this.#ask("/v1/absent"),
      () => this.#ask(`/v1/tx/${this.#rig.history.builds.at(-1)?.signature}`),
      () => this.#leaves(`/v1/tx/${this.#rig.history.builds.at(-1)?.signature}/events`),
      () =>
        this.#leaves(`/v1/quotes/stream?${new URLSearchParams({ ...this.#quote(), amount: "0.5", slippage: "0.05" })}`),
      () => this.#typedQuote(),
      () => this.#typedStream(),
      () => this.#halfARequest(),
      () => this.#newcomer(),
    ];
  }

  /** Runs until `stop`, and until the trades under way have ended. */
  async run(): Promise<void> {
    const { traders } = this.#rig;
    await Promise.all([...traders.map((trader) => this.#trade(trader)), this.#runErrands(), this.#trouble()]);
  }

  stop(): void {
    this.#over.abort();
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Builds, now and then without a submit or with two at once, and follows each trade to its end. */
  async #trade(trader: Trader): Promise<void> {
    const { random } = this.#rig;
    while (!this.#isOver) {
      await this.#pause(300, 1_500);
      const service = this.#rig.services[0]!;
      const built = await trader.build(service.url, this.#order());
      if (built === undefined || random.chance(0.1)) continue;
      if (random.chance(0.1)) void trader.submit(service, built);
      const last = await submitUntilEnded(this.#rig, trader, built, PATIENCE_MS);
      if (ended(last)) this.trades += 1;
      if (random.chance(0.2)) await trader.find(service, built);
    }
  }

  async #runErrands(): Promise<void> {
    while (!this.#isOver) {
      await this.#pause(100, 600);
      // A caller who is refused or cut off has been served.
      await this.#rig.random
        .pick(this.#errands)()
        .catch(() => {});
      this.errands += 1;
    }
  }

  /** One node at a time; every now and then both are away. */
  async #trouble(): Promise<void> {
    const { random, proxies } = this.#rig;
    while (!this.#isOver) {
      await this.#pause(20_000, 60_000);
      const isAll = random.chance(0.1);
      const troubled = isAll ? proxies : [random.pick(proxies)];
      const faults = isAll ? ({ connection: "refuse" } as const) : random.pick(TROUBLES);
      for (const proxy of troubled) {
        proxy.cutSockets();
        await proxy.set(faults);
      }
      await this.#pause(2_000, 15_000);
      for (const proxy of troubled) await proxy.heal();
    }
  }

  /** @returns early once it is over */
  async #pause(leastMs: number, mostMs: number): Promise<void> {
    const ms = leastMs + (this.#rig.random.u32() % (mostMs - leastMs));
    await sleep(ms, undefined, { signal: this.#over.signal }).catch(() => {});
  }

  #order(): TradeOrder {
    const { random, sandbox } = this.#rig;
    const mint = random.pick(sandbox.world.tokens).mint.toString();
    return random.chance(0.6)
      ? { path: "buy", body: { mint, solAmount: random.pick([0.001, 0.01, 0.1]) } }
      : { path: "sell", body: { mint, sellPercent: random.pick([25, 50, 100]) } };
  }

  #quote() {
    const { random, sandbox } = this.#rig;
    const outputMint = random.pick(sandbox.world.tokens).mint.toString();
    return { inputMint: "SOL", outputMint, amount: 0.5, swapMode: "exactIn", slippage: 0.05 };
  }

  #anyAddress(): string {
    return Address.from(this.#rig.random.bytes(32)).toString();
  }

  get #url(): string {
    return this.#rig.services[0]!.url;
  }

  get #key(): string {
    return this.#rig.history.secrets[0]!;
  }

  /** A GET without a body. */
  async #ask(path: string, body?: object | string, key = this.#key): Promise<string> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent =
      body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
    return (await fetch(this.#url + path, { headers, ...sent })).text();
  }

  /** Opens a stream of events and leaves after a while. */
  async #leaves(path: string): Promise<void> {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${this.#key}` };
    const response = await fetch(this.#url + path, { headers, signal: leaving.signal });
    await this.#pause(100, 1_500);
    leaving.abort();
    await response.body?.cancel();
  }

  #client() {
    return createClient(TradeService, this.#rig.random.pick(TRANSPORTS)(this.#url));
  }

  #typedAsk() {
    return { ...this.#quote(), swapMode: SwapMode.EXACT_IN };
  }

  #typedQuote() {
    return this.#client().quote(this.#typedAsk(), { headers: { authorization: `Bearer ${this.#key}` } });
  }

  async #typedStream(): Promise<void> {
    const headers = { authorization: `Bearer ${this.#key}` };
    let left = 3;
    for await (const _ of this.#client().watchQuote(this.#typedAsk(), { headers, timeoutMs: 2_000 }))
      if (--left === 0) return;
  }

  /** Sends a part of a request and resets its connection. */
  async #halfARequest(): Promise<void> {
    const { hostname, port } = new URL(this.#url);
    const socket = net.connect(Number(port), hostname).on("error", () => {});
    socket.write("POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    await this.#pause(10, 500);
    socket.resetAndDestroy();
  }

  /** A new wallet that registers, looks round and revokes its key. */
  async #newcomer(): Promise<void> {
    const seed = 1_000_000 + this.#rig.options.seed * 100_000 + this.#newcomers++;
    await new Trader(seed, this.#passing).register(this.#url);
    const key = this.#passing.secrets.pop()!;
    await this.#ask("/v1/auth/balances", undefined, key);
    const { data } = JSON.parse(await this.#ask("/v1/auth/keys", undefined, key));
    const headers = { authorization: `Bearer ${key}` };
    await fetch(`${this.#url}/v1/auth/keys/${data.keys[0].keyId}`, { method: "DELETE", headers });
  }
}
