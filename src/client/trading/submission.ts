import { toTradeError } from "../connection/connect-error.ts";
import { answerUnlessAborted, rest } from "../proof/pause.ts";
import { checkTrade, type Trade } from "../trade.ts";
import { TradeError } from "../trade-error.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";

/** Pauses between two submits of the same transaction grow from the first to the second. Milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const PAUSE_GROWTH = 1.5;
/** The longest pause that the service may ask for. Milliseconds. */
const LONGEST_ASKED_MS = 10_000;

/** What the client knows by itself of a transaction it signed. */
export interface Submission {
  readonly signature: string;
  /** Absent if the transaction was not verified. */
  readonly expected: TradeExpectation | undefined;
  /** How long to repeat the submit. Milliseconds. */
  readonly patienceMs: number;
  /** Longest wait for one response; 0: as long as patience. Milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** What a call that its time-out cuts short ends with, here or, if a browser holds back the timers of a hidden page, at the service. */
const CUT_SHORT: readonly string[] = ["CONNECTION_ERROR", "REQUEST_TIMEOUT"];
/** By how much timers may fire early. Milliseconds. */
const TIMER_MS = 1;

/**
 * Repeats a submit until the chain has decided or patience runs out. Nothing that the service answers changes which
 * transaction was signed, that it was signed, or how long to wait.
 *
 * @param send one submit, with its time-out in milliseconds
 * @returns the trade; if patience ran out, as the service last reported it: pending @throws TradeError with the signature
 */
export async function submitUntilDecided(
  send: (timeoutMs: number) => Promise<Trade>,
  { signature, expected, patienceMs, timeoutMs, signal, nowMs }: Submission,
): Promise<Trade> {
  const until = nowMs() + patienceMs;
  let reported: Trade | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)) {
    let undecided: Trade | TradeError;
    let askedMs = 0;
    try {
      const leftMs = until - nowMs();
      // Time-outs are whole milliseconds on the wire, and 0 is none.
      const trade = await send(Math.max(1, Math.ceil(timeoutMs > 0 ? Math.min(timeoutMs, leftMs) : leftMs)));
      const checked = checkTrade(trade, signature, expected);
      // A processed block may still be dropped, so it decides nothing.
      if (checked.status !== "pending" && checked.status !== "processed") return checked;
      undecided = reported = checked;
    } catch (error) {
      undecided = afterSigning(toTradeError(error), signature, signal);
      if (undecided.code === "ABORTED") throw stoppedWaiting(signature);
      if (!undecided.retryable) throw undecided;
      // A last call that patience cut short says nothing against what the service has reported before.
      if (reported !== undefined && CUT_SHORT.includes(undecided.code) && nowMs() + TIMER_MS >= until) return reported;
      askedMs = Math.min(undecided.retryAfterMs ?? 0, LONGEST_ASKED_MS);
    }
    const waitMs = Math.max(pauseMs, askedMs);
    if (nowMs() + waitMs < until) await rest(waitMs, signal).catch(() => Promise.reject(stoppedWaiting(signature)));
    else if (undecided instanceof TradeError) throw undecided;
    else return undecided;
  }
}

/**
 * The failure of a call after a transaction was signed: with that transaction's signature, and without any claim of the
 * service that nothing was signed.
 */
export function afterSigning(failure: TradeError, signature: string, signal?: AbortSignal): TradeError {
  const { code, message, retryable, safeToRebuild } = failure;
  // A service can answer that the call was canceled. Only the caller's own signal ends the waiting.
  const isPretended = code === "ABORTED" && signal?.aborted === false;
  const isWordless = failure.signature === signature;
  return new TradeError(
    isPretended ? "CONNECTION_ERROR" : code,
    isWordless && !isPretended ? message : `The transaction ${signature} was signed. Then: ${message}`,
    {
      ...failure,
      retryable: retryable || isPretended,
      safeToRebuild: retryable ? undefined : safeToRebuild,
      signature,
      cause: failure.cause,
    },
  );
}

/**
 * The failure of a look-up, with the signature. That of a transaction signed here, by `expected`, is one after signing; of
 * another nothing is known, not even that anybody signed it.
 */
export function ofLookup(failure: TradeError, signature: string, expected: TradeExpectation | undefined): TradeError {
  if (expected !== undefined) return afterSigning(failure, signature);
  const message = `The look-up of ${signature} failed: ${failure.message}`;
  return new TradeError(failure.code, message, { ...failure, signature, cause: failure.cause });
}

function stoppedWaiting(signature: string): TradeError {
  const message = "Stopped waiting. The transaction may still land: look it up by its signature.";
  return new TradeError("ABORTED", message, { signature });
}

/**
 * Waits for the service's answer no longer than the caller allows, whatever the transport does.
 * @param timeoutMs 0: without bound @throws TradeError CONNECTION_ERROR when time is up, ABORTED once the signal aborts
 */
export async function answerWithin<T>(timeoutMs: number, signal: AbortSignal, answer: T | Promise<T>): Promise<T> {
  if (timeoutMs === 0) return answerUnlessAborted(signal, answer);
  const answered = new AbortController();
  // The transport ends a call on time and says why; this bound is for one that does not.
  const late = rest(timeoutMs + 50, AbortSignal.any([signal, answered.signal])).then(() => {
    const facts = `The service did not answer within ${Math.ceil(timeoutMs)} ms.`;
    throw new TradeError("CONNECTION_ERROR", facts, { retryable: true });
  });
  try {
    return await Promise.race([late, answer]);
  } finally {
    answered.abort();
  }
}
