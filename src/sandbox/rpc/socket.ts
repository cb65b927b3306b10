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
  readonly stop: () => void;
}

let lastId = 0;

/** Serves subscriptions on one WebSocket until it closes. */
export function serveSocket(node: Node, socket: WebSocket): void {
  const subscriptions = new Map<number, Subscription>();

  const send = (text: string) => {
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(text);
  };

  const end = (id: number) => {
    subscriptions.get(id)?.stop();
    return subscriptions.delete(id);
  };

  const subscribe = (kind: string, params: Params, begins: (() => void)[]): number => {
    const open = FEEDS[kind];
    if (open === undefined) throw new RpcError(RPC_ERROR.methodNotFound, "Method not found");
    if (subscriptions.size >= MAX_SUBSCRIPTIONS) throw invalidParams("Too many subscriptions on this connection");
    const id = ++lastId;
    const notify = (result: unknown) =>
      send(stringifyExact({ jsonrpc: "2.0", method: `${kind}Notification`, params: { result, subscription: id } }));
    const feed = open(node.chain, params, notify, () => end(id));
    subscriptions.set(id, { kind, stop: node.chain.listen(feed.listener) });
    if (feed.begin !== undefined) begins.push(feed.begin);
    return id;
  };

  const unsubscribe = (kind: string, params: Params): boolean => {
    const id = params.parseInteger(0, "subscription");
    if (subscriptions.get(id)?.kind !== kind) throw invalidParams("Invalid subscription id.");
    return end(id);
  };

  socket.on("message", (data) => {
    const begins: (() => void)[] = [];
    const answer = answerCalls(String(data), ({ method, params }: RpcRequest) => {
      if (method.endsWith(UNSUBSCRIBE)) return unsubscribe(method.slice(0, -UNSUBSCRIBE.length), new Params(params));
      if (method.endsWith(SUBSCRIBE)) return subscribe(method.slice(0, -SUBSCRIBE.length), new Params(params), begins);
      throw new RpcError(RPC_ERROR.methodNotFound, "Method not found");
    });
    if (answer !== undefined) send(answer);
    // Only now does the subscriber know its number, and can make sense of a notification.
    for (const begin of begins) begin();
  });
  socket.on("close", () => {
    for (const id of [...subscriptions.keys()]) end(id);
  });
  // A broken frame is the sender's fault; `ws` closes the connection after this event.
  socket.on("error", () => socket.terminate());
}
