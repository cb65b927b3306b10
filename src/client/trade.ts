import type { Address } from "../primitives/address.ts";
import { toWholeUnits } from "../primitives/amount.ts";
import type { TradeEventName, TradeStatusName } from "./answers/plain-answer.ts";
import { TradeError } from "./trade-error.ts";
import { mintOf } from "./verify/build-answer.ts";
import type { TradeExpectation } from "./verify/trade-expectation.ts";

/** What a trade moved: whole units as numbers, base units as exact strings. */
export interface TradeResult {
  readonly inputAmount: number;
  readonly outputAmount: number;
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
  /** Over two markets: the rest of the intermediate mint, SOL or USDC, that stays in the wallet. Base units. */
  readonly remainder?: { readonly mint: string; readonly amountRaw: string } | undefined;
  /** The same for every mint that the route passed through; `remainder` is the first of them. */
  readonly remainders?: readonly { readonly mint: string; readonly amountRaw: string }[];
}

/** Costs besides the trade itself: lamports as exact strings. */
export interface TradeCosts {
  readonly baseFee: string;
  readonly priorityFee: string;
  readonly tip: string;
  readonly rentPaid: string;
  readonly rentReturned: string;
}

/** One market of a trade. */
export interface TradeLeg {
  readonly venue: string;
  readonly market: string;
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
  /** Number of the parallel path that it belongs to, from 0. */
  readonly path: number;
  /** The part of the trade that the path carries, as a fraction: 1 if there is one path. */
  readonly share: number;
}

/**
 * The state of a trade as the service reports it. Of a transaction that this client verified and signed, its mints, venues and cost of
 * priority are those that were signed, and its amounts within the bounds that were; how it ended is the service's word. What `buy`,
 * `sell` and `swap` return says beside that what of the trade was not proven before it was signed: `ProvenTrade`.
 */
export interface Trade {
  readonly signature: string;
  readonly status: TradeStatusName;
  /** Absent while pending. */
  readonly slot?: number | undefined;
  readonly platform: string;
  readonly inputMint: string;
  readonly outputMint: string;
  /** Absent until the chain's record can be read. */
  readonly tradeResult?: TradeResult | undefined;
  /** SOL paid for priority, tips included. */
  readonly priorityCost: number;
  readonly costs?: TradeCosts | undefined;
  readonly route: readonly TradeLeg[];
  /** Nodes that agree on the outcome; absent while there is none. 1: it rests on one node's word. */
  readonly witnesses?: number | undefined;
  /** Why the outcome is still open although a node has reported the transaction as landed or expired; of a confirmed trade: its block was undone. */
  readonly pendingReason?: string | undefined;
  /** Why it landed late; absent if it landed in time. */
  readonly diagnosis?: TradeDiagnosis | undefined;
}

/** Why a trade landed late or, in the details of TX_EXPIRED, did not land. */
export interface TradeDiagnosis {
  /** What would have had to be otherwise: `submitted_late`, `priority_low`, `unknown` and others. */
  readonly cause: string;
  /** True if what the service observed leaves no other cause. */
  readonly sure: boolean;
  readonly evidence: string;
  readonly remedy: string;
  readonly others: readonly string[];
}

/** What happened to a submitted transaction. */
export interface WatchedEvent {
  readonly kind: TradeEventName;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  /** The sender that accepted or refused it. */
  readonly lane?: string | undefined;
  readonly slot?: number | undefined;
  readonly reason?: string | undefined;
}

/** The state of a trade while it is watched, with what happened since the last update. */
export interface TradeUpdate extends Trade {
  readonly events: readonly WatchedEvent[];
}

const STATUSES: readonly TradeStatusName[] = ["processed", "confirmed", "finalized"];

/**
 * The trade if it is that of the signed transaction, with its amounts in whole units derived from the exact ones where the
 * decimals are known.
 *
 * @param expected what the transaction was verified to be, if it was
 * @throws TradeError UNEXPECTED_ANSWER with the signature that the client knows
 */
export function checkTrade<T extends Trade>(answer: T, signature: string, expected: TradeExpectation | undefined): T {
  // A status unknown to this library counts as pending, so that it is read again.
  const trade = { ...answer, status: STATUSES.includes(answer.status) ? answer.status : ("pending" as const) };
  const fault = trade.signature === signature ? expected && faultOf(trade, expected) : "is of another transaction";
  if (fault !== undefined) {
    throw new TradeError(
      "UNEXPECTED_ANSWER",
      `The transaction ${signature} was signed and may have landed, but the service's answer ${fault}. Look the transaction up elsewhere.`,
      { signature },
    );
  }
  const { tradeResult } = trade;
  if (tradeResult === undefined || expected?.decimals === undefined) return trade;
  const { input, output } = expected.decimals;
  const { inputAmountRaw, outputAmountRaw } = tradeResult;
  return {
    ...trade,
    tradeResult: {
      ...tradeResult,
      ...(input === undefined ? {} : { inputAmount: toWholeUnits(BigInt(inputAmountRaw), input) }),
      ...(output === undefined ? {} : { outputAmount: toWholeUnits(BigInt(outputAmountRaw), output) }),
    },
  };
}

/** True if the text names the mint; text that names nothing does not. */
function isMint(text: string, mint: Address): boolean {
  try {
    return mintOf(text) === mint;
  } catch {
    return false;
  }
}

/** What contradicts the signed transaction, which succeeds within its bounds or not at all. */
function faultOf(trade: Trade, expected: TradeExpectation): string | undefined {
  const { inMint, outMint, mode, amount, threshold, platform, announced } = expected;
  if (!isMint(trade.inputMint, inMint) || !isMint(trade.outputMint, outMint)) return "is of other mints";
  if (trade.platform !== platform) return "is of another venue";
  const priority = announced?.priority;
  if (priority !== undefined && Math.round(trade.priorityCost * 1e9) !== Number(priority)) {
    return "states another cost of priority";
  }
  if (trade.tradeResult === undefined) return undefined;
  const { inputAmountRaw, outputAmountRaw } = trade.tradeResult;
  if (!/^\d{1,20}$/.test(inputAmountRaw) || !/^\d{1,20}$/.test(outputAmountRaw)) return "has amounts that are none";
  const [mostIn, leastOut] = mode === "exactIn" ? [amount, threshold] : [threshold, amount];
  if (BigInt(inputAmountRaw) > mostIn) return "states a higher input than the transaction allows";
  if (BigInt(outputAmountRaw) < leastOut) return "states a lower output than the transaction allows";
  return undefined;
}
