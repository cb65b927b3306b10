import type { Account } from "../../../solana/account.ts";
import { sizeOf } from "../account-versions.ts";

/** An account's state at the end of a slot, by a stream's word. */
interface SlotEnd {
  readonly slot: bigint;
  readonly account: Account | null;
  /** Among the changes of the slot, the highest is the last. */
  readonly order: number;
}

/** Slots kept, more than two streams are apart; and the bytes of their data besides the newest, since a liar may send any amount. */
const MAX_SLOTS = 32;
const MAX_BYTES = 256 * 1024;

/** The states of one account at the ends of the slots that changed it, as one stream reports them. */
export class SlotEnds {
  /** Oldest slot first. */
  readonly #ends: SlotEnd[] = [];

  note(end: SlotEnd): void {
    const ends = this.#ends;
    let at = ends.length;
    while (at > 0 && ends[at - 1]!.slot > end.slot) at--;
    const known = ends[at - 1];
    if (known?.slot !== end.slot) ends.splice(at, 0, end);
    else if (end.order >= known.order) ends[at - 1] = end;
    let bytes = ends.reduce((sum, { account }) => sum + sizeOf(account), 0);
    while (ends.length > MAX_SLOTS || (ends.length > 1 && bytes > MAX_BYTES)) bytes -= sizeOf(ends.shift()!.account);
  }

  /** The state at the end of this slot; undefined if none was reported. */
  at(slot: bigint): SlotEnd | undefined {
    return this.#ends.find((end) => end.slot === slot);
  }

  /** The last one of an earlier slot. */
  before(slot: bigint): SlotEnd | undefined {
    return this.#ends.findLast((end) => end.slot < slot);
  }

  hasLaterThan(slot: bigint): boolean {
    const last = this.#ends.at(-1);
    return last !== undefined && last.slot > slot;
  }

  /** Keeps the states of this slot and later ones, and the last one before. */
  forgetBefore(slot: bigint): void {
    const ends = this.#ends;
    while (ends.length > 1 && ends[1]!.slot < slot) ends.shift();
  }

  /** The slot's bank was replaced. */
  delete(slot: bigint): void {
    const at = this.#ends.findIndex((end) => end.slot === slot);
    if (at >= 0) this.#ends.splice(at, 1);
  }

  clear(): void {
    this.#ends.length = 0;
  }
}
