import type { Now } from "../../../primitives/clock.ts";
import { maxOf } from "../../../primitives/integer.ts";
import { SlotTimes } from "../slots/slot-times.ts";
import type { SlotTree } from "../slots/slot-tree.ts";

interface StreamProgressOptions {
  readonly tree: SlotTree;
  readonly now: Now;
  /** The newest slot known from other sources; 0 before the first. */
  readonly headSlot: () => bigint;
  /** The slot that two of three or more nodes have reached; undefined with fewer nodes. */
  readonly slotByNodes: () => bigint | undefined;
  /** Silence after which the stream is considered stale. */
  readonly quietMs: number;
  readonly maxLagSlots: bigint;
  readonly maxLeadSlots: bigint;
}

/** Slots by which a stream may be ahead of the nodes: it names a slot as it begins, and nodes answer from one or two slots before. */
const AHEAD_SLOTS = 2n;

/** Progress of a stream of slots compared with the newest slot known from any source. Times are epoch milliseconds. */
export class StreamProgress {
  /** The newest slot the stream reported since it last started; 0 before the first. */
  slot = 0n;
  /** When it last reported any slot. */
  receivedAtMs = 0;
  readonly #times = new SlotTimes();
  /** The newest slot from other sources as last noted: it falls only if it is corrected. */
  #head = 0n;
  /** What the stream has reported itself since it last started. */
  #reported = new SlotTimes();
  readonly #options: StreamProgressOptions;
  /** The slot of the last change on the branch that its node prefers; 0 before the first. */
  #preferred = 0n;
  /** Since when that has been another branch than the chain; Infinity while it is not. */
  #strayedAtMs = Number.POSITIVE_INFINITY;
  /** Since when what it reports is discarded, as too far ahead; Infinity while it is not. */
  #discardedAtMs = Number.POSITIVE_INFINITY;

  constructor(options: StreamProgressOptions) {
    this.#options = options;
  }

  /** The stream reports a slot. */
  receive(slot: bigint): void {
    this.receivedAtMs = this.#options.now();
    if (slot > this.slot) {
      this.slot = slot;
      this.#discardedAtMs = Number.POSITIVE_INFINITY;
    }
    this.#reported.note(slot, this.receivedAtMs);
    this.noteHead();
    this.#note(slot, this.receivedAtMs);
  }

  /** Another connection takes the stream's place: how far the one before had come says nothing about it. */
  restart(): void {
    this.slot = 0n;
    this.#reported = new SlotTimes();
  }

  /** A slot that the stream reports is discarded: until it goes on from the last that was not, what it reports is not known. */
  discard(): void {
    this.#discardedAtMs = Math.min(this.#discardedAtMs, this.#options.now());
  }

  /** A slot is known from a read. */
  note(slot: bigint): void {
    // Called for every account checked: a known slot does not read the clock.
    if (slot <= this.#times.newest) return;
    this.#note(slot, this.#options.now());
  }

  /** A slot that most nodes have not reached makes nothing old: a single wrong node may have reported it. */
  #note(slot: bigint, atMs: number): void {
    const byNodes = slot > this.#times.newest ? this.#options.slotByNodes() : undefined;
    if (byNodes === undefined || slot <= byNodes + AHEAD_SLOTS) this.#times.note(slot, atMs);
  }

  noteHead(): void {
    const head = this.#options.headSlot();
    // A node that named slots ahead of the chain makes nothing old any more.
    if (head < this.#head) this.#times.takeBackTo(head);
    this.#head = head;
    this.note(head);
  }

  /** Up to when the state of `slot` was the newest known to exist; Infinity while there is none newer. */
  passedAtMs(slot: bigint): number {
    return this.#times.passedAtMs(slot);
  }

  /** When the slot or a later one was first reported, by the stream or by any other source that is believed; now, if none has been. */
  begunAtMs(slot: bigint): number {
    const before = slot - 1n;
    return Math.min(this.#options.now(), this.#times.passedAtMs(before), this.#reported.passedAtMs(before));
  }

  /**
   * The newest slot of which all changes have arrived that come so long after the beginning of the next one at most (milliseconds).
   *
   * @param liveAtMs what the stream reported by then (epoch milliseconds) has arrived; absent: all that it has reported
   */
  completeSlot(lateMs: number, liveAtMs = Number.POSITIVE_INFINITY): bigint {
    return this.#reported.newestBy(Math.min(liveAtMs, this.#options.now() - lateMs)) - 1n;
  }

  /**
   * A subscription reports a change: as of a slot on the branch that its node prefers. Until it reports one on the chain, what changes there
   * is missing.
   */
  preferSlot(slot: bigint): void {
    this.#preferred = slot;
    this.noteTurn();
  }

  /** Slots may have joined the chain or left it. */
  noteTurn(): void {
    const { tree, now } = this.#options;
    if (this.#preferred <= tree.root || tree.isOnChain(this.#preferred)) this.#strayedAtMs = Number.POSITIVE_INFINITY;
    else if (this.#strayedAtMs === Number.POSITIVE_INFINITY) this.#strayedAtMs = now();
  }

  /**
   * Up to when the stream's state is complete, if it has missed no notice.
   *
   * @param liveAtMs what it reported by then (epoch milliseconds) has arrived; absent: all that it has reported
   */
  completeUpToMs(liveAtMs = Number.POSITIVE_INFINITY): number {
    const passedAtMs = this.#times.passedAtMs(this.#reported.newestBy(liveAtMs));
    return Math.min(liveAtMs, passedAtMs, this.#strayedAtMs, this.#discardedAtMs);
  }

  /** How long the stream has been missing a slot known from other sources. Milliseconds. */
  lagMs(): number {
    this.noteHead();
    return this.slot === 0n ? 0 : Math.max(0, this.#options.now() - this.#times.passedAtMs(this.slot));
  }

  /** True while the stream's slots are far behind the newest known: its state may be old. */
  isBehind(): boolean {
    return this.lagMs() > this.#options.quietMs || (this.slot > 0n && this.isOld(this.slot));
  }

  /** True for a slot far behind the newest known. */
  isOld(slot: bigint): boolean {
    return slot + this.#options.maxLagSlots < this.#times.newest;
  }

  /** True for a slot that the stream has passed or is close to. */
  isNear(slot: bigint): boolean {
    return slot <= this.slot + this.#options.maxLagSlots;
  }

  /** True while the stream has reported no slot for too long. */
  isQuiet(): boolean {
    return this.#options.now() - this.receivedAtMs > this.#options.quietMs;
  }

  /** True for a slot too far ahead of everything known to exist yet. */
  isFarAhead(slot: bigint): boolean {
    return this.#known() > 0n && (slot > this.furthestSlot() || this.#isAheadOfNodes(slot));
  }

  /** The furthest slot that may exist, if any is known: who reports a later one is wrong. */
  furthestSlot(): bigint {
    return this.#known() + this.#options.maxLeadSlots;
  }

  #known(): bigint {
    const { tree, headSlot } = this.#options;
    return maxOf(tree.head, headSlot());
  }

  /** True for a slot too far ahead of what sources other than the stream know. */
  isFarAheadOfOthers(slot: bigint): boolean {
    const known = this.#options.headSlot();
    return known > 0n && (slot > known + this.#options.maxLeadSlots || this.#isAheadOfNodes(slot));
  }

  #isAheadOfNodes(slot: bigint): boolean {
    // Called for every notice: a slot that the head has reached needs no comparison.
    if (slot <= this.#options.headSlot()) return false;
    const byNodes = this.#options.slotByNodes();
    return byNodes !== undefined && slot > byNodes + this.#options.maxLagSlots;
  }
}
