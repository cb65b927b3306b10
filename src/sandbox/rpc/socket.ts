import type { WebSocket } from "ws";
import { answerCalls, type RpcRequest } from "./dispatch.ts";
import { stringifyExact } from "./json.ts";
import type { Node } from "./method.ts";
import { Params } from "./params.ts";
import { invalidParams, RPC_ERROR, RpcError } from "./rpc-error.ts";
import { FEEDS } from "./subscriptions.ts";

const MAX_SUBSCRIPTIONS = 1_000;
/** A subscriber that reads this slowly is cut off, so that it cannot fill the memory. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

const SUBSCRIBE = "Subscribe";
const UNSUBSCRIBE = "Unsubscribe";

interface Subscription {
  readonly kind: string;
  /** Equal for subscriptions to the same. */
  readonly key: string;
  readonly stop: () => void;
}

let lastId = 0;
/** As nodes do: while anyone is subscribed to something, everyone who subscribes to the same gets the same number. */
const numbers = new Map<string, { readonly id: number; holders: number }>();

function takeNumber(key: string): number {
  const known = numbers.get(key) ?? { id: ++lastId, holders: 0 };
  known.holders += 1;
  numbers.set(key, known);
  return known.id;
}

function returnNumber(key: string): void {
  const known = numbers.get(key)!;
  known.holders -= 1;
  if (known.holders === 0) numbers.delete(key);
}

/** Serves subscriptions on one WebSocket until it closes. */
export function serveSocket(node: Node, socket: WebSocket): void {
  const subscriber = new Subscriber(node, socket);
  socket.on("message", (data) => subscriber.receive(String(data)));
  socket.on("close", () => subscriber.endAll());
  // A broken frame is the sender's fault; `ws` closes the connection after this event.
  socket.on("error", () => socket.terminate());
}

/** One connection, and what it is subscribed to. */
class Subscriber {
  readonly #node: Node;
  readonly #socket: WebSocket;
  /** By number. */
  readonly #subscriptions = new Map<number, Subscription>();

  constructor(node: Node, socket: WebSocket) {
    this.#node = node;
    this.#socket = socket;
  }

  /** Answers a message, and begins what it has subscribed to. */
  receive(text: string): void {
    const begins: (() => void)[] = [];
    const answer = answerCalls(text, ({ method, params }: RpcRequest) => {
      if (method.endsWith(UNSUBSCRIBE))
        return this.#unsubscribe(method.slice(0, -UNSUBSCRIBE.length), new Params(params));
      if (method.endsWith(SUBSCRIBE))
        return this.#subscribe(method.slice(0, -SUBSCRIBE.length), new Params(params), begins);
      throw new RpcError(RPC_ERROR.methodNotFound, "Method not found");
    });
    if (answer !== undefined) this.#send(answer);
    // Only now does the subscriber know its number, and can make sense of a notification.
    for (const begin of begins) begin();
  }

  /** Ends every subscription. */
  endAll(): void {
    for (const id of [...this.#subscriptions.keys()]) this.#end(id);
  }

  #subscribe(kind: string, params: Params, begins: (() => void)[]): number {
    const key = `${kind} ${params.key}`;
    const known = numbers.get(key)?.id;
    if (known !== undefined && this.#subscriptions.has(known)) return known;
    const open = FEEDS.get(kind);
    if (open === undefined) throw new RpcError(RPC_ERROR.methodNotFound, "Method not found");
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) throw invalidParams("Too many subscriptions on this connection");
    const { chain } = this.#node;
    let id = 0;
    const notify = (result: unknown) => {
      const notice = { jsonrpc: "2.0", method: `${kind}Notification`, params: { result, subscription: id } };
      this.#send(stringifyExact(notice));
    };
    const feed = open(chain, params, notify, () => this.#end(id));
    id = takeNumber(key);
    this.#subscriptions.set(id, { kind, key, stop: chain.listen(feed.listener) });
    if (feed.begin !== undefined) begins.push(feed.begin);
    return id;
  }

  #unsubscribe(kind: string, params: Params): boolean {
    const id = params.parseInteger(0, "subscription");
    if (this.#subscriptions.get(id)?.kind !== kind) throw invalidParams("Invalid subscription id.");
    return this.#end(id);
  }

  /** @returns false if there is none of that number */
  #end(id: number): boolean {
    const ended = this.#subscriptions.get(id);
    if (ended === undefined) return false;
    ended.stop();
    returnNumber(ended.key);
    return this.#subscriptions.delete(id);
  }

  #send(text: string): void {
    const socket = this.#socket;
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(text);
  }
}
