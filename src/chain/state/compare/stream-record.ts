import type { Account } from "../../../solana/account.ts";
import { hasSameContent } from "../../../solana/account-content.ts";

/** What an account held at a slot, by the word of most nodes. */
interface Agreement {
  readonly slot: bigint;
  readonly account: Account | null;
}

/** What the stream reported of a slot: every state of the account in it, in the order of its changes. */
interface ReportedSlot {
  readonly slot: bigint;
  readonly states: (Account | null)[];
}

/** Slots the stream has to be past one that is checked, so that its last change of that slot has come. */
const PATIENCE_SLOTS = 2n;
/** Wrong slots in a row after which a stream is wrong. */
const WRONG_IN_A_ROW = 3;
const MAX_AGREEMENTS = 8;
const MAX_SLOTS = 32;
/** A slot with more changes is not checked. */
const MAX_STATES = 64;

/**
 * Whether a stream that reports every change has reported what most nodes agree on. An account that changes in every slot needs
 * this: a node may answer from before or after any change within its slot, and by the time that is decided the next slot is there.
 */
export class StreamRecord {
  readonly #agreements: Agreement[] = [];
  readonly #reported: ReportedSlot[] = [];
  #wrong = 0;

  /** True if the last slot checked was wrong. */
  get isDoubtful(): boolean {
    return this.#wrong > 0;
  }

  /** The stream reports a change. */
  note(slot: bigint, account: Account | null): void {
    const last = this.#reported.at(-1);
    if (last?.slot === slot) last.states.push(account);
    else this.#reported.push({ slot, states: [account] });
    if (last !== undefined && last.states.length > MAX_STATES) last.states.length = MAX_STATES;
    if (this.#reported.length > MAX_SLOTS) this.#reported.shift();
  }

  /** Most nodes agree. */
  agree({ slot, account }: Agreement): void {
    if (this.#agreements.some((known) => known.slot === slot)) return;
    this.#agreements.push({ slot, account });
    if (this.#agreements.length > MAX_AGREEMENTS) this.#agreements.shift();
  }

  /** Checks the slots that a stream has passed. @returns true if it is wrong about the account */
  check(streamSlot: bigint): boolean {
    while (this.#agreements.length > 0 && streamSlot >= this.#agreements[0]!.slot + PATIENCE_SLOTS) {
      const isRight = this.#isReported(this.#agreements.shift()!);
      if (isRight !== undefined) this.#wrong = isRight ? 0 : this.#wrong + 1;
    }
    if (this.#wrong < WRONG_IN_A_ROW) return false;
    this.#wrong = 0;
    return true;
  }

  /** Undefined if the stream reported no change in the slot, or too many, or what it held before is not known. */
  #isReported({ slot, account }: Agreement): boolean | undefined {
    const at = this.#reported.findIndex((one) => one.slot === slot);
    const before = this.#reported[at - 1]?.states.at(-1);
    if (at < 0 || before === undefined || this.#reported[at]!.states.length >= MAX_STATES) return undefined;
    return [before, ...this.#reported[at]!.states].some((state) => hasSameContent(state, account));
  }
}
