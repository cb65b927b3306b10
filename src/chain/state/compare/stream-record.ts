import { maxOf } from "../../../primitives/integer.ts";
import type { Account } from "../../../solana/account.ts";
import { hasSameContent } from "../../../solana/account-content.ts";
import { sizeOf } from "../account-versions.ts";

/** An account's state as most nodes report it. */
export interface Agreement {
  readonly account: Account | null;
  /** The slot that each of them named. */
  readonly slots: readonly bigint[];
  /** How many of them the stream has to contradict to be wrong: among that many there is an honest one. */
  readonly needed: number;
  /** When the first of them was asked (epoch milliseconds). */
  readonly sentAtMs: number;
  /** When they agreed. Milliseconds. */
  readonly atMs: number;
  /** The stream's state at that time, from an earlier slot; absent if it had none. Kept because a read hides it afterwards. */
  readonly held?: { readonly account: Account | null; readonly slot: bigint } | undefined;
}

/** What one node says. */
interface Claim {
  readonly node: number;
  readonly slot: bigint;
  readonly account: Account | null;
  readonly atMs: number;
}

interface KeptAgreement extends Agreement {
  readonly newest: bigint;
  isSaid: boolean;
}

/** The stream's report of a slot: the account's states in it, in the order of the changes. */
interface ReportedSlot {
  readonly slot: bigint;
  readonly states: (Account | null)[];
  /** Of all states. */
  bytes: number;
  /** False if the record began after the slot: there may have been more states. */
  readonly isWhole: boolean;
  /** True if later states were left out: there were too many, or they were too large. */
  isFull: boolean;
}

/** What a check needs to know about the stream and the chain. */
export interface StreamView {
  /** The newest slot that the stream reported. */
  readonly slot: bigint;
  readonly atMs: number;
  /** The slot from which the stream reports every change of the account; undefined while it does not. */
  readonly coveredFrom: bigint | undefined;
  /** True for a slot of the chain whose bank was not replaced. */
  isCertain(slot: bigint): boolean;
  /** The state of a slot by the stream's word; undefined if that is uncertain. */
  heldAt(slot: bigint): Pick<Agreement, "account"> | undefined;
}

/** Result of checking a stream. */
export interface StreamChecks {
  /** True if a slot was found wrong, and if one was certainly. */
  readonly isAnyWrong: boolean;
  readonly isAnyCertain: boolean;
  /** An agreement that the stream certainly contradicts, unless it reports changes late: the account should be read. Reported once. */
  readonly contradicted: Agreement | undefined;
  /** True if the stream may yet report what the nodes agree on. */
  readonly isPending: boolean;
}

/** How a statement relates to the stream's report. Certain: no state of the surrounding slots is equal either. */
type Verdict = "right" | "wrong" | "certainly wrong" | "unknown";

/**
 * Slots by which the stream must be past a checked slot. A stream of every change may still report the last change of the slot; others
 * report a slot's state once.
 */
const COMPLETE_PATIENCE_SLOTS = 2n;
const PATIENCE_SLOTS = 1n;
/** The same for a slot without a reported change, and the time since the nodes agreed on it. Slots, and milliseconds. */
const OMITTED_PATIENCE_SLOTS = 4n;
const OMITTED_PATIENCE_MS = 700;
/** Slots by which a node may read a later state than that of the slot it names. @see https://github.com/anza-xyz/agave/issues/4807 */
const READ_LATER_SLOTS = 2n;
/** Checked slots remembered, and for how long (milliseconds). */
const MAX_CHECKS = 8;
const CHECKED_MS = 10_000;
const MAX_AGREEMENTS = 8;
const MAX_CLAIMS = 16;
const MAX_SLOTS = 32;
/** A slot with more changes is not checked, nor is the state that it left used for later slots. */
const MAX_STATES = 64;
/** The same for the bytes of their data. Summed over all slots, the oldest are forgotten above it: a lying stream may send any amount. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Whether a stream has reported what most nodes agree on. Needed for an account that changes in every slot: a node may answer from before
 * or after any change within its slot, and before that is decided the next slot has come.
 */
export class StreamRecord {
  readonly #isComplete: boolean;
  readonly #agreements: KeptAgreement[] = [];
  readonly #claims: Claim[] = [];
  /** When the stream last contradicted each node (epoch milliseconds). */
  readonly #contradictedAtMs = new Map<number, number>();
  /** Oldest slot first. */
  readonly #reported: ReportedSlot[] = [];
  #bytes = 0;
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

  /** The stream reports a change. @param isWhole false if earlier changes of the slot may have come before the record began */
  note(slot: bigint, account: Account | null, isWhole = true): void {
    let at = this.#reported.length;
    while (at > 0 && this.#reported[at - 1]!.slot > slot) at--;
    const known = this.#reported[at - 1];
    const bytes = sizeOf(account);
    if (known?.slot !== slot) {
      this.#reported.splice(at, 0, { slot, states: [account], bytes, isWhole, isFull: false });
      this.#bytes += bytes;
    } else if (known.states.length === MAX_STATES || known.bytes + bytes > MAX_BYTES) known.isFull = true;
    else {
      known.states.push(account);
      known.bytes += bytes;
      this.#bytes += bytes;
    }
    while (this.#reported.length > MAX_SLOTS || (this.#reported.length > 1 && this.#bytes > MAX_BYTES))
      this.#bytes -= this.#reported.shift()!.bytes;
  }

  /** True if the stream has reported that state as the account's of the slot: in it, or as the last one before. */
  hasReported(slot: bigint, account: Account | null): boolean {
    const last = this.#reported.findLast((one) => one.slot <= slot);
    return last?.states.some((state) => hasSameContent(state, account)) === true;
  }

  /** Notes an agreement of most nodes. @returns false if they agreed on another state of that slot before: they answer from within slots */
  agree(agreement: Agreement): boolean {
    const newest = agreement.slots.reduce(maxOf);
    const known = this.#agreements.find((one) => one.newest === newest);
    if (known !== undefined) return hasSameContent(known.account, agreement.account);
    this.#agreements.push({ ...agreement, newest, isSaid: false });
    if (this.#agreements.length > MAX_AGREEMENTS) this.#agreements.shift();
    return true;
  }

  /** Notes one node's word. If the stream contradicts several nodes, each at a slot of its own, that counts as if they had agreed. */
  claim(claim: Claim): void {
    this.#claims.push(claim);
    if (this.#claims.length > MAX_CLAIMS) this.#claims.shift();
  }

  /** Checks the slots that the stream has passed. @param needed nodes among which is an honest one */
  check(view: StreamView, needed: number): StreamChecks {
    const { slot: streamSlot, atMs } = view;
    while (this.#checks.length > 0 && this.#checks[0]!.atMs < atMs - CHECKED_MS) this.#checks.shift();
    let [isAnyWrong, isAnyCertain, isPending] = [false, false, false];
    let contradicted: Agreement | undefined;
    for (const agreement of [...this.#agreements]) {
      const { newest } = agreement;
      const verdict = this.#verdictOn(agreement, view);
      const isPassed = streamSlot >= newest + (this.#isComplete ? COMPLETE_PATIENCE_SLOTS : PATIENCE_SLOTS);
      if (isPassed && verdict === "certainly wrong" && this.#isComplete && !agreement.isSaid) {
        agreement.isSaid = true;
        contradicted = agreement;
      }
      if (!this.#isRipe(newest, agreement.atMs, view)) {
        isPending ||= verdict !== "right";
        continue;
      }
      this.#agreements.splice(this.#agreements.indexOf(agreement), 1);
      if (verdict === "unknown") continue;
      const isWrong = verdict !== "right";
      isAnyWrong ||= isWrong;
      isAnyCertain ||= verdict === "certainly wrong";
      this.#note(isWrong, atMs);
    }
    if (this.#areContradicted(view, needed)) {
      isAnyWrong = isAnyCertain = true;
      this.#note(true, atMs);
    }
    return { isAnyWrong, isAnyCertain, contradicted, isPending: isPending || this.#claims.length > 0 };
  }

  #note(isWrong: boolean, atMs: number): void {
    this.#checks.push({ isWrong, atMs });
    if (this.#checks.length > MAX_CHECKS) this.#checks.shift();
  }

  /** True once the stream has had time to report everything of the slot. */
  #isRipe(slot: bigint, sinceMs: number, view: StreamView): boolean {
    if (view.slot < slot + (this.#isComplete ? COMPLETE_PATIENCE_SLOTS : PATIENCE_SLOTS)) return false;
    if (this.#reportedIn(slot)) return true;
    return view.slot >= slot + OMITTED_PATIENCE_SLOTS && view.atMs - sinceMs >= OMITTED_PATIENCE_MS;
  }

  /**
   * True if the stream has recently, and certainly, contradicted that many nodes: nodes that are slots apart never agree on a changing
   * account.
   */
  #areContradicted(view: StreamView, needed: number): boolean {
    for (const claim of [...this.#claims]) {
      if (!this.#isRipe(claim.slot, claim.atMs, view)) continue;
      this.#claims.splice(this.#claims.indexOf(claim), 1);
      if (this.#verdictAt(claim.slot, claim.account, view) === "certainly wrong")
        this.#contradictedAtMs.set(claim.node, view.atMs);
    }
    for (const [node, atMs] of this.#contradictedAtMs)
      if (atMs < view.atMs - CHECKED_MS) this.#contradictedAtMs.delete(node);
    if (this.#contradictedAtMs.size < needed) return false;
    this.#contradictedAtMs.clear();
    return true;
  }

  /** The stream was dealt with: clears what it was wrong about. */
  forget(): void {
    this.#checks.length = 0;
  }

  /** Wrong if the required number of nodes is contradicted, each at the slot that it named: a single node's may be a lie. */
  #verdictOn({ slots, account, needed, held }: Agreement, view: StreamView): Verdict {
    const verdicts = slots.map((slot) => this.#verdictAt(slot, account, view, held));
    const count = (isMeant: (verdict: Verdict) => boolean) => verdicts.filter(isMeant).length;
    if (count((one) => one === "certainly wrong") >= needed) return "certainly wrong";
    if (count((one) => one === "certainly wrong" || one === "wrong") >= needed) return "wrong";
    return verdicts.includes("unknown") ? "unknown" : "right";
  }

  /** Unknown if the stream's state before the slot is unknown, or if it reported too many changes in the slot. */
  #verdictAt(slot: bigint, account: Account | null, view: StreamView, heldThen?: Agreement["held"]): Verdict {
    const isSame = (state: Account | null) => hasSameContent(state, account);
    const reported = this.#reported.find((one) => one.slot === slot);
    const before = this.#before(slot, view);
    const heldNow = before === undefined ? view.heldAt(slot) : { account: before };
    const held = heldNow ?? heldThen;
    const states = reported?.states ?? [];
    // The stream reported the state late, or the nodes named an earlier slot than that of their state.
    const isReported = (one: ReportedSlot) => one.slot > heldThen!.slot && one.slot <= slot + READ_LATER_SLOTS;
    if (heldNow === undefined && heldThen !== undefined)
      if (this.#reported.some((one) => isReported(one) && one.states.some(isSame))) return "right";
    if (states.some(isSame) || (held !== undefined && isSame(held.account))) return "right";
    if (held === undefined || reported?.isWhole === false || reported?.isFull === true) return "unknown";
    const later = this.#reported.filter((one) => one.slot > slot && one.slot <= slot + READ_LATER_SLOTS);
    const isCertain = before !== undefined && view.isCertain(slot) && !later.some((one) => one.states.some(isSame));
    return isCertain ? "certainly wrong" : "wrong";
  }

  /** The stream's last report before the slot; undefined if it may have missed a change since. */
  #before(slot: bigint, { coveredFrom, isCertain }: StreamView): Account | null | undefined {
    const last = this.#reported.findLast((one) => one.slot < slot && isCertain(one.slot));
    if (last === undefined || last.isFull) return undefined;
    const isCovered = this.#isComplete ? coveredFrom !== undefined && last.slot >= coveredFrom : this.#reportedIn(slot);
    return isCovered ? last.states.at(-1) : undefined;
  }

  #reportedIn(slot: bigint): boolean {
    return this.#reported.some((one) => one.slot === slot);
  }
}
