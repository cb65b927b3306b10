import type { SubmissionClaim } from "../../accounts/port.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import { Attempt, type AttemptPorts } from "./attempt/attempt.ts";
import { leaseOf } from "./attempt/claim-keeper.ts";
import { openRecord } from "./open-record.ts";
import { slotOf } from "./outcome/outcome.ts";
import { RecentEnds } from "./recent-ends.ts";

/** Renewals per lease: a late or failed one does not lose the claim. */
const RENEWALS_PER_LEASE = 4;
/**
 * Share of its lease after which a claim is renewed for the first time, so that it is renewed three times before it ends. Most trades have
 * ended by then.
 */
const RENEWED_AFTER = 1 / 8;
/** Settled attempts kept in memory, however many are pending: they answer repeated submits while the database is away. */
const MAX_SETTLED = 1_024;

/** The attempts of this process, by message and by signature. Renews the leases of those whose claim it holds. */
export class Attempts {
  readonly #ports: AttemptPorts;
  /** By message hash, oldest first. */
  readonly #byMessage = new Map<string, Attempt>();
  readonly #bySignature = new Map<string, Attempt>();
  readonly #pending = new Set<Attempt>();
  /** In the order in which they settled. */
  readonly #settled = new Set<Attempt>();
  readonly #settledByToken = new Map<string, Attempt>();
  readonly #ends: RecentEnds;
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> | undefined;
  #isClosed = false;

  constructor(ports: AttemptPorts) {
    this.#ports = ports;
    this.#ends = new RecentEnds(ports.submissions, ports.monotonicMs);
    this.#timer = setInterval(() => this.#renew(), ports.settings.leaseMs / RENEWALS_PER_LEASE);
    this.#timer.unref();
  }

  /** The attempt of a message, if it is in memory. */
  byMessage(messageHash: string): Attempt | undefined {
    return this.#byMessage.get(messageHash);
  }

  /** This account's attempt that follows the signature. */
  bySignature(accountId: string, signature: string): Attempt | undefined {
    const attempt = this.#bySignature.get(signature);
    return attempt?.claim.accountId === accountId ? attempt : undefined;
  }

  /**
   * The settled attempt to which this account submitted exactly these bytes with this token: they were checked then, and the result does
   * not change.
   */
  settledBy(accountId: string, submissionToken: string, transaction: Uint8Array): Attempt | undefined {
    const attempt = this.#settledByToken.get(submissionToken);
    if (attempt?.claim.accountId !== accountId || attempt.isTaken) return undefined;
    return equalBytes(attempt.claim.transaction, transaction) ? attempt : undefined;
  }

  /** Drops the attempt: the end that this process knows is no longer the one on record. */
  forgetEnd(messageHash: string): void {
    const attempt = this.byMessage(messageHash);
    if (attempt?.isSettled !== true) return;
    this.#forget(attempt);
    this.#ends.drop(attempt);
  }

  /** As `forgetEnd`, if the end that this process knows is in another slot than the one on record. */
  forgetOtherEnd(messageHash: string, recorded: bigint | undefined): void {
    const known = this.byMessage(messageHash)?.outcome;
    if (known !== undefined && slotOf(known) !== recorded) this.forgetEnd(messageHash);
  }

  /**
   * The attempt of the message, started if there is none, or if its end does not cover this signature; it then follows this signature too,
   * unless it is another build's.
   */
  join(claim: SubmissionClaim, sealed: SealedTrade): Attempt {
    const { messageHash, signature, transaction } = claim;
    const known = this.byMessage(messageHash);
    if (known?.claim.submissionToken === claim.submissionToken && !known.covers(signature)) this.#forget(known);
    const attempt = this.byMessage(messageHash) ?? this.#start(claim, sealed, false);
    if (attempt.claim.submissionToken !== claim.submissionToken) return attempt;
    if (!attempt.isSettled && attempt.addSignature(signature, transaction)) this.#bySignature.set(signature, attempt);
    return attempt;
  }

  /**
   * Follows a message whose claim this process has taken over, with the attempt that a submit has started meanwhile, if any. One of another
   * build is about to give the message up; the next search takes it over again.
   */
  resume(claim: SubmissionClaim, sealed: SealedTrade): void {
    const attempt = this.byMessage(claim.messageHash);
    if (attempt === undefined) this.#start(claim, sealed, true);
    else if (attempt.claim.submissionToken === claim.submissionToken) attempt.hold();
  }

  /** Hands pending attempts over to other processes by giving up their leases. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const hashes = Array.from(this.#pending, ({ claim }) => claim.messageHash);
    for (const attempt of this.#pending) attempt.release();
    await this.#renewing;
    await this.#ports.submissions.renew(hashes, { owner: this.#ports.owner, untilMs: 0 }).catch(() => {});
  }

  #start(claim: SubmissionClaim, sealed: SealedTrade, isClaimed: boolean): Attempt {
    const attempt = new Attempt(this.#ports, claim, sealed, isClaimed);
    this.#byMessage.set(claim.messageHash, attempt);
    this.#bySignature.set(claim.signature, attempt);
    this.#pending.add(attempt);
    attempt.done.then(
      (outcome) => (outcome === undefined ? this.#giveUp(attempt) : this.#settle(attempt)),
      () => this.#forget(attempt),
    );
    return attempt;
  }

  /**
   * What it has sent of a message that is another build's is followed as that build's: the process that drives the other may have ended it
   * before it knew of these signatures.
   */
  #giveUp(attempt: Attempt): void {
    this.#forget(attempt);
    const { sentBeside, claim } = attempt;
    if (sentBeside === undefined || this.#isClosed) return;
    const { record, forms } = sentBeside;
    const sealed = openRecord(this.#ports.sealer, { ...claim, submissionToken: record.submissionToken });
    for (const form of forms) this.join({ ...record, ...form }, sealed);
  }

  #settle(attempt: Attempt): void {
    this.#pending.delete(attempt);
    this.#settled.add(attempt);
    this.#settledByToken.set(attempt.claim.submissionToken, attempt);
    this.#ends.add(attempt);
    this.#makeRoom();
  }

  #forget(attempt: Attempt): void {
    this.#pending.delete(attempt);
    this.#settled.delete(attempt);
    const { messageHash, submissionToken } = attempt.claim;
    if (this.#settledByToken.get(submissionToken) === attempt) this.#settledByToken.delete(submissionToken);
    if (this.#byMessage.get(messageHash) === attempt) this.#byMessage.delete(messageHash);
    for (const signature of attempt.signatures)
      if (this.#bySignature.get(signature) === attempt) this.#bySignature.delete(signature);
  }

  /** Those that settled longest ago go: to look for them among all would take as long as there are pending ones. */
  #makeRoom(): void {
    for (const attempt of this.#settled) {
      if (this.#settled.size <= MAX_SETTLED) return;
      this.#forget(attempt);
    }
  }

  /** Writes again what the database lacks of a claim held here: the claim itself, or signatures of its message. */
  #restore(messageHash: string, isKnown: boolean): void {
    const attempt = this.byMessage(messageHash);
    if (attempt?.holdsClaim !== true) return;
    if (isKnown) void attempt.restoreSignatures();
    else attempt.restoreClaim();
  }

  /** True if a claim is too young to be renewed. A clock that was set back does not make a claim young. */
  #isYoung({ claimedAtMs }: SubmissionClaim): boolean {
    const { now, settings } = this.#ports;
    const ageMs = now() - claimedAtMs;
    return ageMs >= 0 && ageMs < settings.leaseMs * RENEWED_AFTER;
  }

  #renew(): void {
    if (this.#renewing !== undefined) return;
    const held: string[] = [];
    if (!this.#ports.isCutOff?.())
      for (const { holdsClaim, claim } of this.#pending)
        if (holdsClaim && !this.#isYoung(claim)) held.push(claim.messageHash);
    this.#renewing = this.#ports.submissions
      .renew(held, leaseOf(this.#ports))
      .then((renewed) => {
        const known = new Set(renewed);
        for (const messageHash of held) this.#restore(messageHash, known.has(messageHash));
      })
      .then(() => this.#ends.restore())
      // The database is unavailable; the next turn tries again.
      .catch(() => {})
      .finally(() => {
        this.#renewing = undefined;
      });
  }
}
