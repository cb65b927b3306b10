import type { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import type { ListedTrade, SubmittedTrade } from "../../../../src/trade/trade.ts";
import { type Fate, FEE, FINAL_AFTER, FIRST_SLOT, type Heights, INPUT, OUTPUT } from "../lies/told-node.ts";

/** How the trade ended in a block that was confirmed and then undone. */
export interface Undone extends Omit<Fate, "form" | "slot"> {
  readonly slot: number;
  /** The slot in which the network continued from the block before it. */
  readonly until: number;
}

/** Time within which every process knows of an end that one has said: two may follow a trade at a time. Milliseconds. */
const TOLD_WITHIN_MS = 10_000;
/** Codes of an answer that says nothing about the trade: the caller may ask again. */
const NOTHING_SAID = ["TRADE_NOT_FOUND", "UPSTREAM_ERROR", "OVERLOADED"];
/** Codes of the end of a signature that is in no block, as far as can be told. */
const UNLANDED = ["TX_EXPIRED", "OUTCOME_UNKNOWN"];

/**
 * Holds everything that is said of a trade against how it truly ends, and against what was said before. Whatever happens to nodes, processes
 * and the database:
 *
 * 1. Slot, error, amounts and costs of an end are those of a confirmed block; `finalized` is said of the block that stays, once it is final.
 * 2. `TX_EXPIRED` is said after the last block in which the message could land, and `safeToRebuild` only if it is in no block, ever.
 * 3. No end contradicts another one, except that the final one replaces one whose block was undone. Of two signatures, one may be too old to
 *    tell although the other has been shown to have expired.
 * 4. Within ten seconds every process knows an end that one has said, and that it is final; later if the database was away, and not
 *    necessarily if all that the database lost was known to processes that died.
 * 5. A process sends no trade whose end it has said.
 */
export class EndJudge {
  readonly faults: string[] = [];
  isDecided = false;
  /** True once an end that was undone must have been corrected. */
  isLast = false;
  /** Answers to the last looks that still have an end that was undone. */
  uncorrected = 0;
  readonly #truth: Fate;
  readonly #undone: Undone | undefined;
  readonly #heights: Heights;
  readonly #last: number;
  readonly #log: (line: string) => void;
  /** When something new was said first: an end, or that it is final. Epoch milliseconds. */
  get newsAtMs(): number {
    const times = [this.#endedAtMs, this.#finalizedAtMs].filter(Number.isFinite);
    return Math.max(Number.NEGATIVE_INFINITY, ...times);
  }

  /** Until when a process may not know what another one has said: the database is away, or has lost it (epoch milliseconds). */
  excusedUntilMs = 0;
  /** The end that was said first. */
  #end: string | undefined;
  /** True if that was said of the whole message. */
  #isOfMessage = false;
  /** What was said first of each signature that did not land. */
  readonly #endOf = new Map<unknown, string>();
  #endedAtMs = Number.POSITIVE_INFINITY;
  /** True once a look-up has shown an end: under a signature that nobody submits, it shows none. */
  #isFound = false;
  /** When it was first said to be final, on record. */
  #finalizedAtMs = Number.POSITIVE_INFINITY;

  constructor(truth: Fate, undone: Undone | undefined, heights: Heights, last: number, log: (line: string) => void) {
    this.#truth = truth;
    this.#undone = undone;
    this.#heights = heights;
    this.#last = last;
    this.#log = log;
  }

  hear({ status, slot, result, costs }: SubmittedTrade, to: string): void {
    this.#log(`${to}: ${status} ${slot ?? ""} ${result?.outAmount ?? ""}`);
    if (status === "pending" || status === "processed") {
      // A stream begins with what its process knows; a submit answers when it does.
      if (to !== "submit" && to !== "watch" && Date.now() > this.#knownFromMs)
        this.#note(`${status} after ${this.#end}`);
      return;
    }
    const says = `${status} in ${slot}, ${result?.inAmount} for ${result?.outAmount}`;
    const fate = this.#fateIn(slot);
    const isExact =
      result?.inAmount === BigInt(INPUT) && result.outAmount === BigInt(OUTPUT) + BigInt(fate?.moreOutput ?? 0);
    const isPaid = costs.baseFee + costs.priorityFee === BigInt(FEE);
    if (fate === undefined || fate.error !== null || (result !== undefined && !(isExact && isPaid))) this.#note(says);
    else if (status === "finalized" && !this.#isFinal(fate)) this.#note(`${says}, too early`);
    // While the database is away it is said without a record, and may not be known once its process dies.
    if (status === "finalized") {
      if (Date.now() > this.excusedUntilMs) this.#finalizedAtMs = Math.min(this.#finalizedAtMs, Date.now());
    } else if (to !== "watch" && Date.now() > Math.max(this.excusedUntilMs, this.#finalizedAtMs + TOLD_WITHIN_MS))
      this.#note(`${says}, after it was final`);
    if (result === undefined) return;
    this.#isFound ||= to === "find";
    this.#decide(`landed in ${slot}`, fate);
  }

  /** A process sends what it has said has ended. Once an undone end may be corrected, a repeated submit begins anew. */
  hearSent(name: string): void {
    const isCorrected = this.#undone !== undefined && this.#heights.slot >= this.#undone.until + FINAL_AFTER;
    if (!isCorrected) this.#note(`sent by ${name} after its end`);
  }

  hearListed({ status, slot, trade, failure }: ListedTrade): void {
    if (failure === undefined) {
      if (trade !== undefined && status !== "failed" && status !== "expired") this.hear({ ...trade, status }, "list");
    } else this.#hearFailure(failure.code, { isSafe: failure.safeToRebuild, isFinal: false, slot }, "list");
  }

  hearError({ code, facts, message }: TradewireError, to: string): void {
    this.#log(`${to}: ${code} ${message.slice(0, 80)}`);
    if (code === "TRADE_NOT_FOUND" && this.#isFound && Date.now() > this.#knownFromMs)
      this.#note(`${code} after ${this.#end}`);
    if (NOTHING_SAID.includes(code)) return;
    const { slot, finalized, signature } = facts.details ?? {};
    const isSafe = facts.safeToRebuild === true;
    this.#hearFailure(
      code,
      { isSafe, isFinal: finalized === true, slot: typeof slot === "number" ? BigInt(slot) : undefined, signature },
      to,
    );
  }

  #hearFailure(
    code: string,
    {
      isSafe,
      isFinal,
      slot,
      signature,
    }: {
      readonly isSafe: boolean;
      readonly isFinal: boolean;
      readonly slot: bigint | undefined;
      readonly signature?: unknown;
    },
    to: string,
  ): void {
    const { slot: landed, form } = this.#truth;
    this.#isFound ||= to === "find";
    const says = `${code}, safe to rebuild: ${isSafe}, final: ${isFinal}, in ${slot}`;
    this.#log(`${to}: ${says}`);
    const fate = this.#fateIn(slot);
    if (code === "TX_EXPIRED") {
      const isOver = this.#heights.slot > this.#last;
      // Of a record that was lost, a process may know another signature alone, which has expired.
      const isOfAnother = this.excusedUntilMs === Number.POSITIVE_INFINITY && !isSafe;
      if (isOver && isOfAnother) return;
      if (!isOver || (landed !== undefined && (form === 0 || isSafe))) this.#note(says);
    } else if (code !== "OUTCOME_UNKNOWN") {
      if (fate === undefined || fate.error === null) this.#note(says);
      else if (isFinal && !this.#isFinal(fate)) this.#note(`${says}, too early`);
    }
    // If the record of an end is lost, nodes that have forgotten it too leave nothing to say.
    if (code !== "OUTCOME_UNKNOWN" || this.excusedUntilMs !== Number.POSITIVE_INFINITY)
      this.#decide(code, fate, isSafe ? undefined : signature);
  }

  /** How the message ends, or ended before that was undone, in this slot. */
  #fateIn(slot: bigint | undefined): Fate | Undone | undefined {
    return [this.#truth, this.#undone].find((one) => one?.slot !== undefined && BigInt(FIRST_SLOT + one.slot) === slot);
  }

  /** From when on every process knows the end that was said first (epoch milliseconds). */
  get #knownFromMs(): number {
    return Math.max(this.excusedUntilMs, this.#endedAtMs + TOLD_WITHIN_MS);
  }

  /** True once no world is left in which the block with this end is undone. */
  #isFinal(fate: Fate | Undone): boolean {
    return fate === this.#truth && this.#heights.slot >= fate.slot! + FINAL_AFTER;
  }

  /** @param signature the one that an end without a block is said of; undefined if it is said of the message */
  #decide(end: string, fate: Fate | Undone | undefined, signature?: unknown): void {
    this.isDecided = true;
    // Another end follows it.
    if (fate !== undefined && fate === this.#undone) {
      // One that has landed nowhere else stays confirmed.
      if (this.isLast && (fate.error !== null || this.#truth.slot !== undefined)) this.uncorrected += 1;
      return;
    }
    if (this.#end === undefined) {
      this.#endedAtMs = Date.now();
      this.#isOfMessage = signature === undefined;
    }
    this.#end ??= end;
    if (fate === undefined && signature !== undefined) {
      const before = this.#endOf.get(signature) ?? end;
      this.#endOf.set(signature, before);
      if (before !== end) this.#note(`${end} after ${before}`);
      if (!this.#isOfMessage && UNLANDED.includes(end) && UNLANDED.includes(this.#end)) return;
    }
    if (this.#end !== end) this.#note(`${end} after ${this.#end}`);
  }

  #note(says: string): void {
    this.#log(`FAULT ${says}`);
    this.faults.push(`${says}; in truth ${JSON.stringify(this.#truth)}, undone ${JSON.stringify(this.#undone)}`);
  }
}
