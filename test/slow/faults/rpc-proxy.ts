import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import { WebSocket, WebSocketServer } from "ws";
import { RECENT_BLOCKHASHES_SYSVAR } from "../../../src/solana/programs.ts";
import type { Mutator } from "./mutation.ts";

/** What is wrong with a node. Everything at its first value: nothing. */
export interface Faults {
  /** Refuse: nobody listens. Reset: connections are torn down. Blackhole: taken and never answered. */
  readonly connection: "open" | "refuse" | "reset" | "blackhole";
  readonly delayMs: number;
  readonly httpStatus: 200 | 429 | 503;
  readonly answers: "true" | "wrongId" | "huge" | "truncated" | "badTypes" | "redirect";
  /** Added to every slot and height the node reports. */
  readonly slotShift: number;
  /** The node is honest and so many slots behind: it knows no later transaction. Its accounts and blockhashes are the newest all the same. */
  readonly lagSlots: number;
  /** Every token balance the node reports is multiplied by this. */
  readonly balances: 1 | 0.5 | 2;
  /** Added to the last valid block height alone. */
  readonly lastValidShift: number;
  /** The newest blockhash it names is of no block. */
  readonly foreignBlockhash: boolean;
  /** The newest blockhash it names is that of 141 blocks before. */
  readonly oldBlockhash: boolean;
  /** The node knows of no transaction, by status, record or wallet. */
  readonly hidesStatuses: boolean;
  /** Statuses of every transaction asked for, also of those in no block. */
  readonly statuses: "true" | "failed" | "succeeded";
  /** Changes answers and notices. */
  readonly mutator: Pick<Mutator, "changesNotices" | "mutate"> | undefined;
  /** Changes the whole text of what answers a request with a call of that method. */
  readonly reply: { readonly method: string; readonly change: (text: string) => ChangedReply } | undefined;
  /** Dropped and held sends are answered as if they were taken. */
  readonly sends: "forward" | "drop" | "hold";
  /** In place of the true samples of getRecentPrioritizationFees. */
  readonly priorityFees: readonly number[] | undefined;
  /** Over HTTP and WebSocket; "all" of them. */
  readonly refusedMethods: readonly string[] | "all";
  /** As a JSON-RPC error of that number, or with an HTTP status and no JSON. */
  readonly refusedWith: -32601 | 403 | 410;
  /** True: it has no WebSocket. */
  readonly refusesSockets: boolean;
  /** Silent: connected, and never a word. Duplicate: everything twice. Lossy: every fourth notice is lost, others swap places. */
  readonly notices: "true" | "silent" | "duplicate" | "lossy";
}

/** What goes over HTTP in place of an answer. */
export interface ChangedReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const HEALTHY: Faults = {
  connection: "open",
  delayMs: 0,
  httpStatus: 200,
  answers: "true",
  slotShift: 0,
  lagSlots: 0,
  balances: 1,
  lastValidShift: 0,
  foreignBlockhash: false,
  oldBlockhash: false,
  hidesStatuses: false,
  statuses: "true",
  mutator: undefined,
  reply: undefined,
  sends: "forward",
  priorityFees: undefined,
  refusedMethods: [],
  refusedWith: -32601,
  refusesSockets: false,
  notices: "true",
};

const GET_SLOT = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "getSlot", params: [{ commitment: "processed" }] });
/** The bytes of one entry in the list of recent blockhashes. */
const GET_OLD_BLOCKHASH = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 0, method: "getAccountInfo" },
  params: [
    RECENT_BLOCKHASHES_SYSVAR.toString(),
    { commitment: "confirmed", encoding: "base64", dataSlice: { offset: 8 + 40 * 141, length: 32 } },
  ],
});

/** A call in its envelope, by itself or in a list. */
interface NodeCall {
  readonly id: number;
  readonly method: string;
  readonly params: unknown[];
}

interface ProxyReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One broadcast as it came in. */
export interface SendEntry {
  readonly atMs: number;
  /** Base64. */
  readonly transaction: string;
}

/** Moments at which a call can be observed: on arrival, and after the node's answer but before the caller receives it. */
export type CallPhase = "arrived" | "answered";

/** A node between the service and the chain that can fail and lie, and writes down what it is sent. */
export interface RpcProxy {
  readonly url: string;
  readonly wsUrl: string;
  readonly sends: readonly SendEntry[];
  /** Calls so far, by method. */
  readonly calls: ReadonlyMap<string, number>;
  /** Calls that took so long that a caller with another node repeats them there. */
  readonly slowCalls: number;
  /** JSON-RPC error numbers the true node answered with. */
  readonly errors: ReadonlyMap<number, number>;
  set(faults: Partial<Faults>): Promise<void>;
  heal(): Promise<void>;
  cutSockets(): void;
  /** Sends what was held. */
  release(): Promise<void>;
  /** Called with every call; the answer waits for it. */
  onCall: ((method: string, phase: CallPhase) => void | Promise<void>) | undefined;
  close(): Promise<void>;
}

/** Below the 400 ms after which the service repeats a call: the way there and back takes time too. Milliseconds. */
const SLOW_MS = 250;
const HUGE_BYTES = 12 * 1024 * 1024;

export async function startRpcProxy(target: { readonly rpcUrl: string; readonly wsUrl: string }): Promise<RpcProxy> {
  return new LyingProxy(target).start();
}

class LyingProxy implements RpcProxy {
  readonly sends: SendEntry[] = [];
  readonly calls = new Map<string, number>();
  readonly errors = new Map<number, number>();
  slowCalls = 0;
  onCall: RpcProxy["onCall"];
  readonly #target: { readonly rpcUrl: string; readonly wsUrl: string };
  readonly #connections = new Set<Socket>();
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #held: string[] = [];
  #server: Server | undefined;
  #faults: Faults = HEALTHY;
  #port = 0;

  constructor(target: { readonly rpcUrl: string; readonly wsUrl: string }) {
    this.#target = target;
    this.#sockets.on("connection", (inside) => this.#bridge(inside));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<this> {
    await this.#listen();
    return this;
  }

  async set(faults: Partial<Faults>): Promise<void> {
    this.#faults = { ...this.#faults, ...faults };
    const { connection } = this.#faults;
    if (connection === "refuse") await this.#unlisten();
    else await this.#listen();
    if (connection === "reset") for (const socket of this.#connections) socket.resetAndDestroy();
  }

  heal(): Promise<void> {
    return this.set(HEALTHY);
  }

  cutSockets(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  async release(): Promise<void> {
    await Promise.all(this.#held.splice(0).map((body) => this.#forward(body)));
  }

  async close(): Promise<void> {
    await this.#unlisten();
  }

  async #listen(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    server.keepAliveTimeout = 65_000;
    server.on("connection", (socket) => {
      this.#connections.add(socket);
      socket.on("close", () => this.#connections.delete(socket));
      socket.on("error", () => {});
      if (this.#faults.connection === "reset") socket.resetAndDestroy();
    });
    server.on("upgrade", (request, socket, head) => {
      if (this.#faults.refusesSockets) socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
      else if (this.#faults.connection === "open")
        this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#sockets.emit("connection", ws));
      else if (this.#faults.connection !== "blackhole") socket.destroy();
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  async #unlisten(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    this.cutSockets();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked: NodeCall | readonly NodeCall[] = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const replies = await Promise.all(("id" in asked ? [asked] : asked).map((call) => this.#reply(call)));
    const odd = replies.find((reply) => reply === undefined || reply.status !== 200);
    if (replies.includes(undefined) || response.destroyed) return;
    if (odd !== undefined) {
      response.writeHead(odd.status, odd.headers).end(odd.text);
      return;
    }
    const texts = replies.map((reply) => reply!.text);
    const text = "id" in asked ? texts[0]! : `[${texts.join()}]`;
    const { reply } = this.#faults;
    if (reply !== undefined && [asked].flat().some(({ method }) => method === reply.method)) {
      const { status = 200, headers, body } = reply.change(text);
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    if (this.#faults.answers === "truncated") response.end(text.slice(0, text.length / 2));
    else response.end(text);
  }

  /** The reply to one call of a request; undefined: none ever comes. */
  async #reply(call: NodeCall): Promise<ProxyReply | undefined> {
    const { id, method, params } = call;
    const arrivedMs = performance.now();
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    if (method === "sendTransaction") this.sends.push({ atMs: Date.now(), transaction: params[0] as string });
    await this.onCall?.(method, "arrived");
    const faults = this.#faults;
    if (faults.connection === "blackhole") return undefined;
    if (faults.delayMs > 0) await sleep(faults.delayMs);
    if (faults.httpStatus !== 200)
      return { status: faults.httpStatus, headers: { "content-type": "text/plain" }, text: "not now" };
    if (faults.answers === "redirect") return { status: 302, headers: { location: this.#target.rpcUrl }, text: "" };
    const isRefused = this.#refuses(method);
    if (isRefused && faults.refusedWith !== -32601)
      return { status: faults.refusedWith, headers: { "content-type": "text/html" }, text: "<p>Not on this plan</p>" };
    const text = isRefused ? refusalOf(id) : await this.#answer(JSON.stringify(call), method, id);
    if (performance.now() - arrivedMs > SLOW_MS) this.slowCalls += 1;
    await this.onCall?.(method, "answered");
    return { status: 200, headers: {}, text };
  }

  #withStatuses(result: unknown): unknown {
    const { statuses } = this.#faults;
    if (statuses === "true") return result;
    const { context, value } = result as { context: { slot: number }; value: unknown[] };
    const err = statuses === "failed" ? { InstructionError: [2, { Custom: 6005 }] } : null;
    const slot = context.slot - 2;
    return { context, value: value.map(() => ({ slot, confirmations: 3, err, confirmationStatus: "confirmed" })) };
  }

  /** The text of a notice, changed or not. */
  #mutated(text: string): string {
    const { mutator } = this.#faults;
    if (mutator?.changesNotices !== true || !text.includes('"params"')) return text;
    const notice = JSON.parse(text) as { method: string; params: { result: unknown } };
    notice.params.result = mutator.mutate(notice.method, notice.params.result);
    return JSON.stringify(notice);
  }

  #refuses(method: string): boolean {
    const { refusedMethods } = this.#faults;
    return refusedMethods === "all" || refusedMethods.includes(method);
  }

  async #answer(body: string, method: string, id: number): Promise<string> {
    const { answers, sends, hidesStatuses, priorityFees, slotShift, lastValidShift, lagSlots } = this.#faults;
    if (answers === "huge") return `{"jsonrpc":"2.0","id":${id},"result":"${"x".repeat(HUGE_BYTES)}"}`;
    if (method === "sendTransaction" && sends !== "forward") {
      if (sends === "hold") this.#held.push(body);
      return JSON.stringify({ jsonrpc: "2.0", id, result: "taken" });
    }
    const text = withBalances(await this.#forward(body), this.#faults.balances);
    if (answers === "wrongId") return text.replace(/"id":\d+/, `"id":${id + 1_000_000}`);
    const isTrue =
      answers === "true" &&
      slotShift === 0 &&
      lagSlots === 0 &&
      lastValidShift === 0 &&
      !this.#faults.foreignBlockhash &&
      !this.#faults.oldBlockhash &&
      !hidesStatuses &&
      this.#faults.mutator === undefined &&
      this.#faults.statuses === "true";
    if (isTrue && priorityFees === undefined && !text.includes('"error"')) return text;
    const answer = JSON.parse(text) as { result?: unknown; error?: { code: number } };
    if (answer.error !== undefined) {
      this.errors.set(answer.error.code, (this.errors.get(answer.error.code) ?? 0) + 1);
      return text;
    }
    if (answers === "badTypes") return JSON.stringify({ ...answer, result: { context: "none", value: [[], 1, null] } });
    if (hidesStatuses && method === "getSignatureStatuses") {
      const { value } = answer.result as { value: unknown[] };
      (answer.result as { value: unknown[] }).value = value.map(() => null);
    }
    if (method === "getSignatureStatuses") answer.result = this.#withStatuses(answer.result);
    if (hidesStatuses && method === "getTransaction") answer.result = null;
    if (hidesStatuses && method === "getSignaturesForAddress") answer.result = [];
    if (priorityFees !== undefined && method === "getRecentPrioritizationFees") {
      const slot = await this.#slot();
      answer.result = priorityFees.map((prioritizationFee, i) => ({ slot: slot - i, prioritizationFee }));
    }
    const { mutator } = this.#faults;
    if (mutator !== undefined) answer.result = mutator.mutate(method, answer.result);
    if (lagSlots > 0) answer.result = asBehind(method, answer.result, await this.#slot(), lagSlots);
    answer.result = shifted(answer.result, slotShift, lastValidShift);
    if (this.#faults.foreignBlockhash && method === "getLatestBlockhash")
      Object.assign((answer.result as { value: object }).value, { blockhash: bs58.encode(randomBytes(32)) });
    if (this.#faults.oldBlockhash && method === "getLatestBlockhash")
      Object.assign((answer.result as { value: object }).value, { blockhash: await this.#oldBlockhash() });
    return JSON.stringify(answer);
  }

  /** The newest slot of the chain. */
  async #slot(): Promise<number> {
    return (JSON.parse(await this.#forward(GET_SLOT)) as { result: number }).result;
  }

  /** The oldest of the 142 newest blockhashes. Base58. */
  async #oldBlockhash(): Promise<string> {
    const answer = JSON.parse(await this.#forward(GET_OLD_BLOCKHASH)) as { result: { value: { data: [string] } } };
    return bs58.encode(Buffer.from(answer.result.value.data[0], "base64"));
  }

  async #forward(body: string): Promise<string> {
    const response = await fetch(this.#target.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return response.text();
  }

  /** Carries one WebSocket to the true node and back. */
  #bridge(inside: WebSocket): void {
    const outside = new WebSocket(this.#target.wsUrl);
    const unsent: string[] = [];
    let count = 0;
    let late: string | undefined;
    inside.on("message", (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: number; method: string };
      this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
      if (this.#refuses(method)) {
        inside.send(refusalOf(id));
        return;
      }
      if (outside.readyState === WebSocket.OPEN) outside.send(String(data));
      else unsent.push(String(data));
    });
    outside.on("open", () => {
      for (const text of unsent) outside.send(text);
    });
    outside.on("message", (data) => {
      const { notices, balances, connection, lagSlots } = this.#faults;
      const slotShift = this.#faults.slotShift - lagSlots;
      if (lagSlots > 0 && String(data).includes("signatureNotification")) return;
      if (notices === "silent" || connection === "blackhole" || inside.readyState !== WebSocket.OPEN) return;
      const notice = withBalances(this.#mutated(String(data)), balances);
      const text = slotShift === 0 ? notice : JSON.stringify(shifted(JSON.parse(notice), slotShift, 0));
      const isNotice = text.includes('"method"') && !text.includes("slotNotification");
      if (notices === "lossy" && isNotice) {
        count += 1;
        if (count % 4 === 0) return;
        if (late === undefined) {
          late = text;
          return;
        }
        inside.send(text);
        inside.send(late);
        late = undefined;
        return;
      }
      inside.send(text);
      if (notices === "duplicate") inside.send(text);
    });
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      one.on("error", () => {});
      one.on("close", () => other.terminate());
    }
  }
}

const refusalOf = (id: number) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });

const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_AMOUNT = 64;

/** The answer with the balance of every token account in it changed. */
function withBalances(text: string, factor: Faults["balances"]): string {
  if (factor === 1) return text;
  return text.replaceAll(/"([A-Za-z0-9+/]{220})"/g, (quoted, base64: string) => {
    const data = Buffer.from(base64, "base64");
    if (data.length !== TOKEN_ACCOUNT_BYTES) return quoted;
    const amount = data.readBigUInt64LE(TOKEN_AMOUNT);
    data.writeBigUInt64LE(factor === 2 ? amount * 2n : amount / 2n, TOKEN_AMOUNT);
    return `"${data.toString("base64")}"`;
  });
}

/** What a node that is so many slots behind answers, in place of what the newest state gives. */
function asBehind(method: string, result: unknown, newest: number, slots: number): unknown {
  const isKnown = ({ slot }: { readonly slot: number }) => slot <= newest - slots;
  switch (method) {
    case "getTransaction":
      return result !== null && isKnown(result as { slot: number }) ? result : null;
    case "getSignaturesForAddress":
      return (result as { slot: number }[]).filter(isKnown);
    case "getBlocks":
      return (result as number[]).filter((slot) => isKnown({ slot }));
    case "getBlock":
      return result;
    case "getSignatureStatuses": {
      const { context, value } = result as { context: { slot: number }; value: ({ slot: number } | null)[] };
      const known = value.map((status) => (status !== null && isKnown(status) ? status : null));
      return { context: { ...context, slot: context.slot - slots }, value: known };
    }
    default:
      return typeof result === "number" ? result - slots : shifted(result, -slots, 0);
  }
}

const SLOT_FIELDS = new Set(["slot", "absoluteSlot", "parent", "root", "blockHeight"]);

/** The value with every slot and height in it moved. */
function shifted(value: unknown, slots: number, lastValid: number): unknown {
  if (slots === 0 && lastValid === 0) return value;
  if (Array.isArray(value)) return value.map((entry) => shifted(entry, slots, lastValid));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, held]) => {
      if (typeof held !== "number") return [field, shifted(held, slots, lastValid)];
      if (field === "lastValidBlockHeight") return [field, held + slots + lastValid];
      return [field, SLOT_FIELDS.has(field) ? held + slots : held];
    }),
  );
}
