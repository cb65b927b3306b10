import WebSocket from "ws";
import type { Now } from "../../primitives/clock.ts";
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
  /** Hears when the connection is gone or replaced, and every subscription with it until it is active again. @returns how to stop */
  onLost(listener: () => void): () => void;
  /** The newest slot this connection has told of; 0 before the first. */
  lastSlot(): bigint;
  /** When the newest slot notice came (epoch milliseconds): everything before it on this ordered stream has arrived too. */
  lastSlotAtMs(): number;
  /** What the connection tells contradicts the chain, or lacks something: the next node takes its place as soon as it can. */
  doubt(): void;
  close(): void;
}

interface SubscriptionsOptions {
  /** Tried in turn. None: nothing is ever active, and everybody falls back to polling. */
  readonly urls: readonly string[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** When a connection tells of no slot for this long, another is made; whichever then tells of a new slot first is kept. */
  readonly silentMs?: number;
  readonly pingMs?: number;
}

interface Held {
  readonly request: SubscriptionRequest;
  /** The node's number for it on the present connection. */
  id: number | undefined;
  cancelled: boolean;
}

interface Connection {
  readonly socket: WebSocket;
  readonly host: string;
  /** When it was begun, or last told of a slot. */
  aliveAtMs: number;
  /** The newest slot it has told of; 0 before the first. */
  lastSlot: bigint;
}

const DEFAULT_SILENT_MS = 1_000;
const DEFAULT_PING_MS = 20_000;
/** A new connection is given this many silences to come up and tell of a slot. */
const CANDIDATE_SILENCES = 3;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
const COMPLAINT_MS = 600_000;
/** The largest account is 10 MiB, about 14 MiB in base64. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * One WebSocket at a time. Whether it is alive is judged by the slots it tells of, because an account may be rightly silent
 * and a cut connection wrongly so. While it is silent another is made beside it, to the next node: the silent one is given up
 * only for one that tells of a newer slot, since a chain that stands still makes every node silent.
 */
export function createSubscriptions({
  urls,
  now,
  warn,
  silentMs = DEFAULT_SILENT_MS,
  pingMs = DEFAULT_PING_MS,
}: SubscriptionsOptions): Subscriptions {
  const patienceMs = CANDIDATE_SILENCES * silentMs;
  const held = new Set<Held>();
  const slotListeners = new Set<SlotListener>();
  const lostListeners = new Set<() => void>();
  /** What to do with the node's answer to each request of the present connection. */
  const pending = new Map<number, { readonly method: string; answer(subscriptionId: number | undefined): void }>();
  /** Until when a complaint is not repeated. */
  const toldUntilMs = new Map<string, number>();
  const active = new Map<number, Held>();
  /** The connection in use: it has told of a slot. Only from then on can anything else be subscribed to and dated. */
  let current: Connection | undefined;
  /** One that may take its place. */
  let candidate: Connection | undefined;
  let doubted = false;
  let closed = false;
  let lastId = 0;
  let attempt = 0;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer: NodeJS.Timeout | undefined;
  let lastSlotAtMs = 0;

  /** Once in a while: what a node refuses it refuses for every account and trade. */
  function tell(complaint: string, reason: string): void {
    if ((toldUntilMs.get(complaint) ?? 0) > now()) return;
    toldUntilMs.set(complaint, now() + COMPLAINT_MS);
    warn(`${complaint}: ${reason}`);
  }

  const tellRefusal = (host: string, method: string, error: unknown) =>
    tell(
      `The Solana node ${host} does not serve ${method}; polling fills the gap`,
      JSON.stringify(error).slice(0, 200),
    );

  function send(
    method: string,
    params: readonly unknown[],
    onAnswer?: (subscriptionId: number | undefined) => void,
  ): void {
    const id = ++lastId;
    if (onAnswer !== undefined) pending.set(id, { method, answer: onAnswer });
    current?.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
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

  function hearSlot(from: Connection, result: unknown): void {
    const notice = asRecord(result, "a slot notice");
    const slot = asInteger(notice.slot, "a slot notice");
    const links = { parent: asInteger(notice.parent, "a slot notice"), root: asInteger(notice.root, "a slot notice") };
    if (from === candidate) {
      if (current !== undefined && !doubted && slot <= current.lastSlot) return;
      promote(from);
    } else if (candidate !== undefined && !doubted) {
      // It was not dead after all.
      drop(candidate);
    }
    from.aliveAtMs = lastSlotAtMs = now();
    retryMs = FIRST_RETRY_MS;
    const isFirst = from.lastSlot === 0n;
    if (slot > from.lastSlot) from.lastSlot = slot;
    if (isFirst) for (const entry of held) activate(entry);
    for (const listener of slotListeners) listener(slot, links);
  }

  function hear(from: Connection, text: string): void {
    const message = asRecord(parseRpcJson(text), "a notice");
    if (message.method === "slotNotification") {
      hearSlot(from, asRecord(message.params, "a notice").result);
      return;
    }
    if (from !== current) {
      if (message.error !== undefined) tellRefusal(from.host, "slotSubscribe", message.error);
      return;
    }
    if (typeof message.id === "number") {
      const asked = pending.get(message.id);
      pending.delete(message.id);
      if (message.error !== undefined && asked !== undefined) tellRefusal(from.host, asked.method, message.error);
      asked?.answer(typeof message.result === "number" ? message.result : undefined);
      return;
    }
    const params = asRecord(message.params, "a notice");
    active.get(Number(params.subscription))?.request.onNotice(params.result);
  }

  function connect(): void {
    const url = urls[attempt++ % urls.length]!;
    const socket = new WebSocket(url, {
      handshakeTimeout: patienceMs,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    const opened: Connection = { socket, host: new URL(url).host, aliveAtMs: now(), lastSlot: 0n };
    candidate = opened;
    socket.on("open", () => {
      opened.aliveAtMs = now();
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method: "slotSubscribe", params: [] }));
    });
    socket.on("message", (data) => {
      if (opened !== current && opened !== candidate) return;
      try {
        hear(opened, data.toString());
      } catch (error) {
        warn(`The Solana node ${opened.host} sent a notice that cannot be read: ${String(error)}`);
      }
    });
    socket.on("error", (error) => {
      if (opened === candidate)
        tell(`No subscription connection to ${opened.host}; polling fills the gap`, error.message);
    });
    socket.on("close", () => {
      if (opened === candidate) candidate = undefined;
      else if (opened === current) {
        if (!closed) warn(`The subscription connection to ${opened.host} is gone; connecting again.`);
        lose();
      } else return;
      connectSoon();
    });
  }

  function connectSoon(): void {
    if (closed || candidate !== undefined || retryTimer !== undefined) return;
    const connectIfNeeded = () => {
      retryTimer = undefined;
      if (needsOther()) connect();
    };
    retryTimer = setTimeout(connectIfNeeded, retryMs * (0.75 + Math.random() / 2));
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  }

  const needsOther = () =>
    candidate === undefined && (current === undefined || doubted || now() - current.aliveAtMs > silentMs);

  /** The connection in use is one no longer, and nothing that was subscribed to over it counts. */
  function lose(): void {
    current = undefined;
    doubted = false;
    pending.clear();
    active.clear();
    for (const entry of held) entry.id = undefined;
    for (const listener of lostListeners) listener();
  }

  function promote(opened: Connection): void {
    const before = current;
    candidate = undefined;
    if (before !== undefined) {
      warn(`Subscriptions move from ${before.host}, which told nothing new, to ${opened.host}.`);
      lose();
      before.socket.terminate();
    }
    current = opened;
  }

  function drop(opened: Connection): void {
    candidate = undefined;
    opened.socket.terminate();
  }

  const watch = setInterval(() => {
    if (candidate !== undefined && now() - candidate.aliveAtMs > patienceMs) {
      drop(candidate);
      connectSoon();
    } else if (retryTimer === undefined && needsOther()) connect();
  }, silentMs / 10);
  const ping = setInterval(() => {
    if (current?.socket.readyState === WebSocket.OPEN) current.socket.ping();
  }, pingMs);
  if (urls.length > 0) connect();
  else clearInterval(watch);

  return {
    subscribe(request) {
      const entry: Held = { request, id: undefined, cancelled: false };
      held.add(entry);
      if (current !== undefined) activate(entry);
      return () => {
        if (entry.cancelled) return;
        entry.cancelled = true;
        held.delete(entry);
        if (entry.id === undefined) return;
        active.delete(entry.id);
        if (current?.socket.readyState === WebSocket.OPEN) send(`${request.kind}Unsubscribe`, [entry.id]);
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
    lastSlot: () => current?.lastSlot ?? 0n,
    lastSlotAtMs: () => lastSlotAtMs,
    doubt() {
      if (current === undefined || doubted) return;
      doubted = true;
      if (retryTimer === undefined && needsOther()) connect();
    },
    close() {
      closed = true;
      clearInterval(watch);
      clearInterval(ping);
      clearTimeout(retryTimer);
      held.clear();
      candidate?.socket.terminate();
      current?.socket.terminate();
    },
  };
}
