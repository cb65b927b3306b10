import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const raydiumLaunchlabErrors = programErrors([
  [6000, "NotApproved", "NO_ROUTE"],
  [6003, "InputNotMatchCurveConfig", "VENUE_DEGRADED"],
  [6004, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
  [6005, "PoolFunding", "NO_ROUTE"],
  [6006, "PoolMigrated", "NO_ROUTE"],
  [6008, "MathOverflow", "INSUFFICIENT_LIQUIDITY"],
]);
