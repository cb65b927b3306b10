import { SOL_MINT, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import type { BaseInstruction } from "../base-instruction.ts";
import type { SwapBounds } from "../match-swap.ts";
import { LEAST_TOKEN_ACCOUNT_RENT } from "../rent.ts";
import type { ExpectedLeg } from "../route/announced-route.ts";
import type { TradeExpectation } from "../trade-expectation.ts";
import type { TemporaryAccount } from "./temporary-account.ts";

const SOL_DECIMALS = 9;

/** A swap that pays the output, with its bounds. */
export interface PayingSwap {
  readonly leg: ExpectedLeg;
  readonly bounds: SwapBounds;
  readonly nativeSol: boolean;
}

/** The surroundings of a guard in the transaction. */
interface GuardPlace {
  readonly trade: TradeExpectation;
  /** True if there are no parallel paths. */
  readonly isRow: boolean;
  readonly temporary: TemporaryAccount | undefined;
  /** The swaps before it that pay the output. */
  readonly paying: readonly PayingSwap[];
  /** Swaps that have not run yet. */
  readonly swapsLeft: number;
}

/**
 * What is wrong with a guard of the total: a transfer of the temporary wrapped-SOL account to itself, which fails unless the
 * account holds as much. It proves the sum of what a divided sale yields, because the transaction creates that account, no swap
 * takes from it, and it was opened with a known number of lamports. Of these, rent takes an unknown part, at least
 * `LEAST_TOKEN_ACCOUNT_RENT`; all above may count as balance, so the guard must ask for as much more.
 */
export function guardFault(
  guard: Extract<BaseInstruction, { kind: "requireBalance" }>,
  { trade, isRow, temporary, paying, swapsLeft }: GuardPlace,
): string | undefined {
  if (trade.mode !== "exactIn" || trade.outMint !== SOL_MINT || isRow) {
    return "it bounds a sum, but the trade is not a divided sale for SOL";
  }
  const isNew = temporary?.isOpen === true && !temporary.isAssociated;
  if (!isNew || guard.account.address !== temporary.address) {
    return "it bounds the balance of an account that this transaction does not create, or no longer has";
  }
  if (guard.tokenProgram !== TOKEN_PROGRAM || guard.mint !== SOL_MINT || guard.decimals !== SOL_DECIMALS) {
    return "the bound of its sum is not one of wrapped SOL";
  }
  if (guard.authority.address !== trade.wallet) return "it bounds its sum under another authority";
  if (swapsLeft > 0) return "it bounds its sum before all swaps have run";
  if (paying.some(({ nativeSol }) => nativeSol)) return "it bounds its sum without the swaps that pay lamports";
  const least = trade.threshold + temporary.lamports - LEAST_TOKEN_ACCOUNT_RENT;
  if (guard.amount !== least) {
    return `it requires ${guard.amount} base units in sum, but slippage and the rent it was opened with require ${least}`;
  }
  return paying.map((swap) => shortfallFault(swap, trade, paying)).find((fault) => fault !== undefined);
}

/** A swap under a guard may fall short by what the whole trade may. */
function shortfallFault(
  { leg, bounds }: PayingSwap,
  { threshold }: TradeExpectation,
  paying: readonly PayingSwap[],
): string | undefined {
  const allowance = paying.reduce((sum, swap) => sum + swap.leg.outAmount, 0n) - threshold;
  const least = leg.outAmount > allowance ? leg.outAmount - allowance : 1n;
  if (bounds.leastOut >= least) return undefined;
  return `the minimum output of a swap is ${bounds.leastOut} base units, but the whole trade may fall short by ${allowance} only`;
}
