import { Worker } from "node:worker_threads";
import type { Address } from "../primitives/address.ts";
import { type ChainOptions, DEFAULT_START_SLOT, type GenesisAccount } from "./chain/genesis.ts";
import { type SandboxOrder, type SandboxReply, type SandboxWorkerData, toPlainAccount } from "./sandbox-protocol.ts";
import { createWorld, type World } from "./world/world.ts";

const DEFAULT_SLOT_MS = 400;

/** All optional: without any, a chain on a free port with the world of seed 1. */
interface SandboxOptions
  extends Pick<
    ChainOptions,
    "seed" | "unixTimestamp" | "startSlot" | "confirmedAfterSlots" | "finalizedAfterSlots" | "keepSlots"
  > {
  /** HTTP port; WebSocket is served there and on the next. 0, the default: any free pair. */
  readonly port?: number;
  /** Default 127.0.0.1: everyone who can reach the port can use the faucet. */
  readonly host?: string;
  /** Milliseconds from slot to slot. Default 400. */
  readonly slotMs?: number;
  /** A folder of compiled programs to run instead of the stand-ins. */
  readonly programsDir?: string;
  /** Replaces the world drawn from the seed. */
  readonly world?: World;
}

/** A running embedded chain. Reach it as any node, through its URLs; the rest is for tests and demos. */
export interface Sandbox {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly world: World;
  /** Stops the slot timer. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Lets this many slots pass at once. @returns the slot now open */
  advanceSlots(count: number): Promise<number>;
  /** Leaves the next `count` slots without a block, as absent leaders do, at the pace of slots. */
  skipSlots(count: number): Promise<void>;
  /** While true, `sendTransaction` answers as ever, and what it takes never reaches a leader. */
  setDrops(drops: boolean): Promise<void>;
  /** Cuts each transaction's logs at this many bytes; undefined keeps them whole. */
  setLogLimit(bytes: number | undefined): Promise<void>;
  /** Switches to another branch: drops the newest `depth` blocks that are not confirmed. @returns how many were dropped */
  fork(depth: number): Promise<number>;
  /** How many slots confirmation and finality take from now on. */
  setDelays(delays: { readonly confirmedAfterSlots: number; readonly finalizedAfterSlots: number }): Promise<void>;
  /** Milliseconds from slot to slot, from the next slot on. */
  setSlotMs(slotMs: number): Promise<void>;
  /** Sets the lamports that accounts must hold per byte. */
  setRent(lamportsPerByte: bigint): Promise<void>;
  /** Moves the chain's clock by this many seconds, from the next slot on. */
  warpClock(seconds: number): Promise<void>;
  /** Writes accounts past the runtime. */
  setAccounts(accounts: readonly GenesisAccount[]): Promise<void>;
  /** Replaces a program by another build, in the open slot: an upgrade, as the chain shows it. */
  setProgram(id: Address, code: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the embedded chain in a thread of its own, behind JSON-RPC and WebSocket.
 *
 * @throws Error if the port or the next one is taken
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const seed = options.seed ?? 1;
  const startSlot = options.startSlot ?? DEFAULT_START_SLOT;
  const unixTimestamp = options.unixTimestamp ?? Math.floor(Date.now() / 1000);
  const world =
    options.world ??
    createWorld({
      seed,
      slot: BigInt(startSlot),
      unixTimestamp: BigInt(unixTimestamp),
      ...(options.programsDir === undefined ? {} : { programsDir: options.programsDir }),
    });
  const host = options.host ?? "127.0.0.1";
  const workerData: SandboxWorkerData = {
    host,
    port: options.port ?? 0,
    slotMs: options.slotMs ?? DEFAULT_SLOT_MS,
    chain: {
      seed,
      startSlot,
      unixTimestamp,
      ...(options.confirmedAfterSlots === undefined ? {} : { confirmedAfterSlots: options.confirmedAfterSlots }),
      ...(options.finalizedAfterSlots === undefined ? {} : { finalizedAfterSlots: options.finalizedAfterSlots }),
      ...(options.keepSlots === undefined ? {} : { keepSlots: options.keepSlots }),
    },
    programs: world.programs.map(({ id, bytes }) => ({ id: id.bytes, bytes })),
    accounts: world.accounts.map(toPlainAccount),
  };
  const thread = new SandboxThread(workerData);
  const { port } = (await thread.ready) as { port: number };
  const authority = host.includes(":") ? `[${host}]` : host;
  return {
    rpcUrl: `http://${authority}:${port}`,
    wsUrl: `ws://${authority}:${port + 1}`,
    world,
    pause: () => thread.order({ kind: "pause" }) as Promise<void>,
    resume: () => thread.order({ kind: "resume" }) as Promise<void>,
    advanceSlots: (count) => thread.order({ kind: "advanceSlots", count }) as Promise<number>,
    skipSlots: (count) => thread.order({ kind: "skipSlots", count }) as Promise<void>,
    setDrops: (drops) => thread.order({ kind: "setDrops", drops }) as Promise<void>,
    setLogLimit: (bytes) => thread.order({ kind: "setLogLimit", bytes }) as Promise<void>,
    fork: (depth) => thread.order({ kind: "fork", depth }) as Promise<number>,
    setDelays: (delays) => thread.order({ kind: "setDelays", ...delays }) as Promise<void>,
    setSlotMs: (slotMs) => thread.order({ kind: "setSlotMs", slotMs }) as Promise<void>,
    setRent: (lamportsPerByte) => thread.order({ kind: "setRent", lamportsPerByte }) as Promise<void>,
    warpClock: (seconds) => thread.order({ kind: "warpClock", seconds }) as Promise<void>,
    setAccounts: (accounts) =>
      thread.order({ kind: "setAccounts", accounts: accounts.map(toPlainAccount) }) as Promise<void>,
    setProgram: (id, code) => thread.order({ kind: "setProgram", program: id.bytes, code }) as Promise<void>,
    close: () => thread.close(),
  };
}

/** The worker seen from outside: each order gets an answer; if the thread dies, pending orders fail with the reason. */
class SandboxThread {
  readonly ready: Promise<unknown>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ended = Promise.withResolvers<void>();
  #failure: Error | undefined;
  #lastId = 0;

  constructor(workerData: SandboxWorkerData) {
    this.#worker = new Worker(new URL("./sandbox-worker.ts", import.meta.url), { workerData });
    this.ready = this.#wait(0);
    this.#worker.on("message", (reply: SandboxReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(error as Error));
    this.#worker.on("exit", () => {
      this.#fail(new Error("the embedded chain has been closed"));
      this.#ended.resolve();
    });
  }

  order(order: SandboxOrder): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = this.#wait(id);
    if (this.#failure === undefined) this.#worker.postMessage({ ...order, id });
    return answer;
  }

  async close(): Promise<void> {
    if (this.#failure === undefined) await this.order({ kind: "close" });
    await this.#ended.promise;
  }

  #wait(id: number): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>();
    if (this.#failure === undefined) this.#waiting.set(id, waiting);
    else waiting.reject(this.#failure);
    return waiting.promise;
  }

  #settle(reply: SandboxReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.result);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }
}
