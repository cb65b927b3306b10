import { programErrors } from "../shared/program-errors.ts";

/**
 * Public codes of the program's errors, by the numbers and names of its source.
 * Numbers as of April 2026. Before, several were four lower, so a logged name takes precedence.
 */
export const raydiumClmmErrors = programErrors([
  [6000, "NotApproved", "NO_ROUTE"],
  [6016, "LiquidityInsufficient", "INSUFFICIENT_LIQUIDITY"],
  [6017, "PriceSlippageCheck", "SLIPPAGE_EXCEEDED"],
  [6018, "TooLittleOutputReceived", "SLIPPAGE_EXCEEDED"],
  [6019, "TooMuchInputPaid", "SLIPPAGE_EXCEEDED"],
  [6022, "TooSmallInputOrOutputAmount", "INSUFFICIENT_LIQUIDITY"],
  // The price left the arrays the transaction names.
  [6023, "NotEnoughTickArrayAccount", "SLIPPAGE_EXCEEDED"],
  [6024, "InvalidFirstTickArrayAccount", "SLIPPAGE_EXCEEDED"],
  [6035, "MissingTickArrayBitmapExtensionAccount", "SLIPPAGE_EXCEEDED"],
  [6036, "InsufficientLiquidityForDirection", "INSUFFICIENT_LIQUIDITY"],
  // Anchor's own: the price came to its end before the whole input was sold.
  [2501, "RequireEqViolated", "INSUFFICIENT_LIQUIDITY"],
  // More is asked for than the pool holds.
  [null, "MaxTokenOverflow", "INSUFFICIENT_LIQUIDITY"],
  [null, "NotSupportMint", "NO_ROUTE"],
  [null, "TransferFeeCalculateNotMatch", "VENUE_DEGRADED"],
]);
