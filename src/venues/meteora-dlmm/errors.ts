import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const meteoraDlmmErrors = programErrors([
  // Anchor's own: the price went past every bin array the transaction names.
  [3005, "AccountNotEnoughKeys", "SLIPPAGE_EXCEEDED"],
  [6003, "ExceededAmountSlippageTolerance", "SLIPPAGE_EXCEEDED"],
  [6004, "ExceededBinSlippageTolerance", "SLIPPAGE_EXCEEDED"],
  [6007, "ZeroLiquidity", "INSUFFICIENT_LIQUIDITY"],
  [6009, "BinArrayNotFound", "INSUFFICIENT_LIQUIDITY"],
  [6012, "PairInsufficientLiquidity", "INSUFFICIENT_LIQUIDITY"],
  // A bin holds more than 64 bits of input can buy.
  [6019, "TypeCastFailed", "INSUFFICIENT_LIQUIDITY"],
  [6027, "InvalidBinArray", "VENUE_DEGRADED"],
  [6028, "NonContinuousBinArrays", "VENUE_DEGRADED"],
  // It looks for more liquidity than all arrays of the pair hold.
  [6036, "BitmapExtensionAccountIsNotProvided", "INSUFFICIENT_LIQUIDITY"],
  [6037, "CannotFindNonZeroLiquidityBinArrayId", "INSUFFICIENT_LIQUIDITY"],
  [6039, "InsufficientOutAmount", "SLIPPAGE_EXCEEDED"],
  [6042, "PoolDisabled", "NO_ROUTE"],
  [6066, "InvalidStatus", "NO_ROUTE"],
  // The builds of March 2026 round an exact output across limit orders one unit short: a moved price may end the trade there.
  [6085, "UndeterminedError", "INSUFFICIENT_LIQUIDITY"],
  [6104, "InsufficientInAmount", "SLIPPAGE_EXCEEDED"],
  [6031, null, "NO_ROUTE"],
  [6038, null, "INSUFFICIENT_LIQUIDITY"],
  [6048, null, "NO_ROUTE"],
  // What was signed no longer buys the amount at the fee of the landing.
  [6057, null, "SLIPPAGE_EXCEEDED"],
  [null, "NotExactAmountOut", "SLIPPAGE_EXCEEDED"],
  [null, "BinIdOutOfBound", "INSUFFICIENT_LIQUIDITY"],
  [null, "UnauthorizedAccess", "NO_ROUTE"],
  [null, "UnauthorizedAddress", "NO_ROUTE"],
]);
