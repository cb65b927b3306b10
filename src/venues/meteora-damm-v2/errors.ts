import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const meteoraDammV2Errors = programErrors([
  // More is asked for than the pool still holds.
  [6000, "MathOverflow", "INSUFFICIENT_LIQUIDITY"],
  [6002, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
  [6003, "PoolDisabled", "NO_ROUTE"],
  [6006, "AmountIsZero", "INSUFFICIENT_LIQUIDITY"],
  [6015, "PriceRangeViolation", "INSUFFICIENT_LIQUIDITY"],
  [6023, "InsufficientLiquidity", "INSUFFICIENT_LIQUIDITY"],
  [6025, "InvalidPoolStatus", "NO_ROUTE"],
  [6049, "FailToValidateSingleSwapInstruction", "NO_ROUTE"],
  [6051, null, "VENUE_DEGRADED"],
  [6052, null, "VENUE_DEGRADED"],
  [null, "InvalidPoolVersion", "VENUE_DEGRADED"],
  [null, "UndeterminedError", "VENUE_DEGRADED"],
]);
