import type { SubmissionRecord, Submissions } from "../../accounts/port.ts";
import type { Landing } from "../../chain/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Venue } from "../../venues/venue.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import type { Attempts } from "./attempts.ts";
import { type Diagnosis, REMEDIES } from "./diagnosis/diagnosis.ts";
import { openRecord } from "./open-record.ts";
import { expiredOutcome, isProof } from "./outcome/expired-outcome.ts";
import { agreeingOn, formatOutcome, type Outcome, slotOf } from "./outcome/outcome.ts";
import { readOutcome } from "./outcome/read-outcome.ts";
import { storedOutcome } from "./outcome/stored-outcome.ts";

/** Longest wait for the nodes to show what became of a transaction. Milliseconds. */
const SEARCH_MS = 10_000;
const UNDONE: Diagnosis = {
  cause: "dropped_block",
  sure: true,
  evidence: "It had failed in a confirmed block, which the chain undid.",
  remedy: REMEDIES.dropped_block,
  others: [],
};

interface MovedTradesPorts {
  readonly submissions: Pick<Submissions, "byMessageHash" | "replaceOutcome">;
  readonly landing: Pick<Landing, "land" | "searchMessage">;
  readonly sealer: TokenSealer;
  readonly venues: readonly Venue[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly settings: { readonly historyMs: number };
}

/**
 * Corrects the ends of trades whose confirmed block was undone. Of those that are final in another one, slot, amounts and costs become
 * those of the final record; those that had failed and are final in none have expired.
 */
export class MovedTrades {
  readonly #ports: MovedTradesPorts;
  readonly #attempts: Pick<Attempts, "forgetEnd">;
  /** Message hashes of those being corrected. */
  readonly #correcting = new Set<string>();

  constructor(ports: MovedTradesPorts, attempts: Pick<Attempts, "forgetEnd">) {
    this.#ports = ports;
    this.#attempts = attempts;
  }

  /**
   * Corrects the end of a message that is final in this slot, or that failed and is in no block any more. Never rejects: the next look at
   * the trade tries again.
   */
  async correct(messageHash: string, finalSlot: bigint | undefined): Promise<void> {
    if (this.#correcting.has(messageHash)) return;
    this.#correcting.add(messageHash);
    try {
      await this.#correct(messageHash, finalSlot);
    } catch {
      // The database or too many nodes are away, or the record of the submission is damaged.
    } finally {
      this.#correcting.delete(messageHash);
    }
  }

  async #correct(messageHash: string, finalSlot: bigint | undefined): Promise<void> {
    const { submissions, sealer, warn } = this.#ports;
    const record = await submissions.byMessageHash(messageHash);
    const stored = record && storedOutcome(record);
    if (record?.outcome === undefined || stored === undefined) return;
    // What was reported as final stays so, whatever the nodes say later.
    if (slotOf(stored) !== finalSlot && !record.isFinalized) {
      const sealed = openRecord(sealer, record);
      const { signature } = record;
      const { end, witnesses } = await this.#endOf(record, sealed, finalSlot);
      // While the other nodes are silent, one alone takes back nothing that two have shown.
      if (end === undefined || witnesses < agreeingOn(stored)) return;
      const { lastValidBlockHeight } = sealed;
      await submissions.replaceOutcome({ ...record, lastValidBlockHeight }, record.outcome, formatOutcome(end), true);
      const where = finalSlot === undefined ? "it has expired" : `it is final in slot ${finalSlot}`;
      warn(`The transaction ${signature} was confirmed in slot ${slotOf(stored)}, which was undone: ${where}.`);
    }
    this.#attempts.forgetEnd(messageHash);
  }

  /** The end that the nodes show now, if it is in the final slot, or if it is an expiry and there is none. */
  async #endOf(
    { signature, transaction }: SubmissionRecord,
    sealed: SealedTrade,
    finalSlot: bigint | undefined,
  ): Promise<{ readonly end?: Outcome; readonly witnesses: number }> {
    const { landing, venues, now, settings } = this.#ports;
    const { wallet, messageHash, lastValidBlockHeight, buildSlot, expiresAtMs } = sealed;
    const deadlineMs = now() + SEARCH_MS;
    const landed = await landing.land({ signature, transaction, lastValidBlockHeight, deadlineMs, senders: [] });
    if (landed.kind === "landed" && landed.record.slot === finalSlot)
      return { end: readOutcome(venues, sealed, { signature, transaction }, landed), witnesses: landed.witnesses };
    if (landed.kind !== "expired" || finalSlot !== undefined) return { witnesses: 0 };
    // No signature is left out: it may be in a block again.
    const finding = await landing.searchMessage({ wallet, messageHash, lastValidBlockHeight, buildSlot, known: [] });
    if (!isProof(finding)) return { witnesses: 0 };
    const end = expiredOutcome(signature, finding, { expiresAtMs, nowMs: now(), cause: UNDONE, ...settings });
    // A failure that was seen says more than that the message is too old to tell.
    return end.kind === "failed" && end.code === "TX_EXPIRED"
      ? { end, witnesses: finding.witnesses }
      : { witnesses: 0 };
  }
}
