import type { SubmissionRecord, Submissions } from "../../../accounts/port.ts";
import { within } from "../waiting.ts";
import { coversMore } from "./expired-outcome.ts";
import { asFinal, asUndone, isFinal, isSameEnd, type Outcome, slotOf } from "./outcome.ts";
import type { ProgressCache } from "./progress-cache.ts";
import { storedOutcome } from "./stored-outcome.ts";

/** Longest that an answer waits for the database. Milliseconds. */
const WAIT_MS = 2_000;
/** Finalized trades kept in memory, for answers while the database is away. */
const MAX_FINALIZED = 4_096;

/** A final trade: its slot, and the pending write of its finality. */
interface FinalTrade {
  readonly slot: bigint | undefined;
  readonly writing: Promise<void> | undefined;
}

/** What the record of an ended trade says of its end, and under which signature it ended. */
type EndedRecord = Pick<SubmissionRecord, "messageHash" | "signature" | "outcome">;

/** An end that this process remembers. */
interface RememberedEnd {
  readonly outcome: Outcome | undefined;
  isRecordedAs(digest: string): boolean;
  /** Writes it again, or takes over what the record says of it. */
  restoreOutcome(): Promise<void>;
}

/** What becomes of ends whose block was undone. */
interface UndoneEnds {
  /** Corrects a trade that is final in another slot, or in no block (undefined). Never rejects. */
  correct(messageHash: string, finalSlot: bigint | undefined): Promise<void>;
  /** True once a trade that had landed has been shown to be in no block for good. */
  isUndone(messageHash: string): boolean;
}

/**
 * Decides when a trade is reported as finalized, landed or failed. Finality does not change: once observed it is written, and from then on
 * no process asks a node again or reports less.
 */
export class Finality {
  readonly #submissions: Submissions;
  readonly #chain: ProgressCache;
  readonly #moved: UndoneEnds;
  /** By message hash. */
  readonly #finalized = new Map<string, FinalTrade>();

  /** @param moved corrects a trade that is final in another slot than it ended in, or is in none any more: that end was undone */
  constructor(submissions: Submissions, chain: ProgressCache, moved: UndoneEnds) {
    this.#submissions = submissions;
    this.#chain = chain;
    this.#moved = moved;
  }

  /**
   * The end of a trade as its record shows, final if it was reported so before or if the chain shows it now; that is written.
   *
   * @param outcome the one in the record
   */
  async complete({ messageHash, signature, outcome: text }: EndedRecord, outcome: Outcome): Promise<Outcome> {
    const completed = await this.completeUnrecorded(messageHash, outcome, signature);
    if (completed !== outcome && isFinal(completed)) await this.#write(messageHash, text!, slotOf(outcome));
    return completed;
  }

  /** The same of a trade as this process remembers it. Nothing is written: what is on record may be another end. */
  async completeUnrecorded(messageHash: string, outcome: Outcome, signature: string): Promise<Outcome> {
    if (isFinal(outcome)) return outcome;
    let slot = this.#finalized.get(messageHash)?.slot;
    if (slot === undefined) {
      const seen = await this.#chain.fetch(signature);
      if (seen === undefined) {
        void this.#moved.correct(messageHash, undefined);
        return this.#standing(messageHash, outcome);
      }
      if (seen.commitment !== "finalized") return outcome;
      if (seen.slot === slotOf(outcome) && (seen.error != null) !== (outcome.kind === "failed")) return outcome;
      slot = seen.slot;
    }
    if (slot === slotOf(outcome)) {
      if (!this.#finalized.has(messageHash)) this.#remember(messageHash, { slot, writing: undefined });
      return asFinal(outcome);
    }
    void this.#moved.correct(messageHash, slot);
    return outcome;
  }

  /** An end that is not final, undone if the nodes have shown that. */
  #standing(messageHash: string, outcome: Outcome): Outcome {
    return this.#moved.isUndone(messageHash) ? asUndone(outcome) : outcome;
  }

  /**
   * The end of a trade as this process remembers it, final if this or another process has reported it so; undefined if it is final in
   * another slot, or if this end has none and another one is on record, unless that only covers fewer signatures. Asks no node.
   */
  async recall(messageHash: string, end: RememberedEnd): Promise<Outcome | undefined> {
    const outcome = end.outcome!;
    const slot = slotOf(outcome);
    if (slot === undefined) {
      // Another process may have seen it land since, under another signature, or may have ruled on it while the database was away from this one.
      const recorded = await this.#recorded(messageHash);
      const isOther = recorded !== undefined && !isSameEnd(recorded, outcome) && !coversMore(outcome, recorded);
      return isOther ? undefined : outcome;
    }
    if (isFinal(outcome)) return outcome;
    if (!this.#finalized.has(messageHash)) {
      const reading = this.#submissions.standingOf(messageHash).catch(() => undefined);
      const standing = await within(WAIT_MS, reading);
      // Of one end, all processes say the same.
      if (standing !== undefined && !end.isRecordedAs(standing.digest)) await within(WAIT_MS, end.restoreOutcome());
      if (standing?.isFinalized !== true) return this.#standing(messageHash, end.outcome!);
      const stored = await this.#recorded(messageHash);
      // Another server may have answered: of its record, it is not known whether that end was final.
      if (stored === undefined || !isFinal(stored)) return end.outcome;
      this.#remember(messageHash, { slot: slotOf(stored), writing: undefined });
    }
    return this.#finalized.get(messageHash)!.slot === slot ? asFinal(end.outcome!) : undefined;
  }

  /** The end on record; undefined if there is none that can be read, or if the database does not answer in time. */
  async #recorded(messageHash: string): Promise<Outcome | undefined> {
    const reading = this.#submissions.byMessageHash(messageHash).catch(() => undefined);
    const record = await within(WAIT_MS, reading);
    return record && storedOutcome(record);
  }

  /** Writes it, one write at a time: if the record still lacks it at the next answer, the write failed or another server has taken over. */
  #write(messageHash: string, outcome: string, slot: bigint | undefined): Promise<void> {
    const started = this.#finalized.get(messageHash)?.writing;
    if (started !== undefined) return started;
    const writing = within(
      WAIT_MS,
      // Only of the outcome that was read: after a failover the record may have an earlier one, which was undone.
      this.#submissions.finalize(messageHash, outcome).catch(() => false),
    ).then(() => {
      if (this.#finalized.has(messageHash)) this.#finalized.set(messageHash, { slot, writing: undefined });
    });
    this.#remember(messageHash, { slot, writing });
    return writing;
  }

  #remember(messageHash: string, final: FinalTrade): void {
    if (this.#finalized.size >= MAX_FINALIZED) {
      const [oldest] = this.#finalized.keys();
      this.#finalized.delete(oldest!);
    }
    this.#finalized.set(messageHash, final);
  }
}
