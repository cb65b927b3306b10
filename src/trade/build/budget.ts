import type { PriorityFees, Tip } from "../../chain/port.ts";
import type { Address } from "../../primitives/address.ts";
import { writeU32, writeU64 } from "../../primitives/bytes.ts";
import {
  MAX_COMPUTE_UNITS,
  priorityFeeLamports,
  setComputeUnitLimit,
  setComputeUnitPrice,
  setLoadedAccountsDataSizeLimit,
} from "../../solana/compute-budget.ts";
import { FilledInstruction, type Instruction, InstructionPattern } from "../../solana/instruction.ts";
import { instructionsAt } from "../../solana/message.ts";
import type { Route } from "../quote/route.ts";
import type { Costs, TradeRequest } from "../trade.ts";
import type { Assembly } from "./parts/assembled.ts";
import { UNITS } from "./parts/compute-units.ts";

/** Compute units of the instructions that set the budget. */
export const BUDGET_UNITS = 3 * UNITS.computeBudget;

/** The compute budget of one message. */
export interface Budget {
  readonly computeUnitLimit: number;
  readonly priceMicroLamports: bigint;
  readonly loadedBytesLimit: number;
}

/** How generous the compute budget of a message is. */
export interface BudgetSettings {
  /** Added to the measured upper bound of compute units. Percent. */
  readonly computeUnitMarginPercent: number;
  /** Bytes of accounts and programs that a trade on up to two venues may load. */
  readonly loadedAccountsBytes: number;
}

type UnitMargin = Pick<BudgetSettings, "computeUnitMarginPercent">;

/** Number of venues that the setting leaves room for, and the room for the programs and accounts of each further one. Bytes. */
const VENUES_HELD = 2;
const VENUE_BYTES = 3 * 1024 * 1024;

/** What setting a budget reads. */
export interface BudgetPorts {
  readonly fees: PriorityFees;
  readonly settings: BudgetSettings;
}

/**
 * The budget of an assembled trade. The nonce goes into the low bits of the loaded-bytes limit, so that almost no two builds are
 * the same message.
 */
export function budgetFor(
  { settings, fees }: BudgetPorts,
  { priority }: Pick<TradeRequest, "priority">,
  route: Route,
  assembly: Assembly,
  nonce: number,
): Budget {
  return {
    computeUnitLimit: unitLimit(settings, assembly.computeUnits, assembly.movedUnits),
    priceMicroLamports: fees.priceMicroLamportsPerCu(priority, marketsOf(route)),
    loadedBytesLimit: settings.loadedAccountsBytes + furtherVenues(route) * VENUE_BYTES - nonce,
  };
}

/** Room for prices that move, at most: this part of the bound. Limits cost priority, and such moves are rare. */
const MOST_MOVED = 0.5;

/**
 * The limit of a transaction whose instructions, beside those of the budget, use so many compute units at most: with the margin, or with
 * what prices that move may add, if that is more.
 */
export function unitLimit({ computeUnitMarginPercent }: UnitMargin, units: number, movedUnits: number): number {
  const bound = units + BUDGET_UNITS;
  const withMargin = Math.ceil((bound * (100 + computeUnitMarginPercent)) / 100);
  const withMoves = bound + Math.min(movedUnits, Math.floor(bound * MOST_MOVED));
  return Math.min(Math.max(withMargin, withMoves), MAX_COMPUTE_UNITS);
}

/** What any build of the same trade pays for priority at most. Lamports. */
export function mostPriorityFee(settings: UnitMargin, { assembly, costs, unitPrice }: PricedUnits): bigint {
  const { computeUnits, spareUnits, movedUnits } = assembly;
  if (spareUnits === 0) return costs.priorityFee;
  return priorityFeeLamports(unitLimit(settings, computeUnits + spareUnits, movedUnits), unitPrice);
}

interface PricedUnits {
  readonly assembly: Pick<Assembly, "computeUnits" | "spareUnits" | "movedUnits">;
  readonly costs: Pick<Costs, "priorityFee">;
  /** Micro-lamports per compute unit. */
  readonly unitPrice: bigint;
}

function marketsOf({ steps }: Route): readonly Address[] {
  return steps.length === 1 ? [steps[0]!.hot.market.address] : steps.map(({ hot }) => hot.market.address);
}

/** Venues of a route beyond those that the setting leaves room for. */
function furtherVenues({ steps }: Route): number {
  if (steps.length <= VENUES_HELD) return 0;
  return Math.max(0, new Set(steps.map(({ hot }) => hot.venue)).size - VENUES_HELD);
}

/** The compute-budget instructions, first in every message; `writeBudget` writes the numbers into it. */
export const BUDGET_INSTRUCTIONS: readonly Instruction[] = [
  setComputeUnitLimit(0),
  setComputeUnitPrice(0n),
  setLoadedAccountsDataSizeLimit(0),
].map(({ program, data }) => {
  const pattern = new InstructionPattern({ program, rights: "r", accounts: () => [], data: () => data });
  return new FilledInstruction(pattern, undefined, 0, []);
});

/** Program, number of accounts, length and tag: what precedes the number of a compute-budget instruction. Bytes. */
const BEFORE_NUMBER = 4;

/** Writes the budget into a version 0 message that begins with `BUDGET_INSTRUCTIONS`. */
export function writeBudget(message: Uint8Array, budget: Budget): void {
  const units = instructionsAt(message) + BEFORE_NUMBER;
  const price = units + 4 + BEFORE_NUMBER;
  writeU32(message, units, budget.computeUnitLimit);
  writeU64(message, price, budget.priceMicroLamports);
  writeU32(message, price + 8 + BEFORE_NUMBER, budget.loadedBytesLimit);
}

/** What the transaction will cost, in lamports. */
export function estimateCosts(baseFee: bigint, budget: Budget, assembly: Assembly, tips: readonly Tip[]): Costs {
  let tip = 0n;
  for (let index = 0; index < tips.length; index++) tip += tips[index]!.lamports;
  let rentPaid = 0n;
  for (let index = 0; index < assembly.creates.length; index++) rentPaid += assembly.creates[index]!.rent;
  rentPaid -= assembly.prepaid;
  return {
    baseFee,
    priorityFee: priorityFeeLamports(budget.computeUnitLimit, budget.priceMicroLamports),
    tip,
    rentPaid,
    rentReturned: assembly.closes?.lamports ?? 0n,
  };
}
