import type { PriorityFees, Tip } from "../../chain/port.ts";
import {
  MAX_COMPUTE_UNITS,
  priorityFeeLamports,
  setComputeUnitLimit,
  setComputeUnitPrice,
  setLoadedAccountsDataSizeLimit,
} from "../../solana/compute-budget.ts";
import type { Instruction } from "../../solana/instruction.ts";
import type { Route } from "../quote/route.ts";
import type { Costs, TradeRequest } from "../trade.ts";
import type { Assembly } from "./assembly.ts";
import { UNITS } from "./parts/compute-units.ts";

/** Compute units of the instructions that set the budget. */
export const BUDGET_UNITS = 3 * UNITS.computeBudget;

/** The compute budget of one message. */
export interface Budget {
  readonly computeUnitLimit: number;
  readonly priceMicroLamports: bigint;
  readonly loadedBytesLimit: number;
}

export interface BudgetSettings {
  /** Added to the measured upper bound of compute units. Percent. */
  readonly computeUnitMarginPercent: number;
  /** Bytes of accounts and programs that a trade on up to two venues may load. */
  readonly loadedAccountsBytes: number;
}

/** Venues whose programs the settings leave room for, and room for each further one: its programs and its accounts. Bytes. */
const VENUES_HELD = 2;
const VENUE_BYTES = 3 * 1024 * 1024;

/** What setting a budget reads. */
export interface BudgetPorts {
  readonly fees: PriorityFees;
  readonly settings: BudgetSettings;
}

/**
 * The budget of an assembled trade. The nonce goes into the low bits of the loaded-bytes limit, so that no two builds are
 * the same message.
 */
export function budgetFor(
  { settings, fees }: BudgetPorts,
  { priority }: Pick<TradeRequest, "priority">,
  route: Route,
  assembly: Assembly,
  nonce: number,
): Budget {
  const units = assembly.computeUnits + BUDGET_UNITS;
  return {
    computeUnitLimit: Math.min(Math.ceil((units * (100 + settings.computeUnitMarginPercent)) / 100), MAX_COMPUTE_UNITS),
    priceMicroLamports: fees.priceMicroLamportsPerCu(
      priority,
      route.steps.map(({ hot }) => hot.market.address),
    ),
    loadedBytesLimit: settings.loadedAccountsBytes + furtherVenues(route) * VENUE_BYTES - nonce,
  };
}

/** Venues of a route beyond those that the settings leave room for. */
function furtherVenues({ steps }: Route): number {
  if (steps.length <= VENUES_HELD) return 0;
  return Math.max(0, new Set(steps.map(({ hot }) => hot.venue)).size - VENUES_HELD);
}

/** The compute-budget instructions, first in every message. */
export function budgetInstructions(budget: Budget): readonly Instruction[] {
  return [
    setComputeUnitLimit(budget.computeUnitLimit),
    setComputeUnitPrice(budget.priceMicroLamports),
    setLoadedAccountsDataSizeLimit(budget.loadedBytesLimit),
  ];
}

/** What the transaction will cost, in lamports. */
export function estimateCosts(baseFee: bigint, budget: Budget, assembly: Assembly, tips: readonly Tip[]): Costs {
  return {
    baseFee,
    priorityFee: priorityFeeLamports(budget.computeUnitLimit, budget.priceMicroLamports),
    tip: tips.reduce((sum, { lamports }) => sum + lamports, 0n),
    rentPaid: assembly.creates.reduce((sum, { rent }) => sum + rent, 0n),
    rentReturned: assembly.closes?.lamports ?? 0n,
  };
}
