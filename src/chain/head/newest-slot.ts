import type { Now } from "../../primitives/clock.ts";
import type { NodeSlots } from "../rpc/accounts/node-slots.ts";
import { SlotPace } from "./slot-pace.ts";

/** Slots by which an endpoint may be behind the best one. */
export const MAX_LAG_SLOTS = 10n;
/** Slots by which a node's processed state may be behind its newest slot: the one being produced and the one being voted on. */
export const PROCESSED_LAG_SLOTS = 2n;
/** Slots by which the chain may run ahead of its measured pace. */
const MAX_LEAD_SLOTS = 40n;
/** Slots remembered as begun. */
const MAX_BEGUN = 64;
/** Time per slot before it is measured: short, so that no real slot is rejected. Milliseconds. */
const UNMEASURED_SLOT_MS = 100;

/** The newest slot known, since when, and the pace of slots. */
export class NewestSlot {
  readonly #now: Now;
  readonly #nodes: Pick<NodeSlots, "reachedByTwo" | "reachedByPair"> | undefined;
  readonly #pace = new SlotPace();
  /** The latest slots that were seen as they began, oldest first: each is a block being produced. */
  readonly #begun: bigint[] = [];
  #slot = 0n;
  #atMs: number;

  /** @param nodes the slot of each node: no report may run far ahead of them; absent: any report counts */
  constructor(now: Now, nodes?: Pick<NodeSlots, "reachedByTwo" | "reachedByPair">) {
    this.#now = now;
    this.#nodes = nodes;
    this.#atMs = now();
  }

  /** 0 before the first. */
  get slot(): bigint {
    return this.#slot;
  }

  /** When the slot was first known (epoch milliseconds). */
  get atMs(): number {
    return this.#atMs;
  }

  /** Milliseconds since the slot was first known. */
  ageMs(): number {
    return this.#now() - this.#atMs;
  }

  /** Milliseconds per slot; 0 while unmeasured. */
  get slotMs(): number {
    return this.#pace.slotMs;
  }

  /** The slot that two of three or more nodes have reached; undefined with fewer nodes. */
  byNodes(): bigint | undefined {
    return this.#nodes?.reachedByTwo(this.slotMs);
  }

  /** The slot that every node has reached, if two answer; else the newest. Of two nodes, the one that reports the newest may be wrong. */
  get least(): bigint {
    const least = this.#nodes?.reachedByPair(this.slotMs)?.least;
    return least === undefined || least > this.#slot ? this.#slot : least;
  }

  /** Sets the newest slot, regardless of what was known before. */
  reset(slot: bigint): void {
    this.#slot = slot;
    this.#atMs = this.#now();
    while (this.#begun.length > 0 && this.#begun.at(-1)! > slot) this.#begun.pop();
  }

  /** Starts from a node's own measure of the pace. */
  beginPace(slotMs: number): void {
    this.#pace.begin(slotMs);
  }

  /** A slot was seen as it began: it moves the newest slot and the pace, also if a blockhash named the slot a moment before. */
  noteBegun(seen: bigint): void {
    this.noteReached(seen);
    if (seen !== this.#slot || seen === this.#begun.at(-1)) return;
    this.#pace.note(this.#slot, this.#atMs);
    this.#begun.push(seen);
    if (this.#begun.length > MAX_BEGUN) this.#begun.shift();
  }

  /** Number of blocks begun after the slot, as far as they were seen. Skipped slots do not count. */
  blocksSince(slot: bigint): number {
    let count = 0;
    for (let i = this.#begun.length - 1; i >= 0 && this.#begun[i]! > slot; i--) count += 1;
    return count;
  }

  /** A slot was seen later than it began, such as when it was confirmed: it moves the newest slot alone. @returns true if it is newer */
  noteReached(seen: bigint): boolean {
    if (seen <= this.#slot || this.#slot === 0n || !this.isReachable(seen)) return false;
    this.reset(seen);
    return true;
  }

  /** False for a slot the chain cannot have reached yet: its source is wrong. */
  isReachable(seen: bigint): boolean {
    const slotMs = this.slotMs > 0 ? this.slotMs : UNMEASURED_SLOT_MS;
    const elapsed = BigInt(Math.ceil((2 * Math.max(0, this.#now() - this.#atMs)) / slotMs));
    if (seen > this.#slot + MAX_LEAD_SLOTS + elapsed) return false;
    if (seen <= this.#slot) return true;
    // Of two nodes either may be right. A slot that neither has reached itself rests on a stream's word alone.
    const byNodes = this.byNodes() ?? this.#nodes?.reachedByPair(this.slotMs)?.furthest;
    return byNodes === undefined || seen <= byNodes + MAX_LAG_SLOTS;
  }

  /** True for a slot far from the head: its source lags or is wrong. */
  isOff(seen: bigint): boolean {
    return seen + MAX_LAG_SLOTS + MAX_LEAD_SLOTS < this.#slot || !this.isReachable(seen);
  }
}
