import type { SignedForm, SubmissionRecord, Submissions } from "../../accounts/port.ts";
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
import { isSignedForm, verifySignedBytes } from "./signed-bytes.ts";

/** Longest wait for the nodes to show what became of a transaction, and the shortest time from one search for a message to the next. Milliseconds. */
const SEARCH_MS = 10_000;
/** Messages of each kind corrected at once: each is looked for on every node, among the trades in flight, for as long as a search takes. */
const MOST_AT_ONCE = 32;
/** Messages whose last search is remembered. */
const MAX_SEARCHED = 4_096;
/** Messages remembered as undone. */
const MAX_UNDONE = 1_024;
const UNDONE: Diagnosis = {
  cause: "dropped_block",
  sure: true,
  evidence: "It had failed in a confirmed block, which the chain undid.",
  remedy: REMEDIES.dropped_block,
  others: [],
};

/** How a message has ended for good, and under which signature. */
interface FinalEnd extends SignedForm {
  readonly outcome: Outcome;
  readonly slot: bigint | undefined;
  readonly witnesses: number;
}

interface MovedTradesPorts {
  readonly submissions: Pick<Submissions, "addSignature" | "byMessageHash" | "replaceOutcome" | "signaturesOf">;
  readonly landing: Pick<Landing, "land" | "searchMessage">;
  readonly sealer: TokenSealer;
  readonly venues: readonly Venue[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly settings: { readonly historyMs: number };
}

/**
 * Corrects the ends of trades whose confirmed block was undone. Of those that are final in another one, slot, amounts and costs become
 * those of the final record, also under another signature. One that had failed may have expired; one that had landed stays confirmed then.
 */
export class MovedTrades {
  readonly #ports: MovedTradesPorts;
  readonly #attempts: Pick<Attempts, "forgetOtherEnd">;
  /** Message hashes of those being corrected: final in another slot, and in no block. */
  readonly #moving = new Set<string>();
  readonly #searching = new Set<string>();
  /** When messages in no block were searched for (epoch milliseconds), longest ago first. */
  readonly #searchedAtMs = new Map<string, number>();
  /** Message hashes of those that landed in a block that was undone, and are in no other. */
  readonly #undone = new Set<string>();

  constructor(ports: MovedTradesPorts, attempts: Pick<Attempts, "forgetOtherEnd">) {
    this.#ports = ports;
    this.#attempts = attempts;
  }

  /**
   * Corrects the end of a message that is final in this slot, or in no block any more under its signature. Never rejects: the next look at the
   * trade tries again, also if there are as many to correct as there may be. Nodes that keep no history have forgotten every trade that
   * nobody has looked at in time, and a caller may ask about thousands of them: those that nodes show in another block do not wait for these.
   */
  async correct(messageHash: string, finalSlot: bigint | undefined): Promise<void> {
    if (this.#moving.has(messageHash) || this.#searching.has(messageHash)) return;
    const correcting = finalSlot === undefined ? this.#searching : this.#moving;
    if (correcting.size >= MOST_AT_ONCE || (finalSlot === undefined && !this.#beginSearch(messageHash))) return;
    correcting.add(messageHash);
    try {
      await this.#correct(messageHash, finalSlot);
    } catch {
      // The database or too many nodes are away, or the record of the submission is damaged.
    } finally {
      correcting.delete(messageHash);
    }
  }

  /** True once the nodes have shown that a trade that had landed is in no block any more, and can be in none. */
  isUndone(messageHash: string): boolean {
    return this.#undone.has(messageHash);
  }

  /** False if the nodes were searched for the message just now: they may have forgotten it, however often it is asked about. */
  #beginSearch(messageHash: string): boolean {
    const atMs = this.#ports.now();
    const agoMs = atMs - (this.#searchedAtMs.get(messageHash) ?? Number.NEGATIVE_INFINITY);
    if (agoMs >= 0 && agoMs < SEARCH_MS) return false;
    this.#searchedAtMs.delete(messageHash);
    if (this.#searchedAtMs.size >= MAX_SEARCHED) this.#searchedAtMs.delete(this.#searchedAtMs.keys().next().value!);
    this.#searchedAtMs.set(messageHash, atMs);
    return true;
  }

  async #correct(messageHash: string, finalSlot: bigint | undefined): Promise<void> {
    const { submissions, sealer, warn, now, settings } = this.#ports;
    const record = await submissions.byMessageHash(messageHash);
    const stored = record && storedOutcome(record);
    if (record?.outcome === undefined || stored === undefined) return;
    let slot = slotOf(stored);
    // What was reported as final stays so, whatever the nodes say later.
    if (slot !== finalSlot && !record.isFinalized) {
      const sealed = openRecord(sealer, record);
      // The nodes' history proves nothing about an older message.
      if (finalSlot === undefined && now() - sealed.expiresAtMs > settings.historyMs) return;
      const end = await this.#endOf(record, sealed, finalSlot);
      // While the other nodes are silent, one alone takes back nothing that two have shown.
      if (end === undefined || end.witnesses < agreeingOn(stored)) return;
      // Confirmed is never taken back; who may build a failed trade again has to know that it expired.
      if (end.slot === undefined && stored.kind === "landed") return this.#noteUndone(messageHash);
      const { outcome, signature, transaction } = end;
      // The record is found by its first signature too.
      if (signature !== record.signature) await submissions.addSignature(messageHash, record);
      const ended = { ...record, signature, transaction, lastValidBlockHeight: sealed.lastValidBlockHeight };
      const isReplaced = await submissions.replaceOutcome(ended, record, formatOutcome(outcome), true);
      // Another process has corrected it, or reported the end as final, meanwhile.
      if (!isReplaced) return;
      slot = slotOf(outcome);
      const where = slot === undefined ? "it has expired" : `it is final in slot ${slot}`;
      warn(`The transaction ${signature} was confirmed in slot ${slotOf(stored)}, which was undone: ${where}.`);
    }
    this.#attempts.forgetOtherEnd(messageHash, slot);
  }

  #noteUndone(messageHash: string): void {
    if (this.#undone.size >= MAX_UNDONE) this.#undone.delete(this.#undone.values().next().value!);
    this.#undone.add(messageHash);
  }

  /**
   * The end in the final slot; if none is known, the one under another stored signature, or that the wallet's finalized history shows. Undefined
   * if there is no proof of it.
   */
  async #endOf(
    { signature, transaction, messageHash: key }: SubmissionRecord,
    sealed: SealedTrade,
    finalSlot: bigint | undefined,
  ): Promise<FinalEnd | undefined> {
    const { landing, now, settings } = this.#ports;
    const { wallet, messageHash, lastValidBlockHeight, buildSlot, expiresAtMs } = sealed;
    const landed = await this.#land({ signature, transaction }, sealed);
    if (finalSlot !== undefined) return landed !== "expired" && landed?.slot === finalSlot ? landed : undefined;
    if (landed !== "expired") return undefined;
    for (const form of await this.#ports.submissions.signaturesOf(key)) {
      if (form.signature === signature || !isSignedForm(sealed, form)) continue;
      const other = await this.#land(form, sealed);
      if (other !== "expired") return other;
    }
    // No signature is left out: it may be in a block again.
    const finding = await landing.searchMessage({ wallet, messageHash, lastValidBlockHeight, buildSlot, known: [] });
    if (finding.kind === "found") {
      const found = { signature: verifySignedBytes(sealed, finding.transaction), transaction: finding.transaction };
      const again = await this.#land(found, sealed);
      return again === "expired" ? undefined : again;
    }
    if (!isProof(finding)) return undefined;
    const grounds = { cause: UNDONE, signatures: [signature] };
    const outcome = expiredOutcome(signature, finding, { expiresAtMs, nowMs: now(), ...grounds, ...settings });
    // A failure that was seen says more than that the message is too old to tell.
    if (outcome.kind !== "failed" || outcome.code !== "TX_EXPIRED") return undefined;
    return { signature, transaction, outcome, slot: undefined, witnesses: finding.witnesses };
  }

  /** How a transaction that is not sent any more ends; undefined while the nodes do not agree. */
  async #land(form: SignedForm, sealed: SealedTrade): Promise<FinalEnd | "expired" | undefined> {
    const { landing, venues, now } = this.#ports;
    const { lastValidBlockHeight } = sealed;
    const landed = await landing.land({ ...form, lastValidBlockHeight, deadlineMs: now() + SEARCH_MS, senders: [] });
    if (landed.kind !== "landed") return landed.kind === "expired" ? "expired" : undefined;
    const outcome = readOutcome(venues, sealed, form, landed);
    return { ...form, outcome, slot: landed.record.slot, witnesses: landed.witnesses };
  }
}
