import type { Principal, SubmissionRecord } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { SealedTrade } from "../build/sealed-trade.ts";
import type { TokenSealer } from "../build/submission-token.ts";
import type { SubmittedTrade, TradeEvent, Trades } from "../trade.ts";
import { type Attempt, type AttemptPorts, type AttemptSettings, startAttempt } from "./attempt/attempt.ts";
import { EndsElsewhere } from "./attempt/outcome-poll.ts";
import { Finality } from "./outcome/finality.ts";
import { answerOf, parseOutcome, unsettled } from "./outcome/outcome.ts";
import { ProgressLooks } from "./outcome/progress-cache.ts";
import { verifySignedBytes } from "./signed-bytes.ts";
import { aborted, sleep, within } from "./waiting.ts";

export interface SubmitPorts extends Omit<AttemptPorts, "endsElsewhere"> {
  readonly sealer: TokenSealer;
  readonly warn: (message: string) => void;
  readonly settings: SubmitSettings;
}

export interface SubmitSettings extends AttemptSettings {
  /** A submit answers within this time, with `pending` where the chain has not decided. Milliseconds. */
  readonly answerMs: number;
}

/** A submit whose time is over is not kept waiting longer than this by a node. */
const LOOK_MS = 250;
const FINALITY_POLL_MS = 400;
/** One look at the chain serves all who ask within this time: less than a stream waits, whose timer may be a little early. */
const LOOK_LASTS_MS = 390;
/** How often it is looked for submissions that another process has left behind, and how many are taken at a time. */
const TAKE_OVER_MS = 1_000;
const TAKE_OVER_AT_ONCE = 64;
/** So that a write that comes late, or one that fails, leaves no claim to others. */
const RENEWALS_IN_A_LEASE = 4;
/** Submissions remembered whose tokens cannot be opened here, their key being gone: they are left to other processes. */
const UNREADABLE = 1_024;
/** Settled attempts remembered for those who ask again while the database is away. */
const REMEMBERED = 1_024;

/** The part of the product that submits. */
export interface Submitter extends Pick<Trades, "submit" | "find" | "watch"> {
  /** Hands what is under way over to the other processes. */
  close(): Promise<void>;
}

/**
 * The submit story: open, verify, claim, broadcast and confirm, receipt, answer. The chain executes a message at most once
 * and the claim makes reports agree, so submitting the same bytes again, anywhere, is always safe. Submissions that another
 * process left behind are taken over and brought to their end.
 */
export function createSubmitter(ports: SubmitPorts): Submitter {
  const attempts = new Map<string, Attempt>();
  const bySignature = new Map<string, Attempt>();
  const { submissions, sealer, settings } = ports;
  const attemptPorts = { ...ports, endsElsewhere: new EndsElsewhere(submissions) };
  const looks = new ProgressLooks(ports.landing, ports.now, LOOK_LASTS_MS);
  const finality = new Finality(submissions, looks);

  const keep = (attempt: Attempt): Attempt => {
    attempts.set(attempt.claim.messageHash, attempt);
    bySignature.set(attempt.claim.signature, attempt);
    attempt.done.then(
      (outcome) => {
        if (outcome === undefined) forget(attempt);
        else makeRoom();
      },
      () => forget(attempt),
    );
    return attempt;
  };

  const forget = (attempt: Attempt) => {
    const { messageHash } = attempt.claim;
    if (attempts.get(messageHash) === attempt) attempts.delete(messageHash);
    for (const signature of attempt.signatures)
      if (bySignature.get(signature) === attempt) bySignature.delete(signature);
  };

  const makeRoom = () => {
    if (attempts.size <= REMEMBERED) return;
    for (const attempt of attempts.values()) {
      if (!attempt.settled) continue;
      forget(attempt);
      if (attempts.size <= REMEMBERED) return;
    }
  };

  const openOrNot = (record: SubmissionRecord): SealedTrade | undefined => {
    try {
      return sealer.open(record.submissionToken, record.accountId);
    } catch (error) {
      ports.warn(`A submission left behind cannot be taken over, signature ${record.signature}: ${String(error)}`);
      return undefined;
    }
  };

  const unreadable = new Set<string>();
  let takingOver = false;
  let failing = false;
  const takeOver = async (): Promise<void> => {
    if (takingOver) return;
    takingOver = true;
    try {
      for (const record of await submissions.abandoned(TAKE_OVER_AT_ONCE, [...unreadable])) {
        if (attempts.get(record.messageHash)?.settled === false) continue;
        const sealed = openOrNot(record);
        if (sealed === undefined) {
          if (unreadable.size === UNREADABLE) unreadable.clear();
          unreadable.add(record.messageHash);
          continue;
        }
        const lease = { owner: ports.owner, untilMs: ports.now() + settings.leaseMs };
        const taken = await submissions.claim(record, lease);
        if (taken === "claimed") keep(startAttempt(attemptPorts, record, sealed, true));
      }
      failing = false;
    } catch (error) {
      if (!failing) ports.warn(`Cannot take over submissions left behind; trying on: ${String(error)}`);
      failing = true;
    } finally {
      takingOver = false;
    }
  };
  const takingOverTimer = setInterval(() => void takeOver(), TAKE_OVER_MS);
  takingOverTimer.unref();

  let renewing: Promise<void> | undefined;
  const renew = () => {
    if (renewing !== undefined) return;
    const held = [...attempts].flatMap(([messageHash, { holdsClaim }]) => (holdsClaim ? [messageHash] : []));
    renewing = submissions
      .renew(held, { owner: ports.owner, untilMs: ports.now() + settings.leaseMs })
      // The database is away; the next turn makes up for this one.
      .catch(() => {})
      .finally(() => {
        renewing = undefined;
      });
  };
  const renewingTimer = setInterval(renew, settings.leaseMs / RENEWALS_IN_A_LEASE);
  renewingTimer.unref();

  /** What is known of a submission: its record, or this process's own memory when there is none to be had. */
  const recordOf = async (principal: Principal, signature: string): Promise<SubmissionRecord | Attempt> => {
    const attempt = bySignature.get(signature);
    const own = attempt?.claim.accountId === principal.accountId ? attempt : undefined;
    try {
      const record = await submissions.bySignature(principal.accountId, signature);
      if (record !== undefined) return record;
    } catch (error) {
      if (own === undefined) throw error;
    }
    if (own !== undefined) return own;
    throw new TradewireError("TRADE_NOT_FOUND", "No trade with this signature was submitted by this account.", {
      field: "signature",
    });
  };

  const find = async (principal: Principal, signature: string): Promise<SubmittedTrade> => {
    const known = await recordOf(principal, signature);
    if ("done" in known) return answerSoFar(known);
    const sealed = sealer.open(known.submissionToken, principal.accountId);
    if (known.outcome !== undefined) {
      const outcome = parseOutcome(known.outcome, known.isFinalized);
      return finality.complete(known.messageHash, answerOf(sealed, signature, outcome));
    }
    const own = attempts.get(known.messageHash);
    return own === undefined ? asSeen(looks, sealed, unsettled(sealed, signature)) : answerSoFar(own);
  };

  /** What this process knows of a trade that is under way, or whose end is not written down yet. @throws as answerOf */
  const answerSoFar = async (attempt: Attempt): Promise<SubmittedTrade> => {
    if (!attempt.settled) return attempt.isElsewhere ? asSeen(looks, attempt.sealed, attempt.latest) : attempt.latest;
    const outcome = await attempt.done;
    if (outcome === undefined) return attempt.latest;
    return finality.complete(attempt.claim.messageHash, answerOf(attempt.sealed, attempt.latest.signature, outcome));
  };

  /** How a settled attempt ended, as far as that is no failure. */
  const endOf = async ({ sealed, done, latest }: Attempt): Promise<SubmittedTrade> => {
    const outcome = await done;
    return outcome?.kind === "landed" ? answerOf(sealed, latest.signature, outcome) : latest;
  };

  return {
    async submit({ principal, submissionToken, signedTransaction, stages }) {
      const startedAtMs = ports.now();
      const sealed = sealer.open(submissionToken, principal.accountId);
      stages?.mark("open");
      // A token opens for its account alone, and an account has one wallet: this holds even if that changes one day.
      if (sealed.wallet !== principal.wallet) {
        throw new TradewireError("WALLET_MISMATCH", "The transaction was built for another wallet than this key's.");
      }
      const signature = verifySignedBytes(sealed, signedTransaction);
      stages?.mark("verify");
      const messageHash = Buffer.from(sealed.messageHash).toString("hex");
      const claim = {
        messageHash,
        signature,
        accountId: principal.accountId,
        submissionToken,
        transaction: signedTransaction,
        lastValidBlockHeight: sealed.lastValidBlockHeight,
        claimedAtMs: ports.now(),
      };
      const known = attempts.get(messageHash);
      const isReplay = known?.settled === true;
      const attempt = known ?? keep(startAttempt(attemptPorts, claim, sealed, false));
      if (!attempt.settled && attempt.also(signature, signedTransaction)) bySignature.set(signature, attempt);
      const outcome = await within(settings.answerMs, attempt.done);
      // What had happened before this call joined in is none of its time.
      for (const [stage, atMs] of attempt.stageEnds)
        if (atMs >= startedAtMs) stages?.mark(stage, Math.max(0, ports.now() - atMs));
      if (outcome !== undefined) {
        const answer = answerOf(sealed, attempt.latest.signature, outcome);
        // By now somebody may have been told more than was known when it ended.
        return isReplay ? finality.recall(messageHash, answer) : answer;
      }
      const seen = attempt.isElsewhere ? await within(LOOK_MS, asSeen(looks, sealed, attempt.latest)) : undefined;
      return undecided(seen ?? attempt.latest);
    },

    find,

    async *watch(principal, signature, signal) {
      const known = await recordOf(principal, signature);
      const messageHash = "done" in known ? known.claim.messageHash : known.messageHash;
      let eventsTold = 0;
      let statusTold: SubmittedTrade["status"] | undefined;
      let resultTold = false;
      while (!signal.aborted) {
        const held = attempts.get(messageHash);
        const attempt = held?.isElsewhere === true ? undefined : held;
        const isRunning = attempt !== undefined && !attempt.settled;
        const change = attempt?.changed;
        const events: TradeEvent[] = attempt?.events.slice(eventsTold) ?? [];
        eventsTold += events.length;
        // What happened is told before the failure it may have ended in, and with the amounts where it landed.
        if (!isRunning && attempt !== undefined && events.length > 0) {
          const told = await endOf(attempt);
          yield { ...told, events };
          statusTold = told.status;
          resultTold = told.result !== undefined;
        }
        const latest = isRunning ? attempt.latest : await find(principal, signature);
        // A node that lags, or a block that is dropped, takes back what was seen; until it is seen again nothing is told.
        const isNew = isAhead(latest.status, statusTold) || (!resultTold && latest.result !== undefined);
        if (isRunning ? isNew || events.length > 0 : isNew) {
          const isUntold = statusTold !== latest.status && (attempt === undefined || latest.status === "finalized");
          yield { ...latest, events: isRunning ? events : isUntold ? statusEvents(latest, ports.now()) : [] };
          statusTold = latest.status;
          resultTold = latest.result !== undefined;
        }
        if (latest.status === "finalized") return;
        await (isRunning ? Promise.race([change, aborted(signal)]) : sleep(FINALITY_POLL_MS, signal));
      }
    },

    async close() {
      clearInterval(takingOverTimer);
      clearInterval(renewingTimer);
      const open = [...attempts.values()].filter(({ settled }) => !settled);
      for (const attempt of open) attempt.release();
      await renewing;
      const hashes = open.map(({ claim }) => claim.messageHash);
      await submissions.renew(hashes, { owner: ports.owner, untilMs: 0 }).catch(() => {});
    },
  };
}

/** The order in which a trade gets further. */
const STATUSES: readonly SubmittedTrade["status"][] = ["pending", "processed", "confirmed", "finalized"];

const isAhead = (status: SubmittedTrade["status"], told: SubmittedTrade["status"] | undefined): boolean =>
  told === undefined || STATUSES.indexOf(status) > STATUSES.indexOf(told);

/** How far the chain shows a submission that another process looks after; a node that does not answer leaves what is known. */
async function asSeen(looks: ProgressLooks, sealed: SealedTrade, trade: SubmittedTrade): Promise<SubmittedTrade> {
  const seen = await looks.take(trade.signature, sealed.lastValidBlockHeight);
  if (seen === undefined) return trade;
  // "finalized" is said of what is written down, and of a trade that failed only why: whoever looks after it finds that out.
  return {
    ...trade,
    status: seen.commitment === "processed" || seen.error != null ? "processed" : "confirmed",
    slot: seen.slot,
  };
}

/** The answer to a submit that has not ended: "confirmed" is the last word, and is said with the amounts. */
function undecided(trade: SubmittedTrade): SubmittedTrade {
  return trade.status === "pending" ? trade : { ...trade, status: "processed" };
}

/** What a status tells of the way of a submission that another process looks after. */
function statusEvents({ status, slot }: SubmittedTrade, atMs: number): TradeEvent[] {
  return status === "pending" ? [] : [{ kind: status, atMs, ...(slot === undefined ? {} : { slot }) }];
}
