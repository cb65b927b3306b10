import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const meteoraDammV1Errors = programErrors([
  [6004, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
  [6006, "ZeroTradingTokens", "INSUFFICIENT_LIQUIDITY"],
  [6015, "PoolDisabled", "NO_ROUTE"],
  [6050, "PreActivationSwapStarted", "NO_ROUTE"],
  [6002, null, "VENUE_DEGRADED"],
  [6005, null, "INSUFFICIENT_LIQUIDITY"],
  // The vault's AmountMustGreaterThanZero, which it does not always name.
  [6013, null, "INSUFFICIENT_LIQUIDITY"],
  [6032, null, "VENUE_DEGRADED"],
  [6041, null, "INSUFFICIENT_LIQUIDITY"],
  [6043, null, "INSUFFICIENT_LIQUIDITY"],
  [null, "AmountMustGreaterThanZero", "INSUFFICIENT_LIQUIDITY"],
  [null, "InvalidCalculation", "INSUFFICIENT_LIQUIDITY"],
  [null, "AmountIsZero", "INSUFFICIENT_LIQUIDITY"],
  [null, "AmountIsNotEnough", "INSUFFICIENT_LIQUIDITY"],
  [null, "VaultIsDisabled", "NO_ROUTE"],
  [null, "PayAmountIsExeeced", "INSUFFICIENT_LIQUIDITY"],
  [null, "InvalidVaultLpAccount", "VENUE_DEGRADED"],
  [null, "InvalidInvariant", "VENUE_DEGRADED"],
  [null, "InvalidDepegInformation", "VENUE_DEGRADED"],
]);
