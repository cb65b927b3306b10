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
  type EstimatesSchema,
  Priority,
  type RouteLegSchema,
  SwapMode,
  TradeStatus,
} from "../../../gen/tradewire/v1/types_pb.ts";
import { invalidField } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import { SOL_DECIMALS, toWholeUnits } from "../../primitives/amount.ts";
import { isoMillis } from "../../primitives/clock.ts";
import type {
  BuiltTrade,
  Costs,
  QuotedTrade,
  RouteLeg,
  SubmittedTrade,
  TradeEvent,
  TradeRequest,
  TradeSides,
  Trades,
  WatchedTrade,
} from "../../trade/trade.ts";

/** What SOL is called in every answer. */
export const SOL_MINT = Address.of("So11111111111111111111111111111111111111112");

/** Addresses that requests named lately: decoding base58 costs more than the rest of reading a request. */
const recent = new Map<string, Address>();
const RECENT_LIMIT = 4096;

/** An address out of a request. @throws TradewireError VALIDATION_ERROR */
export function parseAddress(text: string, field: string): Address {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const address = Address.parse(text);
  if (address === undefined) throw invalidField(field, `${field} is not an address: 32 bytes in base58.`);
  if (recent.size >= RECENT_LIMIT) recent.clear();
  recent.set(text, address);
  return address;
}

/** A mint out of a request; SOL may also be written `SOL` or as the native pseudo-mint. @throws TradewireError VALIDATION_ERROR */
export function parseMint(text: string, field: string): Address {
  if (text === "SOL" || text === "So11111111111111111111111111111111111111111") return SOL_MINT;
  return parseAddress(text, field);
}

const PRIORITIES: Readonly<Record<number, TradeRequest["priority"]>> = {
  [Priority.ECONOMY]: "economy",
  [Priority.FAST]: "fast",
  [Priority.FASTER]: "faster",
  [Priority.FASTEST]: "fastest",
};

/** A level that has passed validation. */
export function toPriority(priority: Priority): TradeRequest["priority"] {
  return PRIORITIES[priority]!;
}

/** A mode that has passed validation. */
export function toSwapMode(mode: SwapMode): TradeRequest["mode"] {
  return mode === SwapMode.EXACT_OUT ? "exactOut" : "exactIn";
}

/** A build as all three build answers carry it. */
export function fromBuilt(built: BuiltTrade) {
  return {
    submissionToken: built.submissionToken,
    unsignedTransaction: built.unsignedTransaction as Uint8Array<ArrayBuffer>,
    expiresAt: isoMillis(built.expiresAtMs),
    platform: built.platform,
    inputMint: built.inMint.toString(),
    outputMint: built.outMint.toString(),
    estimates: fromEstimates(built, built.estimates, built.route),
    priorityCost: priorityCostOf(built.costs),
    costs: fromCosts(built.costs),
    route: built.route.map(fromLeg),
    lastValidBlockHeight: built.lastValidBlockHeight,
  } satisfies MessageInitShape<typeof BuyResponseSchema>;
}

const STATUSES: Readonly<Record<SubmittedTrade["status"], TradeStatus>> = {
  pending: TradeStatus.PENDING,
  processed: TradeStatus.PROCESSED,
  confirmed: TradeStatus.CONFIRMED,
  finalized: TradeStatus.FINALIZED,
};

/** What became of a trade as all answers about submitted trades carry it. */
export function fromSubmitted(trade: SubmittedTrade) {
  return {
    signature: trade.signature,
    status: STATUSES[trade.status],
    ...(trade.slot === undefined ? {} : { slot: trade.slot }),
    platform: trade.platform,
    inputMint: trade.inMint.toString(),
    outputMint: trade.outMint.toString(),
    ...(trade.result === undefined
      ? {}
      : {
          tradeResult: {
            inputAmount: toWholeUnits(trade.result.inAmount, trade.inDecimals),
            outputAmount: toWholeUnits(trade.result.outAmount, trade.outDecimals),
            inputAmountRaw: trade.result.inAmount.toString(),
            outputAmountRaw: trade.result.outAmount.toString(),
            ...fromRemainder(trade.result.remainder, trade.route),
          },
        }),
    priorityCost: priorityCostOf(trade.costs),
    costs: fromCosts(trade.costs),
    route: trade.route.map(fromLeg),
  } satisfies MessageInitShape<typeof SubmitResponseSchema>;
}

/** The answer to a watch: the trade as submitted, with what has happened to it so far. */
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

/** The answer to a quote: the best route, the other venues' offers, and what was found wanting. */
export function fromQuoted(quoted: QuotedTrade) {
  return {
    platform: quoted.platform,
    inputMint: quoted.inMint.toString(),
    outputMint: quoted.outMint.toString(),
    estimates: fromEstimates(quoted, quoted.estimates, quoted.route),
    route: quoted.route.map(fromLeg),
    needsOpenAccounts: quoted.needsOpenAccounts,
    alternatives: quoted.alternatives.map((alternative) => ({
      platform: alternative.platform,
      inputAmount: toWholeUnits(alternative.inAmount, quoted.inDecimals),
      outputAmount: toWholeUnits(alternative.outAmount, quoted.outDecimals),
      priceImpact: alternative.priceImpact,
      inputAmountRaw: alternative.inAmount.toString(),
      outputAmountRaw: alternative.outAmount.toString(),
      route: alternative.route.map(fromLeg),
      needsOpenAccounts: alternative.needsOpenAccounts,
    })),
    faults: quoted.faults.map(({ venue, market, reason }) =>
      market === undefined ? { venue, reason } : { venue, market, reason },
    ),
  } satisfies MessageInitShape<typeof QuoteResponseSchema>;
}

const LEVELS: Readonly<Record<TradeRequest["priority"], Priority>> = {
  economy: Priority.ECONOMY,
  fast: Priority.FAST,
  faster: Priority.FASTER,
  fastest: Priority.FASTEST,
};

/** The answer to GetPriority: prices in micro-lamports per compute unit, costs of a typical trade in SOL and lamports. */
export function fromPriorities(levels: ReturnType<Trades["priorities"]>) {
  return {
    levels: levels.map(({ level, microLamportsPerCu, typicalCostLamports, expectedSlots }) => ({
      priority: LEVELS[level],
      microLamportsPerComputeUnit: microLamportsPerCu,
      expectedCost: toWholeUnits(typicalCostLamports, SOL_DECIMALS),
      expectedCostRaw: typicalCostLamports.toString(),
      expectedSlots,
    })),
  } satisfies MessageInitShape<typeof GetPriorityResponseSchema>;
}

function fromEstimates(
  { inDecimals, outDecimals }: TradeSides,
  estimates: BuiltTrade["estimates"],
  route: readonly RouteLeg[],
) {
  return {
    inputAmount: toWholeUnits(estimates.inAmount, inDecimals),
    outputAmount: toWholeUnits(estimates.outAmount, outDecimals),
    priceImpact: estimates.priceImpact,
    inputAmountRaw: estimates.inAmount.toString(),
    outputAmountRaw: estimates.outAmount.toString(),
    otherAmountThresholdRaw: estimates.threshold.toString(),
    ...fromRemainder(estimates.remainder, route),
  } satisfies MessageInitShape<typeof EstimatesSchema>;
}

/** What stays in the mint between two markets; nothing where there is but one. */
function fromRemainder(remainder: bigint | undefined, [first]: readonly RouteLeg[]) {
  if (remainder === undefined || first === undefined) return undefined;
  return { remainder: { mint: first.outMint.toString(), amountRaw: remainder.toString() } };
}

function fromCosts(costs: Costs) {
  return {
    baseFee: costs.baseFee.toString(),
    priorityFee: costs.priorityFee.toString(),
    tip: costs.tip.toString(),
    rentPaid: costs.rentPaid.toString(),
    rentReturned: costs.rentReturned.toString(),
  } satisfies MessageInitShape<typeof CostsSchema>;
}

function fromLeg(leg: RouteLeg) {
  return {
    venue: leg.venue,
    market: leg.market.toString(),
    inputMint: leg.inMint.toString(),
    outputMint: leg.outMint.toString(),
    inputAmountRaw: leg.inAmount.toString(),
    outputAmountRaw: leg.outAmount.toString(),
  } satisfies MessageInitShape<typeof RouteLegSchema>;
}

/** Everything paid for priority, in SOL. */
function priorityCostOf(costs: Costs): number {
  return toWholeUnits(costs.priorityFee + costs.tip, SOL_DECIMALS);
}
