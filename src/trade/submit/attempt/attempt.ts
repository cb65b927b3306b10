import { hash } from "node:crypto";
import type { SignedForm, SubmissionClaim, SubmissionRecord } from "../../../accounts/port.ts";
import type { Landing, Priority } from "../../../chain/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { equalBytes } from "../../../primitives/bytes.ts";
import type { Now } from "../../../primitives/clock.ts";
import { writtenBy } from "../../../solana/message/message-writes.ts";
import { wireLayout } from "../../../solana/message.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import type { TradeEvent } from "../../trade.ts";
import { AttemptWatch, type LandingConditions } from "../diagnosis/attempt-watch.ts";
import type { Diagnosis } from "../diagnosis/diagnosis.ts";
import { holdsFor, signaturesIn } from "../outcome/expired-outcome.ts";
import { type LandedReport, reportLanded } from "../outcome/landed-report.ts";
import { formatOutcome, isOfMessage, type Outcome, pendingTrade, slotOf } from "../outcome/outcome.ts";
import { readOutcome } from "../outcome/read-outcome.ts";
import { storedOutcome } from "../outcome/stored-outcome.ts";
import { isSignedForm } from "../signed-bytes.ts";
import { sleep, within } from "../waiting.ts";
import { AttemptProgress } from "./attempt-progress.ts";
import { Broadcast, FOLLOW_MS, type LandedSignature } from "./broadcast.ts";
import { ClaimKeeper, type ClaimPorts, type ClaimSettings } from "./claim-keeper.ts";
import { ExpiryRuling } from "./expiry-ruling.ts";
import type { OutcomePoll } from "./outcome-poll.ts";
import type { RecordedEnd } from "./recorded-end.ts";

/** What attempts read and write. */
export interface AttemptPorts extends ClaimPorts {
  readonly settings: AttemptSettings;
  readonly venues: readonly Venue[];
  readonly landing: Landing;
  readonly outcomePoll: OutcomePoll;
  readonly monotonicMs: Now;
  /** Receives, for every landed transaction, the accounts that it has written, and its slot; absent: nobody asks. */
  readonly noteWritten?: ((accounts: readonly Address[], slot: bigint) => void) | undefined;
  /** Receives, for every landed transaction, how it compares with its quote. */
  readonly onLanded?: ((report: LandedReport) => void) | undefined;
  /** Receives a report of every attempt that this process has driven. */
  readonly observe?: (report: AttemptReport) => void;
  /** The newest slot known; absent: reports have none. */
  readonly slot?: () => bigint;
  /** What explains late and expired trades; absent: only the broadcast's own events do. */
  readonly conditions?: LandingConditions | undefined;
}

/** What bounds an attempt in time. */
export interface AttemptSettings extends ClaimSettings {
  /** Time after a message's expiry for which the nodes' history is relied on. Milliseconds. */
  readonly historyMs: number;
}

/** An attempt that this process has driven, for metrics. Epoch milliseconds. */
interface AttemptReport {
  /** OK, the code of its failure, or PENDING if the process stopped following it. */
  readonly code: string;
  readonly startedAtMs: number;
  readonly events: readonly TradeEvent[];
  /** False: the first broadcast went out before the claim was written. */
  readonly durable: boolean;
  /** The level it was built for; undefined in tokens of earlier releases. */
  readonly priority: Priority | undefined;
  /** Newest slot known when this process began to drive it. */
  readonly fromSlot: bigint | undefined;
}

/** What was sent of a message that another build holds. */
interface SentBeside {
  /** The record of the other build. */
  readonly record: SubmissionRecord;
  readonly forms: readonly SignedForm[];
}

/** Pause between reads of a record that another process holds; its outcome is polled for separately. Milliseconds. */
const JOIN_POLL_MS = 250;

/**
 * The attempt to land one message, shared by everybody in this process who submits it. It claims the message, or follows the
 * process that holds it; broadcasts until the chain has decided; and writes the outcome once.
 */
export class Attempt {
  readonly claim: SubmissionClaim;
  readonly sealed: SealedTrade;
  readonly progress: AttemptProgress;
  /** Resolves when the attempt is over in this process: with the outcome, or undefined if it stopped following the message. */
  readonly done: Promise<Outcome | undefined>;
  readonly #ports: AttemptPorts;
  readonly #keeper: ClaimKeeper;
  readonly #broadcast: Broadcast;
  readonly #watch: AttemptWatch;
  #ruling: ExpiryRuling | undefined;
  /** The end that another process has recorded while this one followed the message too. */
  #recorded: RecordedEnd | undefined;
  #end: RecordedEnd | undefined;
  /** The signatures whose end this process has seen on the chain. */
  #looked: readonly string[] = [];
  #isSettled = false;
  #isElsewhere = false;
  /** True if no other process has driven it before. */
  #isWhole = false;
  /** True once it may have sent something. */
  #isSent = false;
  #sentBeside: SentBeside | undefined;

  /** @param isClaimed whether the caller has claimed the message already */
  constructor(ports: AttemptPorts, claim: SubmissionClaim, sealed: SealedTrade, isClaimed: boolean) {
    this.#ports = ports;
    this.claim = claim;
    this.sealed = sealed;
    this.#keeper = new ClaimKeeper(ports, claim, isClaimed, (record) => this.#giveUp(record));
    // Started first: the write runs while the rest is set up.
    const claiming = isClaimed ? undefined : this.#keeper.claim();
    const { transaction, claimedAtMs: submittedAtMs } = claim;
    this.#watch = new AttemptWatch(ports.conditions, { sealed, transaction, submittedAtMs });
    this.progress = new AttemptProgress(pendingTrade(sealed, claim.signature), ports.now, this.#watch);
    const { lastValidBlockHeight, senders } = sealed;
    const terms = { lastValidBlockHeight, senders };
    this.#broadcast = new Broadcast(ports.landing, ports.now, terms, this.progress);
    this.#broadcast.add(claim.signature, claim.transaction);
    this.done = this.#run(claiming)
      .then((end) => {
        this.#end = end;
        return end?.outcome;
      })
      .finally(() => {
        this.#isSettled = true;
        this.progress.close();
      });
  }

  /** True once `done` has resolved. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** True while another process drives it: this one does not know its progress. */
  get isElsewhere(): boolean {
    return this.#isElsewhere;
  }

  /** How the message has ended, as this process knows it; undefined while it has not. The record may say more of the same end. */
  get outcome(): Outcome | undefined {
    const known = this.#end?.outcome;
    const slot = known && slotOf(known);
    const recorded = this.#keeper.end?.outcome;
    return slot !== undefined && recorded !== undefined && slotOf(recorded) === slot ? recorded : known;
  }

  /** True if an outcome of this digest is the one that this process last knew to be on record, or has yet to write. */
  isRecordedAs(digest: string): boolean {
    const end = this.#keeper.end ?? this.#end;
    return end !== undefined && hash("sha256", end.text) === digest;
  }

  /** True while this process holds the claim and has to renew its lease. */
  get holdsClaim(): boolean {
    return this.#keeper.isHeld && !this.#isSettled;
  }

  /** True once the message is known to be that of this build, and of no other. */
  get isOwn(): boolean {
    return this.#keeper.isOwn;
  }

  /** True once another build is known to hold the message: this one follows it no more, and `done` resolves to undefined. */
  get isTaken(): boolean {
    return this.#keeper.isTaken;
  }

  /** What it has sent of a message that another build holds; undefined if nothing, or if no other build is known to hold it. */
  get sentBeside(): SentBeside | undefined {
    return this.#sentBeside;
  }

  /** True while its end is not on record, though another one may be. */
  get isUnwritten(): boolean {
    return this.#keeper.isUnwritten;
  }

  /** The followed signatures of the message. */
  get signatures(): readonly string[] {
    return this.#broadcast.signatures;
  }

  /** False if it has ended with an expiry that was proven for other signatures alone. */
  covers(signature: string): boolean {
    const { outcome } = this;
    return outcome === undefined || this.#looked.includes(signature) || holdsFor(outcome, [signature]);
  }

  /**
   * Follows another valid signature of the same message: stores it, then sends it too. The signature that lands counts.
   * @returns false if the limit of followed signatures is reached
   */
  addSignature(signature: string, transaction: Uint8Array): boolean {
    if (this.signatures.includes(signature)) return true;
    if (!this.#broadcast.hasRoom) return false;
    return this.#broadcast.add(signature, transaction, this.#keeper.storeSignature({ signature, transaction }));
  }

  /** Writes claim and signatures again: after a failover, the database may lack the last writes. */
  restoreClaim(): void {
    this.#keeper.lose();
    for (const form of this.#formsBeside(this.claim.signature)) void this.#keeper.storeSignature(form);
  }

  /** Writes further signatures again that the database does not have any more. */
  async restoreSignatures(): Promise<void> {
    if (this.signatures.length === 1) return;
    const stored = await this.#keeper.signatures();
    if (stored === undefined || this.#isSettled) return;
    const known = new Set(stored.map(({ signature }) => signature));
    for (const signature of this.signatures) {
      if (known.has(signature)) continue;
      void this.#keeper.storeSignature(this.#formOf(signature));
    }
  }

  /**
   * Writes outcome and signatures again, if the attempt has ended: after a failover, the database may lack them. If another process has recorded
   * another end, it is that one's.
   */
  async restoreOutcome(): Promise<void> {
    await this.done;
    if (this.#end === undefined) return;
    const ended = this.#keeper.end ?? this.#end;
    await this.#keeper.restore(ended, this.#formsBeside(ended.signature));
  }

  /** Created on demand: few trades expire. */
  get #expiry(): ExpiryRuling {
    const { landing, now, settings } = this.#ports;
    this.#ruling ??= new ExpiryRuling(
      {
        landing,
        now,
        historyMs: settings.historyMs,
        keeper: this.#keeper,
        isOver: () => this.#keeper.isReleased || this.isTaken || this.#recorded !== undefined,
        broadcast: this.#broadcast,
        explain: () => this.#causeOfExpiry(),
        onUnproven: (pendingReason) => this.progress.update({ pendingReason }),
      },
      this.sealed,
    );
    return this.#ruling;
  }

  #formOf(signature: string): SignedForm {
    return { signature, transaction: this.#broadcast.transactionOf(signature) };
  }

  /** Every followed signature except the record's own. */
  #formsBeside(recorded: string): readonly SignedForm[] {
    return this.signatures.flatMap((signature) => (signature === recorded ? [] : [this.#formOf(signature)]));
  }

  /** This process has taken the claim over: the attempt drives the message from now on, under every signature that is stored. */
  hold(): void {
    this.#keeper.hold();
    void this.#expiry.followStored();
  }

  /** Stops renewing the claim, so that another process may take over. */
  release(): void {
    this.#keeper.release();
  }

  /**
   * Drives the message once it is claimed, or waits for the process that holds it.
   *
   * @param claiming the claim; undefined if this process held it before
   */
  async #run(claiming: ReturnType<ClaimKeeper["claim"]> | undefined): Promise<RecordedEnd | undefined> {
    let held = claiming === undefined ? "claimed" : await claiming;
    this.#isWhole = claiming !== undefined && held === "claimed";
    const until = this.#ports.now() + FOLLOW_MS;
    while (held !== "claimed") {
      if (this.isTaken) return undefined;
      const end = this.#endIn(held);
      if (end !== undefined) {
        if (!holdsFor(end.outcome, this.signatures)) return this.#driveBeside(held);
        this.#answerUnder(held);
        return end;
      }
      // A damaged record proves nothing: follow the chain instead.
      if (held.outcome !== undefined) break;
      if (held.signature !== this.claim.signature || this.signatures.length > 1) return this.#driveBeside(held);
      if (this.#ports.now() > until) return undefined;
      this.#isElsewhere = true;
      held = await this.#waitFor(held);
    }
    this.#isElsewhere = false;
    this.progress.update({});
    // A slow database does not delay the broadcast: signatures read late are followed as they come.
    if (claiming === undefined) await within(this.#ports.settings.claimTimeoutMs, this.#expiry.followStored());
    return this.#drive();
  }

  /** The end in a record of this message; undefined if there is none that can be read. */
  #endIn(record: SubmissionRecord): RecordedEnd | undefined {
    const outcome = this.#isSound(record) ? storedOutcome(record) : undefined;
    const { signature, transaction, outcome: text } = record;
    return outcome && { signature, transaction, outcome, text: text! };
  }

  /** From now on the trade is that of the signature under which another process has recorded its end. */
  #answerUnder({ signature, transaction }: SignedForm): void {
    this.#broadcast.add(signature, transaction);
    this.progress.update({ signature });
  }

  /**
   * Another process has ended the message. Its word counts here too if it holds for every signature: the nodes of this one may show nothing
   * for long, or be away. Otherwise the stored signatures are followed.
   */
  #receiveEnd(record: SubmissionRecord): void {
    const end = this.#endIn(record);
    if (end === undefined || !isOfMessage(end.outcome)) {
      void this.#expiry.followStored();
      return;
    }
    this.#recorded = end;
    this.#answerUnder(record);
    // The record may have named another one until then.
    for (const form of this.#formsBeside(record.signature)) void this.#keeper.storeSignature(form);
    this.#broadcast.stop();
  }

  /**
   * Another build holds the message: this one sends nothing any more. What was sent before the database answered may still land, so the process
   * that drives the message has to know its signatures.
   */
  #giveUp(record: SubmissionRecord): void {
    const forms = this.#isSent ? this.#formsBeside(record.signature) : [];
    if (forms.length > 0) this.#sentBeside = { record, forms };
    if (!this.#isSettled) this.#broadcast.stop();
    for (const form of forms) void this.#keeper.storeSignature(form);
  }

  /** Whether a record is that of this message, under the signature it names. */
  #isSound({ signature, transaction }: SubmissionRecord): boolean {
    const { claim } = this;
    if (signature === claim.signature && equalBytes(transaction, claim.transaction)) return true;
    return isSignedForm(this.sealed, { signature, transaction });
  }

  /**
   * The process that holds the claim follows one signature only, or has ended the message without the others: this process sends and follows
   * them.
   */
  async #driveBeside(held: SubmissionRecord): Promise<RecordedEnd | undefined> {
    if (this.#isSound(held)) this.#broadcast.add(held.signature, held.transaction);
    this.#isElsewhere = false;
    const { signature, transaction } = this.claim;
    if (signature !== held.signature) await this.#keeper.storeSignature({ signature, transaction });
    return this.#drive();
  }

  /** Waits for the other process's outcome, or a moment; then reads its record again. */
  async #waitFor(held: SubmissionRecord): Promise<"claimed" | SubmissionRecord> {
    const { outcomePoll } = this.#ports;
    const { messageHash } = this.claim;
    await Promise.race([outcomePoll.outcomeWritten(messageHash), sleep(JOIN_POLL_MS)]);
    outcomePoll.forget(messageHash);
    return this.#keeper.readAgain(held);
  }

  /** Broadcasts until the chain has decided, and writes the outcome. */
  async #drive(): Promise<RecordedEnd | undefined> {
    const { progress } = this;
    this.#isSent = true;
    const durable = this.#keeper.isRecorded;
    const fromSlot = this.#ports.slot?.();
    let code = "PENDING";
    progress.endStage("claim");
    // Broadcast first: everything else can wait.
    const following = this.#follow();
    this.#watch.begin();
    let isFollowing = true;
    const stopRetrying = this.#keeper.startRetrying((record) => {
      if (isFollowing) this.#receiveEnd(record);
    });
    try {
      const end = await following;
      isFollowing = false;
      if (end === undefined) return this.#recorded;
      this.#looked = signaturesIn(end.outcome);
      const { signature, outcome } = end;
      progress.endStage("receipt");
      code = outcome.kind === "failed" ? outcome.code : "OK";
      const own = { ...this.#formOf(signature), outcome, text: formatOutcome(outcome) };
      const recorded = await this.#keeper.finish(own, this.#formsBeside(signature));
      // An expired message may have ended under another signature than this attempt began with: its outcome names that one.
      if (recorded !== undefined && recorded.signature !== progress.trade.signature) this.#answerUnder(recorded);
      return recorded;
    } finally {
      isFollowing = false;
      stopRetrying();
      this.#watch.end();
      const { claimedAtMs: startedAtMs } = this.claim;
      const { priority } = this.sealed;
      this.#ports.observe?.({ code, startedAtMs, events: progress.events, durable, priority, fromSlot });
    }
  }

  /** Follows every signature of the message to its end; undefined if the chain has not decided. */
  async #follow(): Promise<{ readonly signature: string; readonly outcome: Outcome } | undefined> {
    for (;;) {
      const landed = await this.#broadcast.land();
      this.#noteWritten(landed);
      this.#reportLanding(landed);
      const { signature, landing } = landed;
      if (landing.kind === "pending") return undefined;
      if (landing.kind === "landed") {
        const sent = { signature, transaction: this.#broadcast.transactionOf(signature) };
        const outcome = await this.#explained(readOutcome(this.#ports.venues, this.sealed, sent, landing));
        this.#ports.onLanded?.(reportLanded(this.sealed, sent, landing.record, outcome, this.#ports.venues));
        return { signature, outcome };
      }
      const outcome = await this.#expiry.rule(signature);
      if (outcome !== "followed") return outcome === undefined ? undefined : { signature, outcome };
    }
  }

  #causeOfExpiry(): Promise<Diagnosis> {
    return this.#watch.explainExpiry(this.progress.events, this.#wasSeenWhole);
  }

  /** The outcome, with the diagnosis if it landed late. */
  async #explained(outcome: Outcome): Promise<Outcome> {
    if (outcome.kind !== "landed") return outcome;
    const diagnosis = await this.#watch.explainLanding(this.progress.events, outcome.slot, this.#wasSeenWhole);
    return diagnosis === undefined ? outcome : { ...outcome, diagnosis };
  }

  /** True if no other process is known to have broadcast the message, under whatever signature. */
  get #wasSeenWhole(): boolean {
    return this.#isWhole && this.signatures.length === 1;
  }

  /** Comes before anybody is told that it landed: what is built then must not be built on state from before it. */
  #noteWritten({ signature, landing }: LandedSignature): void {
    const { noteWritten } = this.#ports;
    if (noteWritten === undefined || landing.kind !== "landed") return;
    const { accounts, error, slot } = landing.record;
    const { message } = wireLayout(this.#broadcast.transactionOf(signature));
    // A failed transaction has changed nothing but its payer's lamports.
    noteWritten(error === null ? writtenBy(message, accounts) : accounts.slice(0, 1), slot);
  }

  /** Says "confirmed" even if the trade is finalized by now: only a written outcome is reported as finalized. */
  #reportLanding({ signature, landing }: LandedSignature): void {
    if (landing.kind !== "landed") return;
    const { slot, error } = landing.record;
    this.progress.record({ kind: "confirmed", slot });
    this.progress.endStage("confirm");
    // A failed trade stays "processed" until the reason is written.
    const status = error === null ? "confirmed" : "processed";
    this.progress.update({ status, slot, signature, pendingReason: undefined });
  }
}
