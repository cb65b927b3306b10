import type { Submissions } from "../../accounts/port.ts";
import type { Landing } from "../../chain/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Venue } from "../../venues/venue.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import type { Attempts } from "./attempts.ts";
import { openRecord } from "./open-record.ts";
import { formatOutcome, slotOf } from "./outcome/outcome.ts";
import { readOutcome } from "./outcome/read-outcome.ts";
import { storedOutcome } from "./outcome/stored-outcome.ts";

/** Longest wait for the record of a finalized transaction. Milliseconds. */
const RECORD_MS = 10_000;

interface MovedTradesPorts {
  readonly submissions: Pick<Submissions, "byMessageHash" | "replaceOutcome">;
  readonly landing: Pick<Landing, "land">;
  readonly sealer: TokenSealer;
  readonly venues: readonly Venue[];
  readonly now: Now;
  readonly warn: (message: string) => void;
}

/**
 * Corrects the ends of trades whose confirmed block was undone, and which are final in another one: slot, amounts and costs become those
 * of the final record.
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

  /** Corrects the end of a message that is final in this slot. Never rejects: the next look at the trade tries again. */
  async correct(messageHash: string, finalSlot: bigint): Promise<void> {
    if (this.#correcting.has(messageHash)) return;
    this.#correcting.add(messageHash);
    try {
      await this.#correct(messageHash, finalSlot);
    } catch {
      // The database is away, or the record of the submission is damaged.
    } finally {
      this.#correcting.delete(messageHash);
    }
  }

  async #correct(messageHash: string, finalSlot: bigint): Promise<void> {
    const { submissions, landing, sealer, venues, now, warn } = this.#ports;
    const record = await submissions.byMessageHash(messageHash);
    const stored = record && storedOutcome(record);
    if (record?.outcome === undefined || stored === undefined) return;
    // What was reported as final stays so, whatever the nodes say later.
    if (slotOf(stored) !== finalSlot && !record.isFinalized) {
      const sealed = openRecord(sealer, record);
      const { signature, transaction } = record;
      const { lastValidBlockHeight } = sealed;
      const deadlineMs = now() + RECORD_MS;
      const landed = await landing.land({ signature, transaction, lastValidBlockHeight, deadlineMs, senders: [] });
      if (landed.kind !== "landed" || landed.record.slot !== finalSlot) return;
      // While the other nodes are silent, one alone takes back nothing that two have shown.
      if (stored.kind === "landed" && landed.witnesses < (stored.witnesses ?? 0)) return;
      const outcome = formatOutcome(readOutcome(venues, sealed, { signature, transaction }, landed));
      await submissions.replaceOutcome({ ...record, lastValidBlockHeight }, record.outcome, outcome, true);
      warn(
        `The transaction ${signature} was confirmed in slot ${slotOf(stored)}, which was undone: it is final in slot ${finalSlot}.`,
      );
    }
    this.#attempts.forgetEnd(messageHash);
  }
}
