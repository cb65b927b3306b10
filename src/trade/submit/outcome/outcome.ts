import { ERRORS, type ErrorCode } from "../../../errors/error-codes.ts";
import { type ErrorFacts, TradewireError } from "../../../errors/tradewire-error.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import type { Costs, ExactAmounts, SubmittedTrade, TradeStatus } from "../../trade.ts";
import type { Diagnosis } from "../diagnosis/diagnosis.ts";

/** How a submission ended: stored once as JSON, and replayed to every later caller. */
export type Outcome =
  | {
      readonly kind: "landed";
      readonly slot: bigint;
      readonly status: TradeStatus;
      readonly result: ExactAmounts;
      readonly costs: Costs;
      /** Nodes that agree on it; undefined in records of an earlier version. */
      readonly witnesses?: number | undefined;
      /** Why it landed late; undefined if it did not. */
      readonly diagnosis?: Diagnosis | undefined;
      /** True if its block was undone and its message is in no other. Never stored: it is what nodes show now. */
      readonly isUndone?: true | undefined;
    }
  | {
      readonly kind: "failed";
      readonly code: ErrorCode;
      readonly message: string;
      readonly facts: Omit<ErrorFacts, "cause">;
    };

const UNDONE =
  "the block it was confirmed in was undone by the network, and its message has expired and is in no other: nothing was traded";

const BIGINT = /^-?\d+n$/;
/** Prefix of a text that would otherwise be parsed as an integer. */
const ESCAPE = "~";
const ESCAPABLE = /^~*-?\d+n$/;

/** An outcome as JSON; amounts are integers followed by `n`. */
export function formatOutcome(outcome: Outcome): string {
  return JSON.stringify(outcome, (_key, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    return typeof value === "string" && ESCAPABLE.test(value) ? ESCAPE + value : value;
  });
}

/**
 * Parses what `formatOutcome` wrote.
 *
 * @param isFinalized whether the block that it names is final by now
 * @throws SyntaxError, TypeError for any other text
 */
export function parseOutcome(text: string, isFinalized = false): Outcome {
  const value = withIntegers(JSON.parse(text));
  if (!isOutcome(value)) throw new TypeError("not an outcome");
  return isFinalized ? asFinal(value) : value;
}

/** A parsed value with its integers, put in place: five times as fast as a function that `JSON.parse` calls. */
function withIntegers(held: unknown): unknown {
  if (typeof held === "string") {
    if (!ESCAPABLE.test(held)) return held;
    return BIGINT.test(held) ? BigInt(held.slice(0, -1)) : held.slice(ESCAPE.length);
  }
  if (!isObject(held)) return held;
  const parts = held as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const part = parts[key];
    if (typeof part === "string" || typeof part === "object") parts[key] = withIntegers(part);
  }
  return parts;
}

/** The outcome of a message whose block is final. */
export function asFinal(outcome: Outcome): Outcome {
  if (outcome.kind === "landed") return { ...outcome, status: "finalized" };
  if (isFinal(outcome)) return outcome;
  const { facts } = outcome;
  return { ...outcome, facts: { ...facts, details: { ...facts.details, finalized: true } } };
}

/** The outcome of a message that landed in a block that was undone, and that is in no other. */
export function asUndone(outcome: Outcome): Outcome {
  return outcome.kind === "landed" ? { ...outcome, isUndone: true } : outcome;
}

/** False of an outcome in a block that may still be undone; failures recorded by earlier releases do not say, and stay as they are. */
export function isFinal(outcome: Outcome): boolean {
  if (outcome.kind === "landed") return outcome.status === "finalized";
  return outcome.facts.details?.finalized !== false;
}

/** Whether a value is a possible outcome: a record may be damaged, or edited by hand. */
function isOutcome(value: unknown): value is Outcome {
  if (!isObject(value)) return false;
  return value.kind === "landed" ? isLanded(value) : value.kind === "failed" && isFailed(value);
}

function isLanded({ slot, status, result, costs, witnesses, diagnosis }: Fields): boolean {
  return (
    isAmount(slot) &&
    slot >= 0n &&
    (status === "confirmed" || status === "finalized") &&
    isObject(result) &&
    [result.inAmount, result.outAmount].every(isAmount) &&
    areRemainders(result.remainders) &&
    isObject(costs) &&
    [costs.baseFee, costs.priorityFee, costs.tip, costs.rentPaid, costs.rentReturned].every(isAmount) &&
    (witnesses === undefined || Number.isSafeInteger(witnesses)) &&
    (diagnosis === undefined || (isObject(diagnosis) && Array.isArray(diagnosis.others)))
  );
}

function areRemainders(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.every((one) => isObject(one) && isText(one.mint) && isAmount(one.amount));
}

function isFailed({ code, message, facts }: Fields): boolean {
  if (!isText(code) || !isText(message) || !isObject(facts)) return false;
  const { safeToRebuild, details = {} } = facts;
  if (safeToRebuild !== undefined && typeof safeToRebuild !== "boolean") return false;
  if (!isObject(details) || Object.values(details).some(isObject)) return false;
  if (!Object.hasOwn(ERRORS, code)) return false;
  // An ended trade cannot be retried, but earlier releases stored retryable codes unchanged.
  if (ERRORS[code as ErrorCode].retryable && code !== "VENUE_DEGRADED") return false;
  // An expiry has no slot, and is safe to rebuild only if it was proven for every signature.
  return code !== "TX_EXPIRED" || (details.slot === undefined && !(safeToRebuild && details.scope === "submitted"));
}

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const isText = (value: unknown): value is string => typeof value === "string";
const isAmount = (value: unknown): value is bigint => typeof value === "bigint";

/** The slot that a trade ended in; undefined if it is in none. */
export function slotOf(outcome: Outcome): bigint | undefined {
  if (outcome.kind === "landed") return outcome.slot;
  const slot = outcome.facts.details?.slot;
  return typeof slot === "number" ? BigInt(slot) : undefined;
}

/** Whether an outcome is the end of its message under whatever signature: it is in a block, or was proven to be in none. */
export function isOfMessage(outcome: Outcome): boolean {
  return slotOf(outcome) !== undefined || (outcome.kind === "failed" && outcome.facts.safeToRebuild === true);
}

/** Whether two outcomes are one, in all that is stored. */
export const isSameEnd = (one: Outcome, other: Outcome): boolean => formatOutcome(one) === formatOutcome(other);

/** The nodes that agree on an outcome; 0 if it does not say. */
export function agreeingOn(outcome: Outcome): number {
  const named = outcome.kind === "landed" ? outcome.witnesses : outcome.facts.details?.witnesses;
  return typeof named === "number" ? named : 0;
}

/** The answer of an outcome. @throws TradewireError if the trade failed */
export function answerOf(sealed: SealedTrade, signature: string, outcome: Outcome): SubmittedTrade {
  if (outcome.kind === "failed") throw new TradewireError(outcome.code, outcome.message, outcome.facts);
  const { slot, status, result, costs, witnesses, diagnosis } = outcome;
  const pendingReason = outcome.isUndone ? UNDONE : undefined;
  return { ...pendingTrade(sealed, signature), slot, status, result, costs, witnesses, pendingReason, diagnosis };
}

/** A trade that is neither seen on the chain nor decided. */
export function pendingTrade(sealed: SealedTrade, signature: string): SubmittedTrade {
  const { inMint, outMint, inDecimals, outDecimals, costs, route } = sealed;
  return {
    inMint,
    outMint,
    inDecimals,
    outDecimals,
    signature,
    status: "pending",
    slot: undefined,
    platform: route.map(({ venue }) => venue).join("+"),
    result: undefined,
    costs,
    route,
    witnesses: undefined,
    pendingReason: undefined,
    diagnosis: undefined,
  };
}
