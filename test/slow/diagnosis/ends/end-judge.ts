import type { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import type { SubmittedTrade } from "../../../../src/trade/trade.ts";
import { type Fate, FEE, FINAL_AFTER, FIRST_SLOT, type Heights, INPUT, OUTPUT } from "../lies/told-node.ts";

/** Codes of an answer that says nothing about the trade: the caller may ask again. */
/** Time within which every process knows of an end that one has said: two may follow a trade at a time. Milliseconds. */
const TOLD_WITHIN_MS = 10_000;
const NOTHING_SAID = ["TRADE_NOT_FOUND", "UPSTREAM_ERROR", "OVERLOADED"];

/** Holds everything that is said of a trade against how it truly ends, and against what was said before. */
export class EndJudge {
  readonly faults: string[] = [];
  isDecided = false;
  readonly #truth: Fate;
  readonly #heights: Heights;
  readonly #last: number;
  readonly #log: (line: string) => void;
  /** Until when a process may not know what another one has said: the database is away, or has lost it (epoch milliseconds). */
  excusedUntilMs = 0;
  /** The end that was said first. */
  #end: string | undefined;
  #endedAtMs = Number.POSITIVE_INFINITY;

  constructor(truth: Fate, heights: Heights, last: number, log: (line: string) => void) {
    this.#truth = truth;
    this.#heights = heights;
    this.#last = last;
    this.#log = log;
  }

  hear({ status, slot, result, costs }: SubmittedTrade, to: string): void {
    this.#log(`${to}: ${status} ${slot ?? ""} ${result?.outAmount ?? ""}`);
    if (status === "pending" || status === "processed") {
      const knownFromMs = Math.max(this.excusedUntilMs, this.#endedAtMs + TOLD_WITHIN_MS);
      if (to !== "submit" && Date.now() > knownFromMs) this.#note(`${status} after ${this.#end}`);
      return;
    }
    const { slot: landed, error } = this.#truth;
    const says = `${status} in ${slot}, ${result?.inAmount} for ${result?.outAmount}`;
    const isTrue = landed !== undefined && error === null && slot === BigInt(FIRST_SLOT + landed);
    const isExact = result?.inAmount === BigInt(INPUT) && result.outAmount === BigInt(OUTPUT);
    const isPaid = costs.baseFee + costs.priorityFee === BigInt(FEE);
    if (!isTrue || (result !== undefined && !(isExact && isPaid))) this.#note(says);
    else if (status === "finalized" && this.#heights.slot < landed + FINAL_AFTER) this.#note(`${says}, too early`);
    if (result !== undefined) this.#decide(`landed in ${slot}`);
  }

  hearError({ code, facts, message }: TradewireError, to: string): void {
    this.#log(`${to}: ${code} ${message.slice(0, 80)}`);
    if (NOTHING_SAID.includes(code)) return;
    const { slot: landed, error, form } = this.#truth;
    const says = `${code}, safe to rebuild: ${facts.safeToRebuild}, in ${facts.details?.slot}`;
    if (code === "TX_EXPIRED") {
      const isOver = this.#heights.slot > this.#last;
      if (!isOver || (landed !== undefined && (form === 0 || facts.safeToRebuild === true))) this.#note(says);
    } else if (code !== "OUTCOME_UNKNOWN") {
      const isTrue = landed !== undefined && error !== null && Number(facts.details?.slot) === FIRST_SLOT + landed;
      if (!isTrue) this.#note(says);
    }
    this.#decide(code);
  }

  #decide(end: string): void {
    this.isDecided = true;
    if (this.#end === undefined) this.#endedAtMs = Date.now();
    this.#end ??= end;
    if (this.#end !== end) this.#note(`${end} after ${this.#end}`);
  }

  #note(says: string): void {
    this.#log(`FAULT ${says}`);
    this.faults.push(`${says}; in truth ${JSON.stringify(this.#truth)}`);
  }
}
