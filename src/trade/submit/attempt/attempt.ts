import type { Lease, SubmissionClaim, SubmissionRecord, Submissions } from "../../../accounts/port.ts";
import type {
  Landing,
  LandingEvent,
  LandingOutcome,
  TransactionReader,
  TransactionRecord,
} from "../../../chain/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { SealedTrade } from "../../build/sealed-trade.ts";
import type { SubmitStage, SubmittedTrade, TradeEvent } from "../../trade.ts";
import { failedOutcome } from "../outcome/landed-failure.ts";
import { formatOutcome, type Outcome, parseOutcome, unsettled } from "../outcome/outcome.ts";
import { readReceipt } from "../outcome/receipt.ts";
import { sleep, within } from "../waiting.ts";
import type { EndsElsewhere } from "./outcome-poll.ts";

export interface AttemptPorts {
  readonly submissions: Submissions;
  readonly endsElsewhere: EndsElsewhere;
  readonly landing: Landing;
  readonly transactions: TransactionReader;
  readonly venues: readonly Venue[];
  readonly now: Now;
  /** Names this process in leases. */
  readonly owner: string;
  /** Hears of every attempt that was brought to its end here. */
  readonly observe?: (report: AttemptReport) => void;
  readonly settings: AttemptSettings;
}

export interface AttemptSettings {
  /** Another process takes over a submission that was not looked after for this long. Milliseconds. */
  readonly leaseMs: number;
  /** Broadcast does not wait longer than this for the claim to be written. Milliseconds. */
  readonly claimTimeoutMs: number;
}

/** An attempt that was brought to its end in this process, for metrics. Epoch milliseconds. */
interface AttemptReport {
  /** OK, the code of its failure, or PENDING where it was let go undecided. */
  readonly code: string;
  readonly startedAtMs: number;
  readonly events: readonly TradeEvent[];
  /** False: the first broadcast did not wait for the claim to be written. */
  readonly durable: boolean;
}

/** One message on its way, shared by everybody in this process who submits it. */
export interface Attempt {
  readonly claim: SubmissionClaim;
  readonly sealed: SealedTrade;
  /** Resolves when nothing more will change here: with the outcome, or undefined when the attempt let go undecided. */
  readonly done: Promise<Outcome | undefined>;
  readonly latest: SubmittedTrade;
  /** What has happened so far, in order. */
  readonly events: readonly TradeEvent[];
  /** When stages of it ended here, in order; epoch milliseconds. */
  readonly stageEnds: readonly (readonly [stage: SubmitStage, atMs: number])[];
  readonly settled: boolean;
  /** True while another process brings it to its end: how far it is on its way is not known here. */
  readonly isElsewhere: boolean;
  /** True while the claim is this process's own, and has to be prolonged. */
  readonly holdsClaim: boolean;
  /** Resolves at the next change. */
  readonly changed: Promise<void>;
  /** Of the message, as far as they are followed. */
  readonly signatures: Iterable<string>;
  /**
   * The same message with another valid signature: it is sent and watched too, and the one that lands is told of.
   * @returns false where that many are followed already
   */
  also(signature: string, transaction: Uint8Array): boolean;
  /** Prolongs the claim no more: whoever comes next may take over. */
  release(): void;
}

/** How long one attempt follows a transaction before it lets go; far beyond what finality takes. */
const FOLLOW_MS = 10 * 60_000;
/** How often the record of a message that another process looks after is read, beside hearing of its end. */
const JOIN_POLL_MS = 250;
/** A record that could not be written is tried again this often. */
const BACK_FILL_MS = 1_000;
/** An answer waits this long for its record to be written; then the record follows. */
const FINISH_WAIT_MS = 2_000;
/** Signatures of one message that are followed; a wallet makes one, or a new one each time it signs. */
const MOST_SIGNATURES = 4;
const RECORD_RETRIES = 40;
const RECORD_RETRY_MS = 100;

/**
 * Starts to look after a message: claims it, or follows the process that holds it; broadcasts until the chain has decided;
 * writes the outcome down once. With `claimed` the caller has claimed it already.
 */
export function startAttempt(
  ports: AttemptPorts,
  claim: SubmissionClaim,
  sealed: SealedTrade,
  claimed: boolean,
): Attempt {
  return new RunningAttempt(ports, claim, sealed, claimed);
}

/** One signature's way. */
interface Flight {
  readonly signature: string;
  readonly fate: LandingOutcome;
}

class RunningAttempt implements Attempt {
  readonly claim: SubmissionClaim;
  readonly sealed: SealedTrade;
  readonly done: Promise<Outcome | undefined>;
  readonly events: TradeEvent[] = [];
  readonly stageEnds: [SubmitStage, number][] = [];
  readonly #ports: AttemptPorts;
  #latest: SubmittedTrade;
  #settled = false;
  #isElsewhere = false;
  #changed = Promise.withResolvers<void>();
  /** True once the database holds the claim for this process. */
  #recorded: boolean;
  #released = false;
  /** The message as signed: transactions by signature. */
  readonly #signed = new Map<string, Uint8Array>();
  #joined = Promise.withResolvers<undefined>();

  constructor(ports: AttemptPorts, claim: SubmissionClaim, sealed: SealedTrade, claimed: boolean) {
    this.#ports = ports;
    this.claim = claim;
    this.sealed = sealed;
    this.#latest = unsettled(sealed, claim.signature);
    this.#recorded = claimed;
    this.#signed.set(claim.signature, claim.transaction);
    this.done = this.#run(claimed).finally(() => {
      this.#settled = true;
      this.#changed.resolve();
    });
  }

  get latest(): SubmittedTrade {
    return this.#latest;
  }

  get settled(): boolean {
    return this.#settled;
  }

  get holdsClaim(): boolean {
    return this.#recorded && !this.#settled && !this.#released;
  }

  get isElsewhere(): boolean {
    return this.#isElsewhere;
  }

  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  get signatures(): Iterable<string> {
    return this.#signed.keys();
  }

  also(signature: string, transaction: Uint8Array): boolean {
    if (this.#signed.has(signature)) return true;
    if (this.#signed.size >= MOST_SIGNATURES) return false;
    this.#signed.set(signature, transaction);
    const joined = this.#joined;
    this.#joined = Promise.withResolvers();
    joined.resolve(undefined);
    return true;
  }

  release(): void {
    this.#released = true;
  }

  async #run(claimed: boolean): Promise<Outcome | undefined> {
    let held = claimed ? "claimed" : await this.#claimOrGoOn();
    const until = this.#ports.now() + FOLLOW_MS;
    while (held !== "claimed") {
      if (held.outcome !== undefined) {
        this.#latest = { ...this.#latest, signature: held.signature };
        return parseOutcome(held.outcome, held.isFinalized);
      }
      if (held.signature !== this.claim.signature || this.#signed.size > 1) {
        // Whoever holds the claim knows of one signature only; another has to be sent and followed from here.
        this.also(held.signature, held.transaction);
        this.#isElsewhere = false;
        return this.#drive();
      }
      if (this.#ports.now() > until) return undefined;
      this.#isElsewhere = true;
      const { endsElsewhere } = this.#ports;
      await Promise.race([endsElsewhere.ended(this.claim.messageHash), sleep(JOIN_POLL_MS)]);
      endsElsewhere.forget(this.claim.messageHash);
      held = await this.#look(held);
    }
    this.#isElsewhere = false;
    this.#advance({});
    return this.#drive();
  }

  /** What the process that holds the claim has written by now; the claim itself when that process no longer looks after it. */
  async #look(held: SubmissionRecord): Promise<"claimed" | SubmissionRecord> {
    if (held.leaseUntilMs < this.#ports.now()) return this.#claimOrGoOn();
    try {
      return (await this.#ports.submissions.byMessageHash(this.claim.messageHash)) ?? (await this.#claimOrGoOn());
    } catch {
      return "claimed";
    }
  }

  /** A database that is slow or away costs the record, never the trade: the broadcast goes out all the same. */
  async #claimOrGoOn(): Promise<"claimed" | SubmissionRecord> {
    const { submissions, settings } = this.#ports;
    const claiming = submissions.claim(this.claim, this.#lease()).then(
      (held) => {
        if (held === "claimed") this.#recorded = true;
        return held;
      },
      () => "claimed" as const,
    );
    return (await within(settings.claimTimeoutMs, claiming)) ?? "claimed";
  }

  /** Broadcasts until the chain has decided, and writes the outcome down once. */
  async #drive(): Promise<Outcome | undefined> {
    const durable = this.#recorded;
    let code = "PENDING";
    this.#end("claim");
    let claiming = false;
    const care = setInterval(() => {
      if (claiming || this.#recorded || this.#released) return;
      claiming = true;
      void this.#makeUpForClaim().finally(() => {
        claiming = false;
      });
    }, BACK_FILL_MS);
    care.unref();
    try {
      const { signature, fate } = await this.#land();
      if (fate.kind === "landed") {
        // Even where it is finalized by now: that is said of what is written down.
        this.#tell({ kind: "confirmed", slot: fate.slot });
        this.#end("confirm");
        // One that failed is told of as such, once it is known why: until then it is in a block, and no more is said.
        this.#advance({ status: fate.error == null ? "confirmed" : "processed", slot: fate.slot, signature });
      }
      const outcome = await this.#outcomeOf(signature, fate);
      if (outcome === undefined) return undefined;
      this.#end("receipt");
      code = outcome.kind === "failed" ? outcome.code : "OK";
      return await this.#write(signature, outcome);
    } finally {
      clearInterval(care);
      this.#ports.observe?.({ code, startedAtMs: this.claim.claimedAtMs, events: this.events, durable });
    }
  }

  /** Follows every signature of the message until one has landed, or none can any more. */
  async #land(): Promise<Flight> {
    const begun = new Set<string>();
    const flights = new Map<string, Promise<Flight>>();
    for (;;) {
      for (const [signature, transaction] of this.#signed) {
        if (!begun.has(signature)) flights.set(signature, this.#fly(signature, transaction));
        begun.add(signature);
      }
      const first = await Promise.race([...flights.values(), this.#joined.promise]);
      if (first === undefined) continue;
      if (first.fate.kind === "landed" || flights.size === 1) return first;
      flights.delete(first.signature);
    }
  }

  async #fly(signature: string, transaction: Uint8Array): Promise<Flight> {
    const fate = await this.#ports.landing.land({
      transaction,
      signature,
      lastValidBlockHeight: this.claim.lastValidBlockHeight,
      deadlineMs: this.#ports.now() + FOLLOW_MS,
      senders: this.sealed.senders,
      onEvent: (event) => this.#hear(event),
    });
    return { signature, fate };
  }

  #lease(): Lease {
    return { owner: this.#ports.owner, untilMs: this.#ports.now() + this.#ports.settings.leaseMs };
  }

  /** Claims, as long as the database could not be told of this submission. */
  async #makeUpForClaim(): Promise<void> {
    try {
      this.#recorded = (await this.#ports.submissions.claim(this.claim, this.#lease())) === "claimed";
    } catch {
      // The database is away; the next turn makes up for this one.
    }
  }

  /** Writes the outcome, now or when the database is back. @returns the outcome that stands */
  async #write(signature: string, outcome: Outcome): Promise<Outcome> {
    const { submissions } = this.#ports;
    const text = formatOutcome(outcome);
    const ended = { ...this.claim, signature, transaction: this.#signed.get(signature)! };
    const written = submissions.finish(ended, text).catch(() => undefined);
    const standing = await within(FINISH_WAIT_MS, written);
    if (standing !== undefined) return parseOutcome(standing);
    void written.then((late) => (late === undefined ? this.#backFill(ended, text) : undefined));
    return outcome;
  }

  async #backFill(ended: SubmissionClaim, text: string): Promise<void> {
    const until = this.#ports.now() + FOLLOW_MS;
    while (this.#ports.now() < until) {
      await sleep(BACK_FILL_MS);
      const standing = await this.#ports.submissions.finish(ended, text).catch(() => undefined);
      if (standing !== undefined) return;
    }
  }

  #hear(event: LandingEvent): void {
    this.#tell(event);
    if (event.kind === "processed") this.#advance({ status: "processed", slot: event.slot });
    else this.#advance({});
  }

  #end(stage: SubmitStage): void {
    this.stageEnds.push([stage, this.#ports.now()]);
  }

  #tell(event: Omit<TradeEvent, "atMs">): void {
    if (event.kind === "sent" && !this.stageEnds.some(([stage]) => stage === "broadcast")) this.#end("broadcast");
    this.events.push({ ...event, atMs: this.#ports.now() });
  }

  #advance(change: Partial<SubmittedTrade>): void {
    this.#latest = { ...this.#latest, ...change };
    const changed = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    changed.resolve();
  }

  /** What a fate means for the caller; undefined while the chain's record of it cannot be had. */
  async #outcomeOf(signature: string, fate: LandingOutcome): Promise<Outcome | undefined> {
    if (fate.kind === "pending") return undefined;
    if (fate.kind === "expired") {
      return {
        kind: "failed",
        code: "TX_EXPIRED",
        message: "The transaction can no longer land: its blockhash has expired and it is in no block. Build again.",
        facts: { safeToRebuild: true, details: { signature } },
      };
    }
    const record = await this.#fetchRecord(signature, fate.slot);
    if (fate.error != null)
      return failedOutcome({ signature, slot: fate.slot, error: fate.error }, record, this.#ports.venues);
    if (record === null) return undefined;
    const { result, costs } = readReceipt(this.sealed, record);
    // Two processes that both saw it land, one later than the other, write the same. Whoever reads it adds "finalized".
    return { kind: "landed", slot: record.slot, status: "confirmed", result, costs };
  }

  /** Nodes may know that a transaction is confirmed some slots before they can show its record; one of another slot is a lie. */
  async #fetchRecord(signature: string, slot: bigint): Promise<TransactionRecord | null> {
    for (let tries = 0; tries < RECORD_RETRIES; tries++) {
      const record = await this.#ports.transactions.fetchTransaction(signature).catch(() => null);
      if (record !== null && record.slot === slot) return record;
      await sleep(RECORD_RETRY_MS);
    }
    return null;
  }
}
