import type { SubmissionClaim } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import type { SubmittedTrade, Trades } from "../trade.ts";
import type { Attempt, AttemptPorts, AttemptSettings } from "./attempt/attempt.ts";
import { OutcomePoll } from "./attempt/outcome-poll.ts";
import { Attempts } from "./attempts.ts";
import { TradeFinder } from "./find-trade.ts";
import { TradeLister } from "./list-trades.ts";
import { MovedTrades } from "./moved-trades.ts";
import { attemptOfBuild, takenByOtherBuild } from "./other-build.ts";
import { outcomeFor } from "./outcome/expired-outcome.ts";
import { Finality } from "./outcome/finality.ts";
import { answerOf } from "./outcome/outcome.ts";
import { ProgressCache } from "./outcome/progress-cache.ts";
import { verifySignedBytes } from "./signed-bytes.ts";
import { TakeOver } from "./take-over.ts";
import { within } from "./waiting.ts";
import { watchTrade } from "./watch-trade.ts";

/** What the submit story reads and writes. */
export interface SubmitPorts extends Omit<AttemptPorts, "outcomePoll"> {
  readonly sealer: TokenSealer;
  readonly warn: (message: string) => void;
  readonly settings: SubmitSettings;
}

interface SubmitSettings extends AttemptSettings {
  /** Longest time until a submit answers, with `pending` if the chain has not decided. Milliseconds. */
  readonly answerMs: number;
}

/** Longest wait for a node when an answer is due. Milliseconds. */
const OBSERVE_MS = 250;
/** How long one look-up on the chain is shared: a little less than a stream's pause, because its timer may fire early. */
const PROGRESS_LIFETIME_MS = 390;

/** The part of the product that submits. */
export interface Submitter extends Pick<Trades, "submit" | "find" | "list" | "watch"> {
  /** Hands pending submissions over to the other processes. */
  close(): Promise<void>;
}

/** What `submitTrade` uses. */
interface SubmitStory {
  readonly ports: SubmitPorts;
  readonly attempts: Attempts;
  readonly chain: ProgressCache;
  readonly finality: Finality;
}

/**
 * Submits, finds and watches trades on the given ports, and takes over submissions that other processes have abandoned,
 * until `close`.
 */
export function createSubmitter(ports: SubmitPorts): Submitter {
  const { submissions, sealer, now } = ports;
  const attempts = new Attempts({ ...ports, outcomePoll: new OutcomePoll(submissions) });
  const chain = new ProgressCache(ports.landing, now, PROGRESS_LIFETIME_MS);
  const moved = new MovedTrades(ports, attempts);
  const finality = new Finality(submissions, chain, moved);
  const finder = new TradeFinder({ submissions, sealer, attempts, chain, finality });
  const lister = new TradeLister({ submissions, sealer, attempts, chain, finality });
  const takeOver = new TakeOver(ports, attempts);
  const story = { ports, attempts, chain, finality };
  return {
    submit: (request) => submitTrade(story, request),
    find: (principal, signature) => finder.find(principal, signature),
    list: (principal, query) => lister.list(principal.accountId, query),
    watch: (principal, signature, signal) =>
      watchTrade({ landing: ports.landing, attempts, finder, now }, principal, signature, signal),
    async close() {
      await takeOver.close();
      await attempts.close();
    },
  };
}

type SubmitRequest = Parameters<Trades["submit"]>[0];

/**
 * The submit story: open, verify, claim, broadcast and confirm, receipt, answer. The chain executes a message at most once
 * and the claim makes all answers agree, so submitting the same bytes again, to any process, is always safe. Of several builds of one
 * message, the first that is claimed has it, and the others are refused.
 */
async function submitTrade(story: SubmitStory, request: SubmitRequest): Promise<SubmittedTrade> {
  const { ports, attempts } = story;
  const { principal, submissionToken, signedTransaction, stages } = request;
  const settled = attempts.settledBy(principal.accountId, submissionToken, signedTransaction);
  const known = settled?.sealed.wallet === principal.wallet ? await replay(story, settled) : undefined;
  if (known !== undefined) return known;
  const startedAtMs = ports.now();
  const sealed = ports.sealer.open(submissionToken, principal.accountId);
  stages?.mark("open");
  // A token opens only for its account, and an account has one wallet; this check holds even if that ever changes.
  if (sealed.wallet !== principal.wallet) {
    throw new TradewireError(
      "WALLET_MISMATCH",
      "The transaction was built for another wallet than the one this API key belongs to. Submit it with the key that built it.",
    );
  }
  const signature = verifySignedBytes(sealed, signedTransaction);
  stages?.mark("verify");
  const claim = claimOf(request, sealed, signature, ports.now());
  const joined = await attemptOfBuild(attempts, claim, sealed);
  const answer = joined.isSettled ? await replay(story, joined, signature) : undefined;
  if (answer !== undefined) return answer;
  const attempt = joined.isSettled ? await attemptOfBuild(attempts, claim, sealed) : joined;
  const outcome = await within(ports.settings.answerMs, attempt.done);
  markStages(request, attempt, startedAtMs, ports.now());
  if (attempt.isTaken) throw takenByOtherBuild();
  if (outcome === undefined) return pendingAnswer(story, attempt);
  // It came as the others had just been ruled on.
  if (!attempt.covers(signature)) return pendingAnswer(story, await attemptOfBuild(attempts, claim, sealed));
  return answerOf(sealed, attempt.progress.trade.signature, outcomeFor(outcome, signature));
}

/**
 * The answer to a submit that has already ended. Another answer may have reported it as finalized since; undefined if that was in another
 * slot and is on record. Of a trade that failed, nodes are asked whether its block is final or undone.
 */
async function replay(
  { attempts, finality }: SubmitStory,
  attempt: Attempt,
  submitted = attempt.claim.signature,
): Promise<SubmittedTrade | undefined> {
  const { sealed, claim, progress } = attempt;
  // Attempts without an outcome are not kept.
  if (attempt.outcome === undefined) return progress.trade;
  const { signature } = progress.trade;
  let end = await finality.recall(claim.messageHash, attempt);
  if (end?.kind === "failed") {
    // An answer that comes later is remembered for the next submit.
    end = (await within(OBSERVE_MS, finality.completeUnrecorded(claim.messageHash, end, signature))) ?? end;
  }
  if (end !== undefined) return answerOf(sealed, signature, outcomeFor(end, submitted));
  attempts.forgetEnd(claim.messageHash);
  return undefined;
}

function claimOf(request: SubmitRequest, sealed: SealedTrade, signature: string, claimedAtMs: number): SubmissionClaim {
  return {
    messageHash: Buffer.from(sealed.messageHash).toString("hex"),
    signature,
    accountId: request.principal.accountId,
    submissionToken: request.submissionToken,
    // Copied because they are kept long: as views they would retain the request's whole buffer.
    transaction: new Uint8Array(request.signedTransaction),
    lastValidBlockHeight: sealed.lastValidBlockHeight,
    claimedAtMs,
  };
}

/** Marks the stages that ended during this call; a call that joins a running attempt did not wait for the earlier ones. */
function markStages({ stages }: SubmitRequest, { progress }: Attempt, startedAtMs: number, nowMs: number): void {
  for (const [stage, atMs] of progress.stageEnds)
    if (atMs >= startedAtMs) stages?.mark(stage, Math.max(0, nowMs - atMs));
}

/** The answer to a submit that is not decided in time: at most "processed", since "confirmed" comes with the amounts. */
async function pendingAnswer({ chain }: SubmitStory, attempt: Attempt): Promise<SubmittedTrade> {
  const { progress, sealed, isElsewhere } = attempt;
  const seen = isElsewhere
    ? await within(OBSERVE_MS, chain.observe(progress.trade, sealed.lastValidBlockHeight))
    : undefined;
  const trade = seen ?? chain.standing(progress.trade);
  return trade.status === "pending" ? trade : { ...trade, status: "processed" };
}
