import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const meteoraDbcErrors = programErrors([
  [6002, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
  [6012, "NotEnoughLiquidity", "INSUFFICIENT_LIQUIDITY"],
  [6013, "PoolIsCompleted", "NO_ROUTE"],
  [6033, "InsufficientLiquidity", "INSUFFICIENT_LIQUIDITY"],
  // The curve gives less than an exact output asks for.
  [6047, "AmountLeftIsNotZero", "INSUFFICIENT_LIQUIDITY"],
  [6043, "FailToValidateSingleSwapInstruction", "NO_ROUTE"],
  [6005, null, "INSUFFICIENT_LIQUIDITY"],
  [6045, null, "VENUE_DEGRADED"],
  [6048, null, "INSUFFICIENT_LIQUIDITY"],
  [6050, null, "VENUE_DEGRADED"],
  [6057, null, "NO_ROUTE"],
  [6076, null, "NO_ROUTE"],
  [null, "AmountIsZero", "INSUFFICIENT_LIQUIDITY"],
  [null, "FirstSwapValidationFailed", "NO_ROUTE"],
  [null, "PoolTypeMismatch", "NO_ROUTE"],
  [null, "UndeterminedError", "VENUE_DEGRADED"],
  [null, "AccountInvariantViolation", "VENUE_DEGRADED"],
  [null, "NextSqrtPriceIsSmallerThanStartSqrtPrice", "INSUFFICIENT_LIQUIDITY"],
]);
