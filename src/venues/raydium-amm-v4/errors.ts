import { programErrors } from "../shared/program-errors.ts";

/**
 * Public codes of the program's errors, by the numbers and names of its source.
 * The program logs no names. It panics if the pool holds less than the exact output, or cannot count what it would take.
 */
export const raydiumAmmV4Errors = programErrors(
  [
    [22, "InvalidStatus", "NO_ROUTE"],
    [30, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [40, "InsufficientFunds", "INSUFFICIENT_TOKEN_BALANCE"],
    [29, null, "INSUFFICIENT_LIQUIDITY"],
    [36, null, "INSUFFICIENT_LIQUIDITY"],
  ],
  "INSUFFICIENT_LIQUIDITY",
);
