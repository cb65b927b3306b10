import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import { WebSocket } from "ws";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import type { WorldToken } from "../../../src/sandbox/world/tokens/token.ts";
import type { BuildEntry, TradeOrder } from "./trader.ts";

/** The pool's balances with their time span, as the witness reads them from the chain. */
interface PoolState {
  readonly slot: number;
  /** Of SOL, then of the token: in the vault, and how much of that is owed to others. */
  readonly held: readonly [bigint, bigint];
  readonly owed: readonly [bigint, bigint];
  readonly fromMs: number;
  /** Infinity while it is the newest. */
  toMs: number;
  /** When the chain turned to a branch without it; undefined while it is part of the chain. */
  deadAtMs: number | undefined;
}

/**
 * On what a build was priced. True: what the pool held then, or not too long before. Mixed: so in each of its accounts, but
 * not in all at once, as when the news of one is lost. Stale: older than that. Dead: of a branch that was left. Unknown: of
 * nothing there ever was.
 */
export type Verdict = "true" | "mixed" | "stale" | "dead" | "unknown";

export interface Judgement {
  /** A state replaced longer ago than this before the build was asked for is stale. */
  readonly mostAgeMs: number;
  /** A state of a branch that was left longer ago than this is dead. */
  readonly deadAfterMs: number;
}

/** Notices of one transaction arrive one after another, within this time. Milliseconds. */
const TOGETHER_MS = 5;
/** Delay by which the witness may trail the service. Milliseconds. */
const SEEN_LATER_MS = 100;
/** Nothing older than this is looked for in a wrong price. Milliseconds. */
const LOOK_BACK_MS = 15_000;
const FEE_DENOMINATOR = 1_000_000n;
const SOL = "So11111111111111111111111111111111111111112";
/** Where a pool account holds what is needed of it, and where its configuration holds the trade fee. Bytes. */
const POOL = { config: 8, vaults: [72, 104], firstMint: 168, feesTaken: [341, 357, 397], hasCreatorFee: 390 } as const;
const CONFIG_TRADE_FEE = 12;
const TOKEN_AMOUNT = 64;

/**
 * Writes down what a constant product pool held at every moment, by the chain's own word, past all that fails and lies; and
 * tells of a build on which of these states it was priced.
 */
export class PoolWitness {
  readonly token: WorldToken;
  readonly #states: PoolState[] = [];
  readonly #socket: WebSocket;
  readonly #accounts = new Map<string, Buffer>();
  readonly #subscribed = new Map<number, string>();
  readonly #asked = new Map<number, string>();
  #changedAtMs: number | undefined;
  #changedSlot = 0;
  #parts!: { readonly pool: string; readonly vaults: readonly [string, string]; readonly feeRate: bigint };
  #newestSlot = 0;

  private constructor(sandbox: Sandbox, token: WorldToken) {
    this.token = token;
    this.#socket = new WebSocket(sandbox.wsUrl);
  }

  /** The first pool against SOL without fees but its own, of a token that trades nowhere else. */
  static async start(sandbox: Sandbox): Promise<PoolWitness> {
    const listed = sandbox.world.tokens;
    for (const token of listed) {
      const isPlain = token.venue === "raydium_cpmm" && `${token.quoteMint}` === SOL && token.transferFeeBps === 0;
      if (!isPlain || listed.filter(({ mint }) => mint === token.mint).length > 1) continue;
      const { data } = await readAccounts(sandbox, [token.market.toString()]);
      if (data[0]![POOL.hasCreatorFee] !== 0) continue;
      const witness = new PoolWitness(sandbox, token);
      await witness.#begin(sandbox, data[0]!);
      return witness;
    }
    throw new Error("this world has no plain pool to witness");
  }

  /** A buy in the witnessed pool. */
  buy(sol = 0.01): TradeOrder {
    return { path: "buy", body: { mint: this.token.mint.toString(), solAmount: sol } };
  }

  /** States so far. */
  get states(): number {
    return this.#states.length;
  }

  /** True when the build trades in the pool. */
  isMovedBy({ signed }: BuildEntry): boolean {
    return Buffer.from(signed, "base64").includes(Buffer.from(this.token.market.bytes));
  }

  /** True when the build was priced on what the pool holds now. */
  isExact(build: BuildEntry): boolean {
    const newest = this.#states.at(-1)!;
    return this.#isPricedOn(build, newest, newest, newest);
  }

  judge(build: BuildEntry, { mostAgeMs, deadAfterMs }: Judgement): Verdict {
    const seen = this.#states.filter(({ fromMs }) => fromMs <= build.endedAtMs + SEEN_LATER_MS);
    const isAlive = ({ deadAtMs }: PoolState) => deadAtMs === undefined || build.startedAtMs <= deadAtMs + deadAfterMs;
    const fresh = seen.filter((state) => isAlive(state) && state.toMs >= build.startedAtMs - mostAgeMs);
    if (fresh.some((state) => this.#isPricedOn(build, state, state, state))) return "true";
    if (this.#isMixOf(build, fresh)) return "mixed";
    const past = seen.filter(({ toMs }) => toMs >= build.startedAtMs - LOOK_BACK_MS);
    if (this.#isMixOf(build, past.filter(isAlive))) return "stale";
    return this.#isMixOf(build, past) ? "dead" : "unknown";
  }

  close(): void {
    this.#socket.terminate();
  }

  #isMixOf(build: BuildEntry, states: readonly PoolState[]): boolean {
    return states.some((pool) =>
      states.some((sol) => states.some((token) => this.#isPricedOn(build, pool, sol, token))),
    );
  }

  /** As the program computes it, from the pool account, the vault of SOL and that of the token. */
  #isPricedOn({ estimates }: BuildEntry, pool: PoolState, sol: PoolState, token: PoolState): boolean {
    const paid = BigInt(estimates.inputAmountRaw);
    const traded = paid - (paid * this.#parts.feeRate + FEE_DENOMINATOR - 1n) / FEE_DENOMINATOR;
    const solReserve = sol.held[0] - pool.owed[0];
    const tokenReserve = token.held[1] - pool.owed[1];
    return (tokenReserve * traded) / (solReserve + traded) === BigInt(estimates.outputAmountRaw);
  }

  async #begin(sandbox: Sandbox, account: Buffer): Promise<void> {
    await new Promise((resolve, reject) => this.#socket.once("open", resolve).once("error", reject));
    this.#socket.on("message", (data) => this.#receive(JSON.parse(String(data))));
    const pool = this.token.market.toString();
    const vaults = POOL.vaults.map((at) => addressAt(account, at)) as [string, string];
    const { data: config } = await readAccounts(sandbox, [addressAt(account, POOL.config)]);
    this.#parts = { pool, vaults, feeRate: config[0]!.readBigUInt64LE(CONFIG_TRADE_FEE) };
    const addresses = [pool, ...vaults];
    addresses.forEach((address, id) => {
      this.#asked.set(id, address);
      this.#send(id, "accountSubscribe", [address, { encoding: "base64", commitment: "processed" }]);
    });
    this.#send(addresses.length, "slotSubscribe", []);
    while (this.#subscribed.size < addresses.length) await sleep(5);
    const { slot, data } = await readAccounts(sandbox, addresses);
    addresses.forEach((address, i) => void this.#accounts.set(address, data[i]!));
    this.#changedSlot = slot;
    this.#record(Date.now());
  }

  #send(id: number, method: string, params: unknown[]): void {
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  #receive(message: {
    id?: number;
    method?: string;
    result?: number;
    params?: { subscription: number; result: never };
  }): void {
    if (message.id !== undefined) {
      const address = this.#asked.get(message.id);
      if (address !== undefined) this.#subscribed.set(message.result!, address);
      return;
    }
    const atMs = Date.now();
    if (message.method === "slotNotification") {
      const { slot, parent } = message.params!.result as { slot: number; parent: number };
      this.#hearSlot(slot, parent, atMs);
      return;
    }
    const address = this.#subscribed.get(message.params!.subscription);
    if (address === undefined) return;
    const { context, value } = message.params!.result as {
      context: { slot: number };
      value: { data: [string, string] };
    };
    this.#accounts.set(address, Buffer.from(value.data[0], "base64"));
    this.#changedSlot = context.slot;
    if (this.#changedAtMs !== undefined) return;
    this.#changedAtMs = atMs;
    setTimeout(() => {
      this.#changedAtMs = undefined;
      this.#record(atMs);
    }, TOGETHER_MS);
  }

  #hearSlot(slot: number, parent: number, atMs: number): void {
    // On another parent than the newest: what was between is gone.
    if (parent < this.#newestSlot) {
      for (const state of this.#states)
        if (state.slot > parent && state.slot <= this.#newestSlot) state.deadAtMs ??= atMs;
    }
    this.#newestSlot = Math.max(this.#newestSlot, slot);
  }

  #record(atMs: number): void {
    const { pool, vaults } = this.#parts;
    const account = this.#accounts.get(pool)!;
    const isSolFirst = addressAt(account, POOL.firstMint) === SOL;
    const sides = isSolFirst ? ([0, 1] as const) : ([1, 0] as const);
    const held = sides.map((side) => this.#accounts.get(vaults[side])!.readBigUInt64LE(TOKEN_AMOUNT));
    const owed = sides.map((side) =>
      POOL.feesTaken.reduce((sum, at) => sum + account.readBigUInt64LE(at + 8 * side), 0n),
    );
    const before = this.#states.at(-1);
    if (before !== undefined) before.toMs = Math.min(before.toMs, atMs);
    this.#states.push({
      slot: this.#changedSlot,
      held: held as [bigint, bigint],
      owed: owed as [bigint, bigint],
      fromMs: atMs,
      toMs: Number.POSITIVE_INFINITY,
      deadAtMs: undefined,
    });
  }
}

const addressAt = (data: Buffer, at: number) => bs58.encode(data.subarray(at, at + 32));

async function readAccounts(
  { rpcUrl }: Sandbox,
  addresses: readonly string[],
): Promise<{ readonly slot: number; readonly data: readonly Buffer[] }> {
  const config = { encoding: "base64", commitment: "processed" };
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getMultipleAccounts", params: [addresses, config] }),
  });
  const { result } = (await response.json()) as {
    result: { context: { slot: number }; value: { data: [string, string] }[] };
  };
  return { slot: result.context.slot, data: result.value.map(({ data }) => Buffer.from(data[0], "base64")) };
}
