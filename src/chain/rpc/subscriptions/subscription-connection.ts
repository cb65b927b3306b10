import type { Socket } from "node:net";
import WebSocket from "ws";
import type { Now } from "../../../primitives/clock.ts";
import { TurnBudget } from "../../../primitives/turns/turn-budget.ts";
import { asInteger, asRecord, parseRpcJson } from "../rpc-values.ts";
import { accountNoticeOf } from "./account-notice.ts";

/** The slot before a new one, and the newest final one. */
export interface SlotLinks {
  readonly parent: bigint;
  readonly root: bigint;
}

/** Receives what happens on a connection. */
export interface ConnectionListener {
  onSlot(from: SubscriptionConnection, slot: bigint, links: SlotLinks): void;
  /** The result of a notice under the node's number for the subscription. */
  onNotice(from: SubscriptionConnection, subscriptionId: number, result: unknown): void;
  /** The node refused a request. */
  onRefusal(from: SubscriptionConnection, method: string, error: unknown): void;
  /** A message that cannot be decoded, or that a subscriber failed on. */
  onBadMessage(from: SubscriptionConnection, error: unknown): void;
  onError(from: SubscriptionConnection, error: Error): void;
  onClose(from: SubscriptionConnection): void;
}

/** Opens a WebSocket that gives up after this long without an answer. Milliseconds. */
export type OpenSocket = (url: string, handshakeTimeoutMs: number) => WebSocket;

interface ConnectionOptions {
  readonly url: string;
  readonly handshakeTimeoutMs: number;
  readonly now: Now;
  readonly listener: ConnectionListener;
  /** Absent: over the network. */
  readonly open?: OpenSocket | undefined;
}

/** Handles the node's number for a new subscription; undefined if it refused. */
type OnAnswer = (subscriptionId: number | undefined) => void;

/** Same limit as for the answer to a call: larger accounts could not be read anyway. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Messages handled before other work gets a turn, plus those that arrived in one piece with the last of them. */
const MESSAGES_PER_TURN = 50;
const turn = new TurnBudget(MESSAGES_PER_TURN);

/** One WebSocket to one node, with the notices of new slots subscribed to. */
export class SubscriptionConnection {
  readonly host: string;
  /** When it was started, opened, or last reported a slot (epoch milliseconds). */
  aliveAtMs: number;
  /** The newest slot it reported; 0 before the first. */
  lastSlot = 0n;
  readonly #socket: WebSocket;
  readonly #listener: ConnectionListener;
  /** Requests without an answer yet, by id. */
  readonly #unanswered = new Map<number, { readonly method: string; readonly onAnswer: OnAnswer | undefined }>();
  #lastId = 0;
  /** The socket for outgoing messages; undefined before the connection is open. */
  #stream: Socket | undefined;
  #isCorked = false;
  readonly #goOn = () => void this.#socket.resume();

  constructor({ url, handshakeTimeoutMs, now, listener, open = openSocket }: ConnectionOptions) {
    this.host = new URL(url).host;
    this.aliveAtMs = now();
    this.#listener = listener;
    this.#socket = open(url, handshakeTimeoutMs);
    this.#socket.on("upgrade", ({ socket }) => {
      this.#stream = socket;
    });
    this.#socket.on("open", () => {
      this.aliveAtMs = now();
      this.request("slotSubscribe", []);
    });
    this.#socket.on("message", (data) => {
      this.#receive(data.toString());
      this.#countMessage();
    });
    this.#socket.on("error", (error) => listener.onError(this, error));
    this.#socket.on("close", () => {
      turn.forget(this.#goOn);
      listener.onClose(this);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  request(method: string, params: readonly unknown[], onAnswer?: OnAnswer): void {
    const id = ++this.#lastId;
    this.#unanswered.set(id, { method, onAnswer });
    this.#cork();
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  ping(): void {
    if (this.isOpen) this.#socket.ping();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Requests of one turn of the loop go out in one write: each alone would be a system call. */
  #cork(): void {
    const stream = this.#stream;
    if (stream === undefined || this.#isCorked) return;
    this.#isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  /** A burst of notices is read in parts. */
  #countMessage(): void {
    turn.spend();
    if (!turn.isSpent || !this.isOpen) return;
    this.#socket.pause();
    turn.whenRenewed(this.#goOn);
  }

  #receive(text: string): void {
    try {
      // Before the first slot, notices do not count.
      const notice = this.lastSlot === 0n ? undefined : accountNoticeOf(text);
      if (notice === undefined) this.#dispatch(asRecord(parseRpcJson(text), "a notice"));
      else this.#listener.onNotice(this, notice.subscription, notice.result);
    } catch (error) {
      this.#listener.onBadMessage(this, error);
    }
  }

  #dispatch(message: Readonly<Record<string, unknown>>): void {
    if (message.method === "slotNotification") this.#receiveSlot(asRecord(message.params, "a notice").result);
    else if (typeof message.id === "number") this.#receiveAnswer(message.id, message);
    else if (this.lastSlot === 0n) {
      if (message.error !== undefined) this.#listener.onRefusal(this, "slotSubscribe", message.error);
    } else {
      const params = asRecord(message.params, "a notice");
      this.#listener.onNotice(this, Number(params.subscription), params.result);
    }
  }

  #receiveAnswer(id: number, { error, result }: Readonly<Record<string, unknown>>): void {
    const asked = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    if (asked === undefined) return;
    // A subscription that ended by itself can no longer be cancelled: this is no refusal.
    const isRefusal = error !== undefined && !asked.method.endsWith("Unsubscribe");
    if (isRefusal) this.#listener.onRefusal(this, asked.method, error);
    asked.onAnswer?.(typeof result === "number" ? result : undefined);
  }

  #receiveSlot(result: unknown): void {
    const notice = asRecord(result, "a slot notice");
    const slot = asInteger(notice.slot, "a slot notice");
    const links = { parent: asInteger(notice.parent, "a slot notice"), root: asInteger(notice.root, "a slot notice") };
    this.#listener.onSlot(this, slot, links);
  }
}

const openSocket: OpenSocket = (url, handshakeTimeout) =>
  new WebSocket(url, { handshakeTimeout, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
