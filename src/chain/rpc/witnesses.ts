import type { Now } from "../../primitives/clock.ts";
import type { RpcEndpoint } from "./rpc-endpoint.ts";
import type { RpcPool } from "./rpc-pool.ts";

interface WitnessesOptions {
  readonly pool: RpcPool;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Silence after which a node no longer counts among those that must agree. Milliseconds. */
  readonly silentAfterMs?: number;
  /** The endpoint of the pool that decides if nodes contradict each other. */
  readonly trusted?: RpcEndpoint | undefined;
}

/** Nodes that must agree before anything is final, if that many are configured and answer. */
const QUORUM = 2;
const DEFAULT_SILENT_AFTER_MS = 5_000;
/** Pause between two lines in the log about the same node. Milliseconds. */
const WARN_EVERY_MS = 10_000;

/**
 * The nodes as witnesses of what happened on the chain: how many must agree, which one the operator trusts, and which one
 * contradicts the others.
 */
export class Witnesses {
  readonly pool: RpcPool;
  readonly endpoints: readonly RpcEndpoint[];
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted: RpcEndpoint | undefined;
  /** Silence after which a node no longer counts. Milliseconds. */
  readonly silentAfterMs: number;
  readonly #now: Now;
  readonly #warn: (message: string) => void;
  readonly #warnedAtMs = new Map<RpcEndpoint, number>();
  /**
   * The last slot that each node answered from, since when, and when it last answered. A node that continues from an older slot counts as
   * moving too.
   */
  readonly #slots = new Map<RpcEndpoint, { slot: bigint; sinceMs: number; lastMs: number }>();

  constructor(options: WitnessesOptions) {
    this.pool = options.pool;
    this.endpoints = options.pool.endpoints;
    this.silentAfterMs = options.silentAfterMs ?? DEFAULT_SILENT_AFTER_MS;
    this.trusted = options.trusted;
    this.#now = options.now;
    this.#warn = options.warn;
  }

  /** True for a node that has given no proper answer for so long that it no longer counts. */
  isSilent(endpoint: RpcEndpoint): boolean {
    return endpoint.silentForMs() >= this.silentAfterMs;
  }

  /** Notes the slot that a node has answered from. */
  noteSlot(endpoint: RpcEndpoint, slot: bigint): void {
    const atMs = this.#now();
    const known = this.#slots.get(endpoint);
    if (slot !== known?.slot) this.#slots.set(endpoint, { slot, sinceMs: atMs, lastMs: atMs });
    else known.lastMs = atMs;
  }

  /** True for a node that answers, but from one slot for so long that it counts as silent. */
  isStuck(endpoint: RpcEndpoint): boolean {
    const known = this.#slots.get(endpoint);
    return known !== undefined && known.lastMs - known.sinceMs >= this.silentAfterMs;
  }

  /**
   * True for a node that stands still while no other does: it can no longer know what happens on the chain. Two nodes that stay at one slot
   * show that the chain has stopped.
   */
  isLeftBehind(endpoint: RpcEndpoint): boolean {
    return (
      this.isStuck(endpoint) && this.endpoints.filter((one) => this.isStuck(one) && !this.isSilent(one)).length < 2
    );
  }

  /**
   * How many nodes must agree now: two, or one if no more than one is configured or answers.
   *
   * @param without nodes that cannot know what is asked
   */
  quorum(without: readonly RpcEndpoint[] = []): number {
    const speaking = this.endpoints.filter(
      (endpoint) => !this.isSilent(endpoint) && !without.includes(endpoint),
    ).length;
    return Math.max(1, Math.min(QUORUM, speaking));
  }

  /** Sets aside a node whose answer the others contradict, and names it in the log. */
  setAside(endpoint: RpcEndpoint, what: string): void {
    endpoint.doubt();
    const atMs = this.#now();
    if (atMs - (this.#warnedAtMs.get(endpoint) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return;
    this.#warnedAtMs.set(endpoint, atMs);
    this.#warn(`The Solana node ${endpoint.name} contradicts the others and is set aside: ${what}.`);
  }
}
