import { programErrors } from "../shared/program-errors.ts";

/**
 * Public codes of the program's errors, by the numbers and names of its source. It panics if the pool holds less than the exact output.
 */
export const raydiumCpmmErrors = programErrors(
  [
    // Anchor's own error: at the price of the landing, the sold amount yields nothing.
    [2505, "RequireGtViolated", "SLIPPAGE_EXCEEDED"],
    [6000, "NotApproved", "NO_ROUTE"],
    [6002, "EmptySupply", "INSUFFICIENT_LIQUIDITY"],
    [6005, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [6006, "ZeroTradingTokens", "INSUFFICIENT_LIQUIDITY"],
    [6007, "NotSupportMint", "NO_ROUTE"],
    [6008, "InvalidVault", "VENUE_DEGRADED"],
    [6010, "TransferFeeCalculateNotMatch", "VENUE_DEGRADED"],
    [6012, "InsufficientVault", "INSUFFICIENT_LIQUIDITY"],
    [6013, "InvalidFeeModel", "VENUE_DEGRADED"],
  ],
  "INSUFFICIENT_LIQUIDITY",
);
