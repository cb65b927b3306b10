import type { Account } from "../../../solana/account.ts";
import { hasSameContent } from "../../../solana/account-content.ts";

/** What an account held at a slot, by the word of most nodes. */
interface Agreement {
  readonly slot: bigint;
  readonly account: Account | null;
  /** When they agreed. Milliseconds. */
  readonly atMs: number;
}

/** What the stream reported of a slot: the states of the account in it, in the order of its changes. */
interface ReportedSlot {
  readonly slot: bigint;
  readonly states: (Account | null)[];
}

/**
 * Slots the stream has to be past one that is checked. One that reports every change may have its last change of the slot still
 * to come; another reports a slot's state once.
 */
const COMPLETE_PATIENCE_SLOTS = 2n;
const PATIENCE_SLOTS = 1n;
/** The same of a slot of which it has reported no change, and the time since the nodes agreed on it. Slots, and milliseconds. */
const OMITTED_PATIENCE_SLOTS = 4n;
const OMITTED_PATIENCE_MS = 700;
/** Slots that are remembered as right or wrong, and for how long (milliseconds). */
const MAX_CHECKS = 8;
const CHECKED_MS = 10_000;
const MAX_AGREEMENTS = 8;
const MAX_SLOTS = 32;
/** A slot with more changes is not checked. */
const MAX_STATES = 64;

/**
 * Whether a stream has reported what most nodes agree on. An account that changes in every slot needs this: a node may answer
 * from before or after any change within its slot, and by the time that is decided the next slot is there.
 */
export class StreamRecord {
  readonly #isComplete: boolean;
  readonly #agreements: Agreement[] = [];
  readonly #reported: ReportedSlot[] = [];
  /** The last slots checked, oldest first, and when (epoch milliseconds). */
  readonly #checks: { readonly isWrong: boolean; readonly atMs: number }[] = [];

  /** @param isComplete true if the stream reports every change, not only the state at the end of a slot */
  constructor(isComplete: boolean) {
    this.#isComplete = isComplete;
  }

  /** How many of the last slots checked were wrong. */
  get wrong(): number {
    return this.#checks.filter(({ isWrong }) => isWrong).length;
  }

  /** The stream reports a change. */
  note(slot: bigint, account: Account | null): void {
    const last = this.#reported.at(-1);
    if (last?.slot === slot) last.states.push(account);
    else this.#reported.push({ slot, states: [account] });
    if (last !== undefined && last.states.length > MAX_STATES) last.states.length = MAX_STATES;
    if (this.#reported.length > MAX_SLOTS) this.#reported.shift();
  }

  /** Most nodes agree. @returns false if they agreed on another state of that slot before: they answer from within slots */
  agree({ slot, account, atMs }: Agreement): boolean {
    const known = this.#agreements.find((one) => one.slot === slot);
    if (known !== undefined) return hasSameContent(known.account, account);
    this.#agreements.push({ slot, account, atMs });
    if (this.#agreements.length > MAX_AGREEMENTS) this.#agreements.shift();
    return true;
  }

  /**
   * Checks the slots that the stream has passed.
   * @param heldAt what is held of a slot by the stream's word, unless that is uncertain
   * @returns true if one of them was wrong
   */
  check(streamSlot: bigint, atMs: number, heldAt: (slot: bigint) => Pick<Agreement, "account"> | undefined): boolean {
    while (this.#checks.length > 0 && this.#checks[0]!.atMs < atMs - CHECKED_MS) this.#checks.shift();
    let isAnyWrong = false;
    for (const agreement of [...this.#agreements]) {
      const { slot } = agreement;
      if (streamSlot < slot + (this.#isComplete ? COMPLETE_PATIENCE_SLOTS : PATIENCE_SLOTS)) continue;
      const isReported = this.#reported.some((one) => one.slot === slot);
      const isOver = streamSlot >= slot + OMITTED_PATIENCE_SLOTS && atMs - agreement.atMs >= OMITTED_PATIENCE_MS;
      if (!isReported && !isOver) continue;
      this.#agreements.splice(this.#agreements.indexOf(agreement), 1);
      const isRight = isReported ? this.#isReported(agreement) : isUnchanged(agreement, heldAt(slot));
      if (isRight === undefined) continue;
      isAnyWrong ||= !isRight;
      this.#checks.push({ isWrong: !isRight, atMs });
      if (this.#checks.length > MAX_CHECKS) this.#checks.shift();
    }
    return isAnyWrong;
  }

  /** The consequences were drawn: what was wrong counts no more. */
  forget(): void {
    this.#checks.length = 0;
  }

  /** Undefined if the stream reported no change in the slot, or too many, or what it held before is not known. */
  #isReported({ slot, account }: Agreement): boolean | undefined {
    const at = this.#reported.findIndex((one) => one.slot === slot);
    const before = this.#reported[at - 1]?.states.at(-1);
    if (at < 0 || before === undefined || this.#reported[at]!.states.length >= MAX_STATES) return undefined;
    return [before, ...this.#reported[at]!.states].some((state) => hasSameContent(state, account));
  }
}

/** Whether an account of whose slot the stream reports no change is what it was; undefined if that is not known. */
function isUnchanged({ account }: Agreement, held: Pick<Agreement, "account"> | undefined): boolean | undefined {
  return held === undefined ? undefined : hasSameContent(held.account, account);
}
