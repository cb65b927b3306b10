import type { Address } from "../../primitives/address.ts";
import type { FollowedRecord } from "../port.ts";
import type { AccountHistory, KeptVersion } from "./account-versions.ts";
import type { Indexed } from "./order/indexed-set.ts";
import type { Ordered } from "./order/read-order.ts";

/** How far an account's state is known. Times are epoch milliseconds. */
export interface Standing {
  /** The slot from which the stream reports every change; undefined while it does not. */
  coveredFrom: bigint | undefined;
  /** True once a read has closed the gap before the stream: from then on the stream suffices. */
  streamed: boolean;
  /** Up to when the state is proven without the stream. */
  provenAtMs: number;
}

/** An event that concerned every followed account at once, applied to this one. */
export type Upheaval = (standing: Standing, address: Address) => void;

/** Events that concern all accounts, in order. Each account applies them when it is next used. */
export class Upheavals {
  readonly #kept: Upheaval[] = [];
  #dropped = 0;

  /** How many there were. */
  get count(): number {
    return this.#dropped + this.#kept.length;
  }

  add(upheaval: Upheaval): void {
    this.#kept.push(upheaval);
  }

  /** Applies to an account's standing the events after the first `takenIn`. */
  apply(standing: Standing, address: Address, takenIn: number): void {
    for (let at = Math.max(0, takenIn - this.#dropped); at < this.#kept.length; at++)
      this.#kept[at]!(standing, address);
  }

  /** Every account has applied this many. */
  drop(count: number): void {
    this.#kept.splice(0, count - this.#dropped);
    this.#dropped = count;
  }
}

/** A landed transaction that has written an account. */
export interface AwaitedWrite {
  /** The slot that it landed in, or of the state that the account had there. */
  slot: bigint;
  /** Until when an earlier state is not current (epoch milliseconds). */
  untilMs: number;
  /** Brings the account to the slot; undefined while nobody waits. */
  reading: WriteReading | undefined;
}

/** Reads until accounts have arrived at their slots, shared by all who wait for them. */
export interface WriteReading {
  /** Never rejects. */
  ended: Promise<void>;
}

/** A followed account. Its standing is read only after it has applied the events that concern all accounts. */
export class FollowedAccount implements AccountHistory, FollowedRecord, Indexed, Ordered<FollowedAccount>, Standing {
  // The fields that every build reads lie together in memory: most accounts are in no processor cache.
  readonly address: Address;
  /** The record of its group of followed accounts; undefined once it is not followed. */
  table: object | undefined;
  #streamed = false;
  #takenIn: number;
  readonly #upheavals: Upheavals;
  #provenAtMs = 0;
  /** What has written it lately. */
  awaited: AwaitedWrite | undefined = undefined;
  #coveredFrom: bigint | undefined;
  kept: unknown = undefined;
  isLasting = false;
  newest: KeptVersion | undefined;
  count = 0;
  droppedUpTo: bigint | undefined;
  /** The version last delivered; undefined before the first, and while no version survives. */
  delivered: KeptVersion | undefined;
  /** When it was last read or skipped by a read (epoch milliseconds). */
  readAtMs = 0;
  /** True while most nodes contradict the stream about it: its state comes from reads alone. */
  isDoubted = false;
  /** Until when it is assumed too large for any answer (epoch milliseconds), and the error that showed it. */
  leftOut: { readonly untilMs: number; readonly error: unknown } | undefined;
  /** Number of bank replacements that it has applied. */
  replacementsTaken = 0;
  /**
   * The slot that a version was last added of, and that version's place among those added in it. A small integer, where a bigint is an
   * object.
   */
  touchedIn = -1;
  touchedAt = 0;
  /** The last poll that planned to read it. */
  plannedIn = 0;
  /** Its place among the accounts that the stream does not suffice for. */
  index = -1;
  /** Its neighbours in the order of reads. */
  before: FollowedAccount | undefined;
  after: FollowedAccount | undefined;

  constructor(address: Address, upheavals: Upheavals, table?: object) {
    this.address = address;
    this.table = table;
    this.#upheavals = upheavals;
    this.#takenIn = upheavals.count;
  }

  get coveredFrom(): bigint | undefined {
    this.#takeIn();
    return this.#coveredFrom;
  }

  set coveredFrom(slot: bigint | undefined) {
    this.#takeIn();
    this.#coveredFrom = slot;
  }

  get streamed(): boolean {
    this.#takeIn();
    return this.#streamed;
  }

  set streamed(isStreamed: boolean) {
    this.#takeIn();
    this.#streamed = isStreamed;
  }

  get provenAtMs(): number {
    this.#takeIn();
    return this.#provenAtMs;
  }

  set provenAtMs(atMs: number) {
    this.#takeIn();
    this.#provenAtMs = atMs;
  }

  #takeIn(): void {
    const { count } = this.#upheavals;
    if (this.#takenIn === count) return;
    const takenIn = this.#takenIn;
    // Must come first: the code below reads and writes the standing.
    this.#takenIn = count;
    this.#upheavals.apply(this, this.address, takenIn);
  }
}
