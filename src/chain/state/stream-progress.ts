import type { Now } from "../../primitives/clock.ts";
import { maxOf } from "../../primitives/integer.ts";
import { SlotTimes } from "./slot-times.ts";
import type { SlotTree } from "./slot-tree.ts";

interface StreamProgressOptions {
  readonly tree: SlotTree;
  readonly now: Now;
  /** The newest slot known from elsewhere; 0 before the first. */
  readonly headSlot: () => bigint;
  /** A stream that has told of no slot for this long is not relied on. */
  readonly quietMs: number;
  readonly maxLagSlots: bigint;
  readonly maxLeadSlots: bigint;
}

/** How far a stream of slots has come, against the newest slot known from anybody. Times are epoch milliseconds. */
export class StreamProgress {
  /** The newest slot the stream has told of; 0 before the first. */
  slot = 0n;
  /** When it last told of any. */
  heardAtMs = 0;
  readonly #times = new SlotTimes();
  readonly #options: StreamProgressOptions;

  constructor(options: StreamProgressOptions) {
    this.#options = options;
  }

  /** The stream tells of a slot. */
  hear(slot: bigint): void {
    this.heardAtMs = this.#options.now();
    if (slot > this.slot) this.slot = slot;
    this.noteHead();
    this.#times.note(slot, this.heardAtMs);
  }

  /** A slot is known of from a read. */
  note(slot: bigint): void {
    this.#times.note(slot, this.#options.now());
  }

  noteHead(): void {
    this.note(this.#options.headSlot());
  }

  /** Up to when the state of `slot` was the newest state known to exist; Infinity while there is none newer. */
  passedAtMs(slot: bigint): number {
    return this.#times.passedAtMs(slot);
  }

  /** The same of what the stream has told, were it told completely. */
  toldUpToMs(): number {
    return this.#times.passedAtMs(this.slot);
  }

  /** For how long the stream has not told of a slot that is known of from elsewhere. Milliseconds. */
  lagMs(): number {
    this.noteHead();
    return this.slot === 0n ? 0 : Math.max(0, this.#options.now() - this.toldUpToMs());
  }

  /** True while the stream tells of slots far behind the newest known: what it has not told yet may be old. */
  isBehind(): boolean {
    return this.lagMs() > this.#options.quietMs || (this.slot > 0n && this.isOld(this.slot));
  }

  /** True of a slot far behind the newest known. */
  isOld(slot: bigint): boolean {
    return slot + this.#options.maxLagSlots < this.#times.newest;
  }

  /** True of a slot that the stream has passed or is not far from. */
  isNear(slot: bigint): boolean {
    return slot <= this.slot + this.#options.maxLagSlots;
  }

  /** True while the stream has told of no slot for too long. */
  isQuiet(): boolean {
    return this.#options.now() - this.heardAtMs > this.#options.quietMs;
  }

  /** True of a slot too far ahead of all that is known to exist yet. */
  isFarAhead(slot: bigint): boolean {
    const { tree, headSlot, maxLeadSlots } = this.#options;
    return tree.head > 0n && slot > maxOf(tree.head, headSlot()) + maxLeadSlots;
  }

  /** The same against what others than the stream know of. */
  isFarAheadOfOthers(slot: bigint): boolean {
    const known = this.#options.headSlot();
    return known > 0n && slot > known + this.#options.maxLeadSlots;
  }
}
