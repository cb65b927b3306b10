import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type BuyResponseSchema,
  type GetPriorityResponseSchema,
  type QuoteResponseSchema,
  type SubmitResponseSchema,
  TradeEventKind,
  type TradeEventSchema,
  type WatchTradeResponseSchema,
} from "../../../gen/tradewire/v1/trade_pb.ts";
import {
  type CostsSchema,
  type DiagnosisSchema,
  type EstimatesSchema,
  type ProofSchema,
  type RouteLegSchema,
  type TradeResultSchema,
  TradeStatus,
} from "../../../gen/tradewire/v1/types_pb.ts";
import { SOL_DECIMALS, toWholeUnits } from "../../primitives/amount.ts";
import { isoMillis } from "../../primitives/clock.ts";
import type {
  BuiltTrade,
  Costs,
  ExactAmounts,
  QuotedTrade,
  RouteLeg,
  RouteProof,
  SubmittedTrade,
  TradeEvent,
  TradeSides,
  Trades,
  WatchedTrade,
} from "../../trade/trade.ts";
import { priorityOf } from "./priority-levels.ts";
import { fromPriceMovement, fromWorstCase } from "./worst-case-answer.ts";

/** The response of Buy, Sell and Swap. */
export function fromBuilt(built: BuiltTrade) {
  return {
    submissionToken: built.submissionToken,
    unsignedTransaction: built.unsignedTransaction as Uint8Array<ArrayBuffer>,
    expiresAt: isoMillis(built.expiresAtMs),
    platform: built.platform,
    inputMint: built.inMint.toString(),
    outputMint: built.outMint.toString(),
    estimates: fromEstimates(built, built.estimates),
    priorityCost: priorityCostOf(built.costs),
    costs: fromCosts(built.costs),
    route: built.route.map(fromLeg),
    proof: fromProof(built.proof),
    lastValidBlockHeight: built.lastValidBlockHeight,
  } satisfies MessageInitShape<typeof BuyResponseSchema>;
}

const BILLION = 1_000_000_000;

/** The statuses of a trade that has not failed. */
export const STATUSES: Readonly<Record<SubmittedTrade["status"], TradeStatus>> = {
  pending: TradeStatus.PENDING,
  processed: TradeStatus.PROCESSED,
  confirmed: TradeStatus.CONFIRMED,
  finalized: TradeStatus.FINALIZED,
};

/** A submitted trade, the same in every response that contains one. */
export function fromSubmitted(trade: SubmittedTrade) {
  return {
    signature: trade.signature,
    status: STATUSES[trade.status],
    ...(trade.slot === undefined ? {} : { slot: trade.slot }),
    platform: trade.platform,
    inputMint: trade.inMint.toString(),
    outputMint: trade.outMint.toString(),
    ...(trade.result === undefined ? {} : { tradeResult: fromAmounts(trade, trade.result) }),
    priorityCost: priorityCostOf(trade.costs),
    ...(trade.witnesses === undefined ? {} : { witnesses: trade.witnesses }),
    ...(trade.pendingReason === undefined ? {} : { pendingReason: trade.pendingReason }),
    ...(trade.diagnosis === undefined ? {} : { diagnosis: fromDiagnosis(trade.diagnosis) }),
    costs: fromCosts(trade.costs),
    route: trade.route.map(fromLeg),
  } satisfies MessageInitShape<typeof SubmitResponseSchema>;
}

/** Why a trade expired or landed late. */
export function fromDiagnosis({ others, ...diagnosis }: NonNullable<SubmittedTrade["diagnosis"]>) {
  return { ...diagnosis, others: [...others] } satisfies MessageInitShape<typeof DiagnosisSchema>;
}

/** One message of WatchTrade: the trade with its events since the previous message. */
export function fromWatched({ events, ...trade }: WatchedTrade) {
  return { ...fromSubmitted(trade), events: events.map(fromEvent) } satisfies MessageInitShape<
    typeof WatchTradeResponseSchema
  >;
}

const EVENT_KINDS: Readonly<Record<TradeEvent["kind"], TradeEventKind>> = {
  sent: TradeEventKind.SENT,
  refused: TradeEventKind.REFUSED,
  processed: TradeEventKind.PROCESSED,
  confirmed: TradeEventKind.CONFIRMED,
  finalized: TradeEventKind.FINALIZED,
};

function fromEvent({ kind, atMs, sender, slot, reason }: TradeEvent) {
  return {
    kind: EVENT_KINDS[kind],
    at: isoMillis(atMs),
    ...(sender === undefined ? {} : { lane: sender }),
    ...(slot === undefined ? {} : { slot }),
    ...(reason === undefined ? {} : { reason }),
  } satisfies MessageInitShape<typeof TradeEventSchema>;
}

/** The response of Quote: the best route, the alternatives, and venues and markets without a price. */
export function fromQuoted(quoted: QuotedTrade) {
  return {
    platform: quoted.platform,
    inputMint: quoted.inMint.toString(),
    outputMint: quoted.outMint.toString(),
    estimates: fromEstimates(quoted, quoted.estimates),
    route: quoted.route.map(fromLeg),
    proof: fromProof(quoted.proof),
    needsOpenAccounts: quoted.needsOpenAccounts,
    valueRaw: (quoted.value ?? 0n).toString(),
    splitGain: quoted.splitGain ?? 0,
    ...(quoted.priceMovement === undefined ? {} : { priceMovement: fromPriceMovement(quoted.priceMovement) }),
    alternatives: quoted.alternatives.map((alternative) => ({
      platform: alternative.platform,
      inputAmount: toWholeUnits(alternative.inAmount, quoted.inDecimals),
      outputAmount: toWholeUnits(alternative.outAmount, quoted.outDecimals),
      priceImpact: alternative.priceImpact,
      inputAmountRaw: alternative.inAmount.toString(),
      outputAmountRaw: alternative.outAmount.toString(),
      route: alternative.route.map(fromLeg),
      needsOpenAccounts: alternative.needsOpenAccounts,
      valueRaw: (alternative.value ?? 0n).toString(),
    })),
    faults: quoted.faults.map(({ venue, market, reason }) =>
      market === undefined ? { venue, reason } : { venue, market, reason },
    ),
  } satisfies MessageInitShape<typeof QuoteResponseSchema>;
}

/** The response of GetPriority: prices in micro-lamports per compute unit, costs of a typical trade in SOL and lamports. */
export function fromPriorities(levels: ReturnType<Trades["priorities"]>) {
  return {
    levels: levels.map(({ level, microLamportsPerCu, typicalCostLamports, expectedSlots, landing }) => ({
      priority: priorityOf(level),
      microLamportsPerComputeUnit: microLamportsPerCu,
      expectedCost: toWholeUnits(typicalCostLamports, SOL_DECIMALS),
      expectedCostRaw: typicalCostLamports.toString(),
      expectedSlots,
      landingSample: landing.sample,
      ...(landing.landedShare === undefined ? {} : { landedShare: landing.landedShare }),
      ...(landing.slots === undefined ? {} : { landedSlots: landing.slots, landedSlotsP90: landing.slotsP90! }),
    })),
  } satisfies MessageInitShape<typeof GetPriorityResponseSchema>;
}

function fromEstimates({ inDecimals, outDecimals }: TradeSides, estimates: BuiltTrade["estimates"]) {
  const { remainders, worstCase, fitLoss } = estimates;
  const amounts = {
    inputAmount: toWholeUnits(estimates.inAmount, inDecimals),
    outputAmount: toWholeUnits(estimates.outAmount, outDecimals),
    priceImpact: estimates.priceImpact,
    inputAmountRaw: estimates.inAmount.toString(),
    outputAmountRaw: estimates.outAmount.toString(),
    otherAmountThresholdRaw: estimates.threshold.toString(),
  } satisfies MessageInitShape<typeof EstimatesSchema>;
  // Most trades have nothing further: every copy takes memory.
  const hasRemainders = remainders !== undefined && remainders.length > 0;
  if (!hasRemainders && worstCase === undefined && fitLoss === undefined) return amounts;
  return {
    ...amounts,
    ...fromRemainders(remainders),
    ...(worstCase === undefined ? {} : { worstCase: fromWorstCase(worstCase) }),
    ...(fitLoss === undefined ? {} : { fitLoss }),
  } satisfies MessageInitShape<typeof EstimatesSchema>;
}

/** Amounts of a trade, in whole and in base units. */
export function fromAmounts(trade: TradeSides, amounts: ExactAmounts) {
  return {
    inputAmount: toWholeUnits(amounts.inAmount, trade.inDecimals),
    outputAmount: toWholeUnits(amounts.outAmount, trade.outDecimals),
    inputAmountRaw: amounts.inAmount.toString(),
    outputAmountRaw: amounts.outAmount.toString(),
    ...fromRemainders(amounts.remainders),
  } satisfies MessageInitShape<typeof TradeResultSchema>;
}

/** What stays with the wallet of each mint between two markets; nothing if the route has none. */
function fromRemainders(remainders: ExactAmounts["remainders"]) {
  if (remainders === undefined || remainders.length === 0) return undefined;
  const all = remainders.map(({ mint, amount }) => ({ mint: mint.toString(), amountRaw: amount.toString() }));
  return { remainder: all[0]!, remainders: all };
}

/** The costs of a transaction, in lamports. */
export function fromCosts(costs: Costs) {
  return {
    baseFee: costs.baseFee.toString(),
    priorityFee: costs.priorityFee.toString(),
    tip: costs.tip.toString(),
    rentPaid: costs.rentPaid.toString(),
    rentReturned: costs.rentReturned.toString(),
  } satisfies MessageInitShape<typeof CostsSchema>;
}

/** One market of a route. */
export function fromLeg(leg: RouteLeg) {
  const { arrayNumbers } = leg;
  const facts = {
    path: leg.path ?? 0,
    share: (leg.sharePpb ?? BILLION) / BILLION,
    venue: leg.venue,
    market: leg.market.toString(),
    inputMint: leg.inMint.toString(),
    outputMint: leg.outMint.toString(),
    inputAmountRaw: leg.inAmount.toString(),
    outputAmountRaw: leg.outAmount.toString(),
  } satisfies MessageInitShape<typeof RouteLegSchema>;
  return arrayNumbers === undefined ? facts : { ...facts, arrayNumbers: [...arrayNumbers] };
}

function fromProof(proof: RouteProof | undefined) {
  if (proof === undefined) return { checked: false };
  const { programSlot, shadowSlot, checked } = proof;
  return {
    ...(programSlot === undefined ? {} : { programSlot }),
    ...(shadowSlot === undefined ? {} : { shadowSlot }),
    checked,
  } satisfies MessageInitShape<typeof ProofSchema>;
}

/** Priority fee and tip, in SOL. */
export function priorityCostOf(costs: Costs): number {
  const { priorityFee, tip } = costs;
  return toWholeUnits(tip === 0n ? priorityFee : priorityFee + tip, SOL_DECIMALS);
}
