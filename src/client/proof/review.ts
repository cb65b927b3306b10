import type { BuiltResponse } from "../answers/answers.ts";
import { isShare, type TradeExpectation, type TradeOrder } from "../verify/trade-expectation.ts";
import type { TradeProof, Unproven } from "./prove-trade.ts";

/** A verified trade, before it is signed: what the bytes allow, and what was proven of it. */
export interface TradeReview extends TradeProof {
  readonly built: BuiltResponse;
  /** The most that can leave the wallet and the least that can arrive, costs apart. Base units. */
  readonly mostInputRaw: string;
  readonly leastOutputRaw: string;
  /** Decimals of the two mints, if the client knows them by itself. */
  readonly inputDecimals: number | undefined;
  readonly outputDecimals: number | undefined;
}

/** The bounds of a verified transaction. */
export function boundsOf({ mode, amount, threshold }: TradeExpectation) {
  const [mostIn, leastOut] = mode === "exactIn" ? [amount, threshold] : [threshold, amount];
  return { mostInputRaw: mostIn.toString(), leastOutputRaw: leastOut.toString() };
}

/** True if a trade accepted as `accepted` may be signed as `next` without asking again. */
export function isNoWorse(next: TradeReview, accepted: TradeReview): boolean {
  return (
    BigInt(next.mostInputRaw) <= BigInt(accepted.mostInputRaw) &&
    BigInt(next.leastOutputRaw) >= BigInt(accepted.leastOutputRaw) &&
    next.built.priorityCost <= accepted.built.priorityCost &&
    isRentNoMore(next, accepted) &&
    (next.built.proof?.checked === true || accepted.built.proof?.checked !== true) &&
    next.unproven.every((fact) => accepted.unproven.includes(fact))
  );
}

/** True if no more is paid for accounts, and no less returned. What is returned only the service says: it makes up for nothing. */
function isRentNoMore({ built: { costs: next } }: TradeReview, { built: { costs: accepted } }: TradeReview): boolean {
  return (
    BigInt(next?.rentPaid ?? 0) <= BigInt(accepted?.rentPaid ?? 0) &&
    BigInt(next?.rentReturned ?? 0) >= BigInt(accepted?.rentReturned ?? 0)
  );
}

/** A client without verification knows about a trade only what the service says. */
export function unverified(built: BuiltResponse, order: TradeOrder | undefined): TradeReview {
  const { inputAmountRaw = "0", outputAmountRaw = "0" } = built.estimates ?? {};
  const unproven: Unproven[] = ["transaction", "price", "priceImpact"];
  if (order === undefined || isShare(order)) unproven.push("balance");
  if (order?.slippageBasis !== undefined) unproven.push("slippage");
  return {
    built,
    mostInputRaw: inputAmountRaw,
    leastOutputRaw: outputAmountRaw,
    inputDecimals: undefined,
    outputDecimals: undefined,
    unproven,
    findings: undefined,
    slippage: order?.slippageBasis,
  };
}
