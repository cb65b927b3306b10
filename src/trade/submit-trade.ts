import type { Principal, SubmissionClaim, SubmissionRecord, Submissions } from "../accounts/port.ts";
import type { Landing, TransactionFate, TransactionReader, TransactionRecord } from "../chain/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Now } from "../primitives/clock.ts";
import type { Venue } from "../venues/venue.ts";
import { failedOutcome } from "./failure.ts";
import { answerOf, formatOutcome, type Outcome, parseOutcome, unsettled } from "./outcome.ts";
import { readReceipt } from "./receipt.ts";
import type { SealedTrade } from "./sealed-trade.ts";
import { verifySignedBytes } from "./signed-bytes.ts";
import type { TokenSealer } from "./submission-token.ts";
import type { SubmittedTrade, Trades } from "./trade.ts";

export interface SubmitPorts {
  readonly sealer: TokenSealer;
  readonly submissions: Submissions;
  readonly landing: Landing;
  readonly transactions: TransactionReader;
  readonly venues: readonly Venue[];
  readonly now: Now;
  /** Names this process in leases. */
  readonly owner: string;
  readonly settings: SubmitSettings;
}

export interface SubmitSettings {
  /** A submit answers within this time, with `pending` where the chain has not decided. Milliseconds. */
  readonly answerMs: number;
  /** Another process takes over a submission that was not looked after for this long. Milliseconds. */
  readonly leaseMs: number;
  /** Broadcast does not wait longer than this for the claim to be written. Milliseconds. */
  readonly claimTimeoutMs: number;
}

/** How long one attempt follows a transaction before it lets go; far beyond what finality takes. */
const FOLLOW_MS = 10 * 60_000;
const JOIN_POLL_MS = 100;
const FINALITY_POLL_MS = 400;
const RECORD_RETRIES = 40;
const RECORD_RETRY_MS = 100;
/** Settled attempts remembered for those who ask again while the database is away. */
const REMEMBERED = 4096;

/** One message on its way, shared by everybody in this process who submits it. */
interface Attempt {
  readonly sealed: SealedTrade;
  /** Resolves when nothing more will change here: with the outcome, or undefined when the attempt let go undecided. */
  readonly done: Promise<Outcome | undefined>;
  latest: SubmittedTrade;
  settled: boolean;
  /** Resolved and replaced at every change of `latest`. */
  changed: PromiseWithResolvers<void>;
}

type Submitting = Pick<Trades, "submit" | "find" | "watch">;

/**
 * The submit story: open, verify, claim, broadcast and confirm, receipt, answer. The chain executes a message at most once
 * and the claim makes reports agree, so submitting the same bytes again, anywhere, is always safe.
 */
export function createSubmitter(ports: SubmitPorts): Submitting {
  const attempts = new Map<string, Attempt>();

  const attemptOf = (claim: SubmissionClaim, sealed: SealedTrade): Attempt => {
    const running = attempts.get(claim.messageHash);
    if (running !== undefined) return running;
    const attempt = startAttempt(ports, claim, sealed);
    attempts.set(claim.messageHash, attempt);
    attempt.done.then(
      (outcome) => {
        if (outcome === undefined) attempts.delete(claim.messageHash);
        else forgetOldest(attempts);
      },
      () => attempts.delete(claim.messageHash),
    );
    return attempt;
  };

  const recordOf = async (principal: Principal, signature: string): Promise<SubmissionRecord> => {
    const record = await ports.submissions.bySignature(principal.accountId, signature);
    if (record !== undefined) return record;
    throw new TradewireError("TRADE_NOT_FOUND", "No trade with this signature was submitted by this account.", {
      field: "signature",
    });
  };

  const find = async (principal: Principal, signature: string): Promise<SubmittedTrade> => {
    const record = await recordOf(principal, signature);
    const sealed = ports.sealer.open(record.submissionToken, principal.accountId);
    if (record.outcome === undefined) return attempts.get(record.messageHash)?.latest ?? unsettled(sealed, signature);
    return withFinality(ports.landing, answerOf(sealed, signature, parseOutcome(record.outcome)));
  };

  return {
    async submit({ principal, submissionToken, signedTransaction }) {
      const sealed = ports.sealer.open(submissionToken, principal.accountId);
      if (sealed.wallet !== principal.wallet) {
        throw new TradewireError("WALLET_MISMATCH", "The transaction was built for another wallet than this key's.");
      }
      const signature = verifySignedBytes(sealed, signedTransaction);
      const attempt = attemptOf(
        {
          messageHash: Buffer.from(sealed.messageHash).toString("hex"),
          signature,
          accountId: principal.accountId,
          submissionToken,
          transaction: signedTransaction,
          lastValidBlockHeight: sealed.lastValidBlockHeight,
          claimedAtMs: ports.now(),
        },
        sealed,
      );
      const outcome = await within(ports.settings.answerMs, attempt.done);
      return outcome === undefined ? attempt.latest : answerOf(sealed, attempt.latest.signature, outcome);
    },

    find,

    async *watch(principal, signature, signal) {
      const { messageHash } = await recordOf(principal, signature);
      let told: SubmittedTrade | undefined;
      while (!signal.aborted) {
        const attempt = attempts.get(messageHash);
        const change = attempt?.changed.promise;
        const latest = attempt === undefined || attempt.settled ? await find(principal, signature) : attempt.latest;
        if (
          told === undefined ||
          told.status !== latest.status ||
          (told.result === undefined) !== (latest.result === undefined)
        ) {
          told = latest;
          yield latest;
        }
        if (latest.status === "finalized") return;
        await (attempt === undefined || attempt.settled
          ? sleep(FINALITY_POLL_MS, signal)
          : Promise.race([change, aborted(signal)]));
      }
    },
  };
}

function startAttempt(ports: SubmitPorts, claim: SubmissionClaim, sealed: SealedTrade): Attempt {
  const done = Promise.withResolvers<Outcome | undefined>();
  const attempt: Attempt = {
    sealed,
    done: done.promise,
    latest: unsettled(sealed, claim.signature),
    settled: false,
    changed: Promise.withResolvers<void>(),
  };
  const settle = (outcome: Outcome | undefined): void => {
    attempt.settled = true;
    done.resolve(outcome);
    attempt.changed.resolve();
  };
  runAttempt(ports, claim, attempt).then(settle, (error: unknown) => {
    done.reject(error);
    attempt.changed.resolve();
  });
  return attempt;
}

function advance(attempt: Attempt, change: Partial<SubmittedTrade>): void {
  attempt.latest = { ...attempt.latest, ...change };
  const { changed } = attempt;
  attempt.changed = Promise.withResolvers<void>();
  changed.resolve();
}

/** Claims the message, or follows the process that holds it, until there is an outcome. */
async function runAttempt(ports: SubmitPorts, claim: SubmissionClaim, attempt: Attempt): Promise<Outcome | undefined> {
  const { settings, now } = ports;
  const lease = () => ({ owner: ports.owner, untilMs: now() + settings.leaseMs });
  let held = await claimOrGoOn(ports, claim, lease());
  const until = now() + FOLLOW_MS;
  while (held !== "claimed" && now() < until) {
    if (held.outcome !== undefined) {
      attempt.latest = { ...attempt.latest, signature: held.signature };
      return parseOutcome(held.outcome);
    }
    await sleep(JOIN_POLL_MS);
    held = await claimOrGoOn(ports, claim, lease());
  }
  return held === "claimed" ? drive(ports, claim, attempt) : undefined;
}

/** A database that is slow or away costs the record, never the trade: the broadcast goes out all the same. */
async function claimOrGoOn(
  { submissions, settings }: SubmitPorts,
  claim: SubmissionClaim,
  lease: { readonly owner: string; readonly untilMs: number },
): Promise<"claimed" | SubmissionRecord> {
  const claimed = submissions.claim(claim, lease).catch(() => "claimed" as const);
  return (await within(settings.claimTimeoutMs, claimed)) ?? "claimed";
}

/** Broadcasts until the chain has decided, and writes the outcome down once. */
async function drive(ports: SubmitPorts, claim: SubmissionClaim, attempt: Attempt): Promise<Outcome | undefined> {
  const { submissions, settings, landing, now } = ports;
  const renewal = setInterval(() => {
    submissions
      .renew(claim.messageHash, { owner: ports.owner, untilMs: now() + settings.leaseMs })
      .catch(() => undefined);
  }, settings.leaseMs / 2.5);
  renewal.unref();
  try {
    const fate = await landing.land({
      transaction: claim.transaction,
      signature: claim.signature,
      lastValidBlockHeight: claim.lastValidBlockHeight,
      deadlineMs: now() + FOLLOW_MS,
      onProcessed: (slot) => advance(attempt, { status: "processed", slot }),
    });
    if (fate.kind === "landed") advance(attempt, { status: fate.commitment, slot: fate.slot });
    const outcome = await outcomeOf(ports, claim, attempt.sealed, fate);
    if (outcome === undefined) return undefined;
    const standing = await submissions.finish(claim.messageHash, formatOutcome(outcome)).catch(() => undefined);
    return standing === undefined ? outcome : parseOutcome(standing);
  } finally {
    clearInterval(renewal);
  }
}

/** What a fate means for the caller; undefined while the chain's record of it cannot be had. */
async function outcomeOf(
  ports: SubmitPorts,
  { signature }: SubmissionClaim,
  sealed: SealedTrade,
  fate: TransactionFate,
): Promise<Outcome | undefined> {
  if (fate.kind === "pending") return undefined;
  if (fate.kind === "expired") {
    return {
      kind: "failed",
      code: "TX_EXPIRED",
      message: "The transaction can no longer land: its blockhash has expired and it is in no block. Build again.",
      facts: { safeToRebuild: true, details: { signature } },
    };
  }
  const record = await fetchRecord(ports.transactions, signature);
  if (fate.error != null) return failedOutcome({ signature, slot: fate.slot, error: fate.error }, record, ports.venues);
  if (record === null) return undefined;
  const { result, costs } = readReceipt(sealed, record);
  return { kind: "landed", slot: record.slot, status: fate.commitment, result, costs };
}

/** Nodes may know that a transaction is confirmed some slots before they can show its record. */
async function fetchRecord(transactions: TransactionReader, signature: string): Promise<TransactionRecord | null> {
  for (let tries = 0; tries < RECORD_RETRIES; tries++) {
    const record = await transactions.fetchTransaction(signature).catch(() => null);
    if (record !== null) return record;
    await sleep(RECORD_RETRY_MS);
  }
  return null;
}

/** Says "finalized" where the chain does; a node that does not answer leaves what is known. */
async function withFinality(landing: Landing, trade: SubmittedTrade): Promise<SubmittedTrade> {
  const commitment = await landing.fetchCommitment(trade.signature).catch(() => undefined);
  return commitment === "finalized" ? { ...trade, status: "finalized" } : trade;
}

function forgetOldest(attempts: Map<string, Attempt>): void {
  if (attempts.size <= REMEMBERED) return;
  for (const [key, attempt] of attempts) {
    if (attempt.settled) attempts.delete(key);
    if (attempts.size <= REMEMBERED) return;
  }
}

/** The value, or undefined when it takes longer. */
async function within<T>(milliseconds: number, value: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, milliseconds);
    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    }
    signal?.addEventListener("abort", finish, { once: true });
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
