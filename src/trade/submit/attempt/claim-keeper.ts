import {
  isLeaseOver,
  type Lease,
  type SignedForm,
  type SubmissionClaim,
  type SubmissionRecord,
  type Submissions,
} from "../../../accounts/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { TokenSealer } from "../../build/token/submission-token.ts";
import { isOtherBuild } from "../open-record.ts";
import { slotOf } from "../outcome/outcome.ts";
import { sleep, within } from "../waiting.ts";
import { FOLLOW_MS } from "./broadcast.ts";
import { endBeside, type RecordedEnd, type StandingEnd } from "./recorded-end.ts";

/** Pause between attempts to write a claim or an outcome that could not be written. Milliseconds. */
const RETRY_MS = 1_000;
/** Pause between writes of an outcome that its answer waits for. Milliseconds. */
const WRITE_AGAIN_MS = 200;
/** Longest wait of an answer for its outcome to be written; after that, the write goes on in the background. Milliseconds. */
const WRITE_WAIT_MS = 2_000;

/** What keeping claims reads and writes. */
export interface ClaimPorts {
  readonly submissions: Submissions;
  readonly sealer: Pick<TokenSealer, "open">;
  readonly now: Now;
  /** Names this process in leases. */
  readonly owner: string;
  /** True while no node answers this process: another process may be able to follow its submissions. Absent: never. */
  readonly isCutOff?: () => boolean;
  readonly settings: ClaimSettings;
}

/** How long claims last, and are waited for. */
export interface ClaimSettings {
  /** Another process takes over a submission whose lease was not renewed for this long. Milliseconds. */
  readonly leaseMs: number;
  /** Longest that a broadcast waits for its claim to be written. Milliseconds. */
  readonly claimTimeoutMs: number;
}

/** A lease of this process that starts now. */
export function leaseOf({ owner, submissions, settings }: ClaimPorts): Lease {
  return { owner, untilMs: submissions.nowMs() + settings.leaseMs };
}

/**
 * The durable side of one attempt: its claim, then its outcome. A slow or unavailable database delays the record, never the trade: the
 * broadcast goes on without it, and the record is written later.
 */
export class ClaimKeeper {
  readonly #ports: ClaimPorts;
  readonly #claim: SubmissionClaim;
  readonly #onTaken: (record: SubmissionRecord) => void;
  /** True once the database holds the claim for this process. */
  #isRecorded: boolean;
  /** True once the database has shown a record of the message, from any process. */
  #isKnown: boolean;
  /** When it last did so, by the clock of the leases. */
  #knownAtMs = 0;
  #isReleased = false;
  #isTaken = false;
  #isRetrying = false;
  /** The last claim, whose answer may come after its caller has stopped waiting. */
  #claiming: Promise<"claimed" | SubmissionRecord> | undefined;
  /** True while the outcome is being written or waits for the database. */
  #isWriting = false;
  #end: RecordedEnd | undefined;
  #isUnwritten = false;
  /** Further signatures that the database does not hold yet. */
  readonly #unstored = new Set<SignedForm>();

  /** @param onTaken called once with the record if the database shows that another build holds the message */
  constructor(
    ports: ClaimPorts,
    claim: SubmissionClaim,
    isRecorded: boolean,
    onTaken: (record: SubmissionRecord) => void = () => {},
  ) {
    this.#ports = ports;
    this.#claim = claim;
    this.#onTaken = onTaken;
    this.#isRecorded = isRecorded;
    this.#isKnown = isRecorded;
  }

  /** True once the claim is written for this process. */
  get isRecorded(): boolean {
    return this.#isRecorded;
  }

  /** True once another process may take over. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** True while the lease has to be renewed. */
  get isHeld(): boolean {
    return this.#isRecorded && !this.#isReleased;
  }

  /** True once the database has shown that the message is this build's. */
  get isOwn(): boolean {
    return this.#isKnown && !this.#isTaken;
  }

  /** True once the database has shown that another build holds the message. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** The end of the message, as far as the record is known; undefined before it has ended here. */
  get end(): RecordedEnd | undefined {
    return this.#end;
  }

  /** True from when the message has ended here until its end is on record. */
  get isUnwritten(): boolean {
    return this.#isUnwritten;
  }

  /** The database no longer holds the claim for this process: writes it again. */
  lose(): void {
    this.#isRecorded = false;
  }

  /** This process has taken the claim over. */
  hold(): void {
    this.#noteHeld("claimed");
  }

  /** Stops renewing the claim, so that another process may take over. */
  release(): void {
    this.#isReleased = true;
  }

  /** Claims the message. "claimed" also if the database does not answer in time. */
  async claim(): Promise<"claimed" | SubmissionRecord> {
    this.#claiming = this.#claimNow().catch(() => "claimed" as const);
    return (await within(this.#ports.settings.claimTimeoutMs, this.#claiming)) ?? "claimed";
  }

  /**
   * What the process that holds the claim has written so far; the claim itself if its lease has expired or belongs to this process. While
   * the lease lasts, the other process decides alone, even if the database is unavailable or lacks the record after a failover: it writes
   * the record again.
   */
  async readAgain(held: SubmissionRecord): Promise<"claimed" | SubmissionRecord> {
    const { submissions, settings } = this.#ports;
    if (this.#isRecorded) return "claimed";
    const atMs = submissions.nowMs();
    if (isLeaseOver(held.leaseUntilMs, atMs) || this.#knownAtMs + settings.leaseMs < atMs) return this.claim();
    const record = await submissions.byMessageHash(this.#claim.messageHash).catch(() => undefined);
    return record === undefined ? held : this.#noteHeld(record);
  }

  #noteHeld<H extends "claimed" | SubmissionRecord>(held: H): H {
    if (held !== "claimed" && this.#isOther(held)) {
      this.#giveUp(held);
      return held;
    }
    if (held === "claimed") this.#isRecorded = true;
    this.#isKnown = true;
    this.#knownAtMs = this.#ports.submissions.nowMs();
    return held;
  }

  /** Stores a further signature of the message. Resolves when it is stored, or when that takes too long; it is then retried later. */
  async storeSignature(form: SignedForm): Promise<void> {
    await within(this.#ports.settings.claimTimeoutMs, this.#store(this.#keep(form)));
  }

  /** Stores it with the others, before the next end is written. @returns the one that waits already, if its signature is the same */
  #keep({ signature, transaction }: SignedForm): SignedForm {
    for (const form of this.#unstored) if (form.signature === signature) return form;
    const kept = { signature, transaction };
    this.#unstored.add(kept);
    return kept;
  }

  async #store(form: SignedForm): Promise<void> {
    try {
      await this.#ports.submissions.addSignature(this.#claim.messageHash, form);
      this.#unstored.delete(form);
    } catch {
      // The database is unavailable; retried while the message is followed.
    }
  }

  async #storeAll(): Promise<void> {
    await Promise.all([...this.#unstored].map((form) => this.#store(form)));
  }

  /** Stores the signatures that were not stored before the outcome. */
  async #storeLate(untilMs: number): Promise<void> {
    while (this.#unstored.size > 0 && this.#ports.now() < untilMs) {
      await sleep(RETRY_MS);
      await this.#storeAll();
    }
  }

  /** Every stored signature of the message; undefined while the database is away. */
  signatures(): Promise<readonly SignedForm[] | undefined> {
    return this.#ports.submissions.signaturesOf(this.#claim.messageHash).catch(() => undefined);
  }

  /**
   * Retries what could not be written, and reads what another process may have, until the returned function is called.
   *
   * @param onEnded called with the record if another process has ended the message, also if that is the late answer to the claim
   */
  startRetrying(onEnded: (record: SubmissionRecord) => void): () => void {
    const timer = setInterval(() => void this.#retry(onEnded), RETRY_MS);
    timer.unref();
    void this.#claiming?.then((held) => this.#tellEnded(held, onEnded));
    return () => clearInterval(timer);
  }

  #tellEnded(held: "claimed" | SubmissionRecord, onEnded: (record: SubmissionRecord) => void): void {
    if (held !== "claimed" && held.outcome !== undefined && !this.#isTaken) onEnded(held);
  }

  async #retry(onEnded: (record: SubmissionRecord) => void): Promise<void> {
    for (const form of this.#unstored) void this.#store(form);
    const isCutOff = this.#ports.isCutOff?.() === true;
    if (this.#isRetrying || this.#isReleased || this.#isTaken || (this.#isRecorded && !isCutOff)) return;
    this.#isRetrying = true;
    try {
      // A process that no node answers takes no claim from one that has taken the message over.
      const held = (isCutOff ? await this.#read() : undefined) ?? (await this.#claimNow());
      this.#tellEnded(held, onEnded);
    } catch {
      // The database is away; the next turn tries again.
    } finally {
      this.#isRetrying = false;
    }
  }

  async #read(): Promise<SubmissionRecord | undefined> {
    const record = await this.#ports.submissions.byMessageHash(this.#claim.messageHash);
    return record && this.#noteHeld(record);
  }

  /** The record found may be this process's own: its claim was written meanwhile. */
  async #claimNow(): Promise<"claimed" | SubmissionRecord> {
    const { submissions } = this.#ports;
    return this.#noteHeld(
      await this.#asRecorded(this.#claim, (claim) => submissions.claim(claim, leaseOf(this.#ports))),
    );
  }

  /** Writes under the token of this build; if the record has a damaged one, under that. */
  async #asRecorded<W extends string>(
    claim: SubmissionClaim,
    write: (claim: SubmissionClaim) => Promise<W | SubmissionRecord>,
  ): Promise<W | SubmissionRecord> {
    const written = await write(claim);
    if (typeof written === "string" || written.submissionToken === claim.submissionToken || this.#isOther(written))
      return written;
    return write({ ...claim, submissionToken: written.submissionToken });
  }

  /** True of the record of another build. */
  #isOther(record: SubmissionRecord): boolean {
    return isOtherBuild(this.#ports.sealer, this.#claim, record);
  }

  /** Another build holds the message: writes nothing of this one any more. */
  #giveUp(record: SubmissionRecord): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    this.#isRecorded = false;
    this.#onTaken(record);
  }

  /**
   * Writes the outcome once, now or when the database is back. Returns the end on record: another process may have written its own first,
   * under another signature. Since other processes may wait for this record, a failed write is repeated for as long as an answer waits.
   * Undefined if another build holds the message.
   *
   * @param others the message's other signatures: the record is keyed by the one that ended it, and found by these too
   */
  async finish(own: RecordedEnd, others: readonly SignedForm[]): Promise<RecordedEnd | undefined> {
    this.#isUnwritten = !this.#isTaken;
    if (this.#isTaken) return undefined;
    for (const form of others) this.#keep(form);
    const writing = this.#write(own);
    // Nobody waits for a record that was never written; but from one that was written, other processes may have answered.
    await within(WRITE_WAIT_MS, this.#isKnown ? writing.whole : writing.first);
    return this.#isTaken ? undefined : this.#end;
  }

  /** Writes the outcome again, unless a write is in progress. */
  async restore(ended: RecordedEnd, others: readonly SignedForm[]): Promise<void> {
    if (!this.#isWriting) await this.finish(ended, others);
  }

  /** Tries until the end is on record. @returns when it was tried first, and when it is tried no more */
  #write(own: RecordedEnd): { readonly first: Promise<void>; readonly whole: Promise<void> } {
    this.#isWriting = true;
    this.#end = own;
    // Of another build's trade, a landing alone says how that ended too.
    const isOver = () => this.#isTaken && slotOf(own.outcome) === undefined;
    const once = async () => {
      try {
        const standing = await this.#finishNow(own);
        if (standing === "finished") this.#isUnwritten = false;
        if (standing === "finished" || standing?.outcome === undefined || isOver()) return;
        const { end, isNew } = endBeside(standing, own);
        this.#end = end;
        // It is found by its signature, whichever the record names.
        if (end.signature !== own.signature) this.#keep(own);
        this.#isUnwritten = isNew && !(await this.#replace(standing, end));
      } catch {
        // The database is away; the next turn tries again.
      }
    };
    const startedAtMs = this.#ports.now();
    const untilMs = startedAtMs + FOLLOW_MS;
    const repeat = async () => {
      await first;
      const isDue = (atMs: number) => this.#isUnwritten && !isOver() && atMs < untilMs;
      for (let atMs = startedAtMs; isDue(atMs); atMs = this.#ports.now()) {
        await sleep(atMs < startedAtMs + WRITE_WAIT_MS ? WRITE_AGAIN_MS : RETRY_MS);
        await once();
      }
      this.#isWriting = false;
      if (this.#unstored.size > 0) void this.#storeLate(untilMs);
    };
    const first = once();
    return { first, whole: repeat() };
  }

  /** Writes the end, unless there is one: then returns that, and undefined while the database does not show it. */
  async #finishNow({ signature, transaction, text }: RecordedEnd): Promise<"finished" | StandingEnd | undefined> {
    // Another process may hold the claim under a signature that is on record there alone.
    const held = this.#isRecorded ? undefined : await this.#read().catch(() => undefined);
    if (held !== undefined && held.signature !== signature) this.#keep(held);
    // Signatures first: a process that dies between the two writes leaves the trade pending, but loses no signature.
    if (this.#unstored.size > 0) await within(this.#ports.settings.claimTimeoutMs, this.#storeAll());
    if (this.#isTaken || held?.outcome !== undefined) return held;
    const { submissions } = this.#ports;
    const finish = async () => {
      const ended = { ...this.#claim, signature, transaction };
      const standing = await this.#asRecorded(ended, (claim) => submissions.finish(claim, text));
      if (standing !== "finished" && this.#isOther(standing)) this.#giveUp(standing);
      else this.#isKnown = true;
      return standing;
    };
    // A database that accepts no writes, or lost the answer, may still show what another process has written.
    return finish().catch(() => this.#read().catch(() => undefined));
  }

  /** Puts an end in the place of the one on record, unless that has changed. @returns false if it has */
  async #replace(standing: StandingEnd, { signature, transaction, text }: RecordedEnd): Promise<boolean> {
    const { submissions } = this.#ports;
    // The record is found by its first signature too.
    if (standing.signature !== signature) await submissions.addSignature(this.#claim.messageHash, standing);
    return submissions.replaceOutcome({ ...this.#claim, signature, transaction }, standing, text);
  }
}
