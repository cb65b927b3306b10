import WebSocket from "ws";
import type { Now } from "../primitives/clock.ts";
import { asInteger, asRecord, parseRpcJson } from "./rpc-values.ts";

export interface SubscriptionRequest {
  /** The method is `${kind}Subscribe`. */
  readonly kind: "account" | "signature";
  readonly params: readonly unknown[];
  /** The `result` of each notice. */
  onNotice(result: unknown): void;
  /** The node has accepted the subscription: once per connection, so again after every reconnect. */
  onActive?(): void;
}

/** A slot has begun on its parent; `root` is the newest final one. */
export type SlotListener = (slot: bigint, links: { readonly parent: bigint; readonly root: bigint }) => void;

/** Subscriptions to a Solana node that outlive its connections. */
export interface Subscriptions {
  /** Keeps the subscription up, over every connection, until the returned function is called. */
  subscribe(request: SubscriptionRequest): () => void;
  /** Hears of every new slot. @returns how to stop */
  onSlot(listener: SlotListener): () => void;
  /** Hears when the connection is gone, and every subscription with it until it is active again. @returns how to stop */
  onLost(listener: () => void): () => void;
  /** The newest slot this connection has told of; 0 before the first. */
  lastSlot(): bigint;
  /** When the newest slot notice came (epoch milliseconds): everything before it on this ordered stream has arrived too. */
  lastSlotAtMs(): number;
  close(): void;
}

export interface SubscriptionsOptions {
  /** Tried in turn. None: nothing is ever active, and everybody falls back to polling. */
  readonly urls: readonly string[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** A connection that tells of no slot for this long is dead, whatever the socket says. */
  readonly silentMs?: number;
  readonly pingMs?: number;
}

interface Held {
  readonly request: SubscriptionRequest;
  /** The node's number for it on the present connection. */
  id: number | undefined;
  cancelled: boolean;
}

const DEFAULT_SILENT_MS = 3_000;
const DEFAULT_PING_MS = 20_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** The largest account is 10 MiB, about 14 MiB in base64. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * One WebSocket at a time. Whether it is alive is judged by the slots it tells of, because an account may be rightly silent
 * and a cut connection wrongly so.
 */
export function createSubscriptions({
  urls,
  now,
  warn,
  silentMs = DEFAULT_SILENT_MS,
  pingMs = DEFAULT_PING_MS,
}: SubscriptionsOptions): Subscriptions {
  const held = new Set<Held>();
  const slotListeners = new Set<SlotListener>();
  const lostListeners = new Set<() => void>();
  /** What to do with the node's answer to each request of the present connection. */
  const pending = new Map<number, (subscriptionId: number | undefined) => void>();
  const active = new Map<number, Held>();
  let socket: WebSocket | undefined;
  let closed = false;
  let lastId = 0;
  let attempt = 0;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer: NodeJS.Timeout | undefined;
  let aliveAtMs = 0;
  let lastSlot = 0n;
  let lastSlotAtMs = 0;

  /** True once the present connection has told of a slot: only from then on can anything else be subscribed to and dated. */
  let ready = false;

  const isOpen = () => socket?.readyState === WebSocket.OPEN;

  function send(
    method: string,
    params: readonly unknown[],
    onAnswer?: (subscriptionId: number | undefined) => void,
  ): void {
    const id = ++lastId;
    if (onAnswer !== undefined) pending.set(id, onAnswer);
    socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  function activate(entry: Held): void {
    send(`${entry.request.kind}Subscribe`, entry.request.params, (subscriptionId) => {
      if (subscriptionId === undefined) return;
      if (entry.cancelled) {
        send(`${entry.request.kind}Unsubscribe`, [subscriptionId]);
        return;
      }
      entry.id = subscriptionId;
      active.set(subscriptionId, entry);
      entry.request.onActive?.();
    });
  }

  function hearSlot(result: unknown): void {
    const notice = asRecord(result, "a slot notice");
    const slot = asInteger(notice.slot, "a slot notice");
    const links = { parent: asInteger(notice.parent, "a slot notice"), root: asInteger(notice.root, "a slot notice") };
    aliveAtMs = lastSlotAtMs = now();
    retryMs = FIRST_RETRY_MS;
    if (slot > lastSlot) lastSlot = slot;
    if (!ready) {
      ready = true;
      for (const entry of held) activate(entry);
    }
    for (const listener of slotListeners) listener(slot, links);
  }

  function hear(text: string): void {
    const message = asRecord(parseRpcJson(text), "a notice");
    if (typeof message.id === "number") {
      const onAnswer = pending.get(message.id);
      pending.delete(message.id);
      if (message.error !== undefined && onAnswer !== undefined)
        warn(`The Solana node refused a subscription: ${JSON.stringify(message.error).slice(0, 200)}`);
      onAnswer?.(typeof message.result === "number" ? message.result : undefined);
      return;
    }
    const params = asRecord(message.params, "a notice");
    if (message.method === "slotNotification") hearSlot(params.result);
    else active.get(Number(params.subscription))?.request.onNotice(params.result);
  }

  function connect(): void {
    const url = urls[attempt++ % urls.length]!;
    const host = new URL(url).host;
    const opened = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    socket = opened;
    opened.on("open", () => {
      aliveAtMs = now();
      send("slotSubscribe", [], () => {});
    });
    opened.on("message", (data) => {
      try {
        hear(data.toString());
      } catch (error) {
        warn(`The Solana node ${host} sent a notice that cannot be read: ${String(error)}`);
      }
    });
    opened.on("error", () => {});
    opened.on("close", () => {
      if (socket !== opened) return;
      socket = undefined;
      ready = false;
      pending.clear();
      active.clear();
      for (const entry of held) entry.id = undefined;
      for (const listener of lostListeners) listener();
      if (closed) return;
      warn(`The subscription connection to ${host} is gone; connecting again.`);
      retryTimer = setTimeout(connect, retryMs * (0.75 + Math.random() / 2));
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
    });
  }

  const watch = setInterval(() => {
    if (isOpen() && now() - aliveAtMs > silentMs) socket?.terminate();
  }, silentMs / 4);
  const ping = setInterval(() => {
    if (isOpen()) socket?.ping();
  }, pingMs);
  if (urls.length > 0) connect();

  return {
    subscribe(request) {
      const entry: Held = { request, id: undefined, cancelled: false };
      held.add(entry);
      if (ready) activate(entry);
      return () => {
        if (entry.cancelled) return;
        entry.cancelled = true;
        held.delete(entry);
        if (entry.id === undefined) return;
        active.delete(entry.id);
        if (isOpen()) send(`${request.kind}Unsubscribe`, [entry.id]);
      };
    },
    onSlot(listener) {
      slotListeners.add(listener);
      return () => slotListeners.delete(listener);
    },
    onLost(listener) {
      lostListeners.add(listener);
      return () => lostListeners.delete(listener);
    },
    lastSlot: () => lastSlot,
    lastSlotAtMs: () => lastSlotAtMs,
    close() {
      closed = true;
      clearInterval(watch);
      clearInterval(ping);
      clearTimeout(retryTimer);
      held.clear();
      socket?.terminate();
    },
  };
}
