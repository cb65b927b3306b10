import type { Now } from "../../../primitives/clock.ts";
import { HeldSubscriptions, type SubscriptionRequest } from "./held-subscriptions.ts";
import { SeldomWarnings } from "./seldom-warnings.ts";
import {
  type ConnectionListener,
  type OpenSocket,
  type SlotLinks,
  SubscriptionConnection,
} from "./subscription-connection.ts";

/** A slot has begun on its parent; `root` is the newest final one. */
export type SlotListener = (slot: bigint, links: SlotLinks) => void;

/** Subscriptions to a Solana node that outlive its connections. */
export interface Subscriptions {
  /** Keeps the subscription active over every connection until the returned function is called. */
  subscribe(request: SubscriptionRequest): () => void;
  /** Calls the listener for every new slot. @returns how to stop */
  onSlot(listener: SlotListener): () => void;
  /** Calls the listener when the connection is lost or replaced; no subscription counts until it is active again. @returns how to stop */
  onLost(listener: () => void): () => void;
  /** The newest slot this connection reported; 0 before the first. */
  lastSlot(): bigint;
  /**
   * Up to when everything has arrived (epoch milliseconds): when the newest slot notice came that is old enough for the
   * account notices of the slot before to have come as well.
   */
  lastSlotAtMs(): number;
  /** Host of the node in use; undefined while there is no connection. */
  host(): string | undefined;
  /**
   * The connection contradicts the chain or has lost something: the next node replaces it as soon as it can.
   * @returns false if there is no other node
   */
  doubt(): boolean;
  close(): void;
}

interface SubscriptionsOptions {
  /** Tried in turn. Empty: nothing is ever active, and everything falls back to polling. */
  readonly urls: readonly string[];
  readonly now: Now;
  /** Spreads reconnects; 0 ≤ value < 1. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** Shared suppression of repeated warnings; absent: these subscriptions have their own. */
  readonly seldom?: SeldomWarnings;
  /** Silence after which a second connection is made; the first of the two to report a new slot is kept. */
  readonly silentMs?: number;
  /** How often some of the refused subscriptions are requested again. */
  readonly refusedMs?: number;
  /** How a connection is opened; absent: over the network. */
  readonly open?: OpenSocket;
}

const DEFAULT_SILENT_MS = 1_000;
/** How often the node in use is pinged. Milliseconds. */
const PING_MS = 20_000;
const DEFAULT_REFUSED_MS = 10_000;
/** Refused subscriptions requested again at a time: a node that refuses one because there are too many refuses all. */
const RETRIED_AT_ONCE = 20;
/** Time a new connection has to report a slot, in multiples of the allowed silence. */
const CANDIDATE_SILENCES = 3;
/**
 * Account notices come once a slot, when its bank is frozen: on Alpenglow up to 43 ms after the notice of the next slot.
 * Milliseconds, with a margin.
 */
const FREEZE_NOTICE_MS = 150;
/** More slots than pass within that time; if a node floods, the oldest are kept. */
const MAX_SLOT_TIMES = 64;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

/**
 * Subscribes over one WebSocket at a time. Slots tell whether it is alive: an account may be silent because nothing changes,
 * a slot may not. While the connection is silent, a second one is made to the next node. The first is dropped only once the
 * second reports a newer slot, because a halted chain makes every node silent.
 */
export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  return new NodeSubscriptions(options);
}

class NodeSubscriptions implements Subscriptions {
  readonly #urls: readonly string[];
  readonly #now: Now;
  readonly #random: () => number;
  readonly #warn: (message: string) => void;
  readonly #silentMs: number;
  readonly #open: OpenSocket | undefined;
  readonly #held = new HeldSubscriptions();
  readonly #slotListeners = new Set<SlotListener>();
  readonly #lostListeners = new Set<() => void>();
  readonly #seldom: SeldomWarnings;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #listener: ConnectionListener = {
    onSlot: (from, slot, links) => {
      if (this.#isInUse(from)) this.#receiveSlot(from, slot, links);
    },
    onNotice: (from, subscriptionId, result) => {
      if (from === this.#current) this.#held.notice(subscriptionId, result);
    },
    onRefusal: (from, method, error) => {
      if (this.#isInUse(from)) this.#warnRefusal(from.host, method, error);
    },
    onBadMessage: (from, error) => {
      if (this.#isInUse(from)) this.#warn(`Cannot decode a notice of the Solana node ${from.host}: ${String(error)}`);
    },
    onError: (from, error) => {
      if (from === this.#candidate)
        this.#seldom.warn(
          `Cannot open a subscription connection to ${from.host}; polling fills the gap`,
          error.message,
        );
    },
    onClose: (from) => this.#receiveClose(from),
  };
  /** The connection in use. It has reported a slot; subscriptions can be dated only from then on. */
  #current: SubscriptionConnection | undefined;
  /** A connection that may replace it. */
  #candidate: SubscriptionConnection | undefined;
  #isDoubted = false;
  #isClosed = false;
  #attempts = 0;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  /** When slot notices came, oldest first: the last that is `FREEZE_NOTICE_MS` old, and those after it. */
  readonly #slotTimesMs: number[] = [];

  constructor(options: SubscriptionsOptions) {
    this.#urls = options.urls;
    this.#now = options.now;
    this.#random = options.random;
    this.#warn = options.warn;
    this.#seldom = options.seldom ?? new SeldomWarnings(options.warn, options.now);
    this.#silentMs = options.silentMs ?? DEFAULT_SILENT_MS;
    this.#open = options.open;
    const ping = setInterval(() => this.#current?.ping(), PING_MS);
    if (this.#urls.length === 0) this.#timers = [ping];
    else {
      const retry = () => this.#held.retryRefused(RETRIED_AT_ONCE);
      const refusedMs = options.refusedMs ?? DEFAULT_REFUSED_MS;
      this.#timers = [ping, setInterval(() => this.#watch(), this.#silentMs / 10), setInterval(retry, refusedMs)];
      this.#connect();
    }
  }

  subscribe(request: SubscriptionRequest): () => void {
    return this.#held.add(request);
  }

  onSlot(listener: SlotListener): () => void {
    this.#slotListeners.add(listener);
    return () => this.#slotListeners.delete(listener);
  }

  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  lastSlot(): bigint {
    return this.#current?.lastSlot ?? 0n;
  }

  host(): string | undefined {
    return this.#current?.host;
  }

  lastSlotAtMs(): number {
    this.#ripen();
    return this.#slotTimesMs[0] ?? 0;
  }

  doubt(): boolean {
    if (this.#current !== undefined && !this.#isDoubted) {
      this.#isDoubted = true;
      if (this.#retryTimer === undefined && this.#needsConnection()) this.#connect();
    }
    return this.#urls.length > 1;
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#retryTimer);
    this.#held.clear();
    this.#candidate?.terminate();
    this.#current?.terminate();
  }

  #ripen(): void {
    const times = this.#slotTimesMs;
    const ripeMs = this.#now() - FREEZE_NOTICE_MS;
    while (times.length > 1 && times[1]! <= ripeMs) times.shift();
  }

  #isInUse(connection: SubscriptionConnection): boolean {
    return connection === this.#current || connection === this.#candidate;
  }

  #receiveSlot(from: SubscriptionConnection, slot: bigint, links: SlotLinks): void {
    if (from === this.#candidate) {
      if (this.#current !== undefined && !this.#isDoubted && slot <= this.#current.lastSlot) return;
      this.#promote(from);
    } else if (this.#candidate !== undefined && !this.#isDoubted) {
      // The current connection was only slow.
      this.#dropCandidate();
    }
    from.aliveAtMs = this.#now();
    this.#ripen();
    if (this.#slotTimesMs.length < MAX_SLOT_TIMES) this.#slotTimesMs.push(from.aliveAtMs);
    this.#retryMs = FIRST_RETRY_MS;
    const isFirst = from.lastSlot === 0n;
    if (slot > from.lastSlot) from.lastSlot = slot;
    if (isFirst) this.#held.begin(from);
    for (const listener of this.#slotListeners) listener(slot, links);
  }

  #receiveClose(from: SubscriptionConnection): void {
    if (from === this.#candidate) this.#candidate = undefined;
    else if (from === this.#current) {
      if (!this.#isClosed) this.#warn(`The subscription connection to ${from.host} is lost; reconnecting.`);
      this.#lose();
    } else return;
    this.#connectSoon();
  }

  #connect(): void {
    this.#candidate = new SubscriptionConnection({
      url: this.#urls[this.#attempts++ % this.#urls.length]!,
      handshakeTimeoutMs: this.#candidatePatienceMs(),
      now: this.#now,
      listener: this.#listener,
      open: this.#open,
    });
  }

  #connectSoon(): void {
    if (this.#isClosed || this.#candidate !== undefined || this.#retryTimer !== undefined) return;
    const connectIfNeeded = () => {
      this.#retryTimer = undefined;
      if (this.#needsConnection()) this.#connect();
    };
    this.#retryTimer = setTimeout(connectIfNeeded, this.#retryMs * (0.75 + this.#random() / 2));
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  #needsConnection(): boolean {
    if (this.#candidate !== undefined) return false;
    return this.#current === undefined || this.#isDoubted || this.#now() - this.#current.aliveAtMs > this.#silentMs;
  }

  #candidatePatienceMs(): number {
    return CANDIDATE_SILENCES * this.#silentMs;
  }

  #watch(): void {
    if (this.#candidate !== undefined && this.#now() - this.#candidate.aliveAtMs > this.#candidatePatienceMs()) {
      this.#dropCandidate();
      this.#connectSoon();
    } else if (this.#retryTimer === undefined && this.#needsConnection()) this.#connect();
  }

  /** The current connection is out of use, and none of its subscriptions counts. */
  #lose(): void {
    this.#current = undefined;
    this.#isDoubted = false;
    this.#held.lose();
    for (const listener of this.#lostListeners) listener();
  }

  #promote(opened: SubscriptionConnection): void {
    const before = this.#current;
    this.#candidate = undefined;
    if (before !== undefined) {
      this.#warn(`Subscriptions move from ${before.host}, which reports nothing new, to ${opened.host}.`);
      this.#lose();
      before.terminate();
    }
    this.#current = opened;
  }

  #dropCandidate(): void {
    const dropped = this.#candidate;
    this.#candidate = undefined;
    dropped?.terminate();
  }

  #warnRefusal(host: string, method: string, error: unknown): void {
    this.#seldom.warn(
      `The Solana node ${host} does not serve ${method}; polling fills the gap`,
      // Large integers of an answer are bigint, which JSON cannot write.
      JSON.stringify(error, (_key, value) => (typeof value === "bigint" ? String(value) : value)).slice(0, 200),
    );
  }
}
