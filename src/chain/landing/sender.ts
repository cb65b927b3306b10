import type { Now } from "../../primitives/clock.ts";
import { isRefusal } from "../rpc/node-error.ts";
import { createRpcEndpoint, type RpcEndpoint } from "../rpc/rpc-endpoint.ts";

/** The sender that every message may use: the configured nodes, which require no tip. */
export const OWN_NODES = "rpc";

/** One way to send a transaction towards the leaders. */
export interface Sender {
  /** Shown to callers. Never a host name: those of some providers are secrets. */
  readonly name: string;
  /** The name by which messages allow it: `rpc` for the configured nodes, its own for any other. */
  readonly allowedAs: string;
  /** True if it repeats accepted transactions itself; each is then sent once. */
  readonly repeats: boolean;
  /** True for a while after failures, and much longer after a refusal of the method: repetitions use the other senders. */
  isCooling(): boolean;
  /** True if the sender's rate limit allows one more now. */
  takeTurn(): boolean;
  /** Resolves once the sender has accepted the transaction. @throws TradewireError UPSTREAM_ERROR */
  send(encoded: string): Promise<void>;
}

interface SenderOptions {
  readonly now: Now;
  readonly warn?: (message: string) => void;
  /** Longest wait for the sender to accept a transaction. */
  readonly timeoutMs?: number;
  /** Upper bound of transactions per second. */
  readonly perSecond?: number;
}

const DEFAULT_TIMEOUT_MS = 1_000;
const DEFAULT_PER_SECOND = 1_000;
/** How long a sender that does not serve sendTransaction is avoided. Milliseconds. */
const REFUSAL_MS = 600_000;

/** A configured node as a sender; `index` counts from 0. */
export function createNodeSender(endpoint: RpcEndpoint, index: number, options: SenderOptions): Sender {
  const name = `${OWN_NODES}-${index + 1}`;
  return new EndpointSender(endpoint, { ...options, name, allowedAs: OWN_NODES, repeats: false });
}

/** How to reach a relay or block engine. */
interface RelayAddress {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly repeats: boolean;
}

/** A relay or block engine that serves `sendTransaction`. */
export function createRelaySender({ name, url, headers, repeats }: RelayAddress, options: SenderOptions): Sender {
  const endpoint = createRpcEndpoint({ url, headers, now: options.now });
  return new EndpointSender(endpoint, { ...options, name, allowedAs: name, repeats });
}

class EndpointSender implements Sender {
  readonly name: string;
  readonly allowedAs: string;
  readonly repeats: boolean;
  readonly #endpoint: RpcEndpoint;
  readonly #now: Now;
  readonly #warn: (message: string) => void;
  readonly #timeoutMs: number;
  readonly #perSecond: number;
  /** Transactions the limit allows, as of `#countedAtMs`. */
  #turns: number;
  #countedAtMs: number;
  #refusedUntilMs = 0;

  constructor(endpoint: RpcEndpoint, options: SenderOptions & Pick<Sender, "name" | "allowedAs" | "repeats">) {
    this.name = options.name;
    this.allowedAs = options.allowedAs;
    this.repeats = options.repeats;
    this.#endpoint = endpoint;
    this.#now = options.now;
    this.#warn = options.warn ?? (() => {});
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#perSecond = options.perSecond ?? DEFAULT_PER_SECOND;
    this.#turns = this.#perSecond;
    this.#countedAtMs = this.#now();
  }

  isCooling(): boolean {
    return this.#endpoint.isCooling() || this.#now() < this.#refusedUntilMs;
  }

  takeTurn(): boolean {
    const atMs = this.#now();
    const earned = (Math.max(0, atMs - this.#countedAtMs) * this.#perSecond) / 1_000;
    this.#turns = Math.min(this.#perSecond, this.#turns + earned);
    this.#countedAtMs = atMs;
    if (this.#turns < 1) return false;
    this.#turns -= 1;
    return true;
  }

  async send(encoded: string): Promise<void> {
    const params = [encoded, { encoding: "base64", skipPreflight: true, maxRetries: 0 }];
    try {
      await this.#endpoint.call("sendTransaction", params, this.#timeoutMs);
      this.#refusedUntilMs = 0;
    } catch (error) {
      if (isRefusal(error)) this.#noteRefusal();
      throw error;
    }
  }

  #noteRefusal(): void {
    const atMs = this.#now();
    if (atMs >= this.#refusedUntilMs)
      this.#warn(
        `The sender ${this.name} (${this.#endpoint.name}) does not serve sendTransaction: nothing lands through it.`,
      );
    this.#refusedUntilMs = atMs + REFUSAL_MS;
  }
}
