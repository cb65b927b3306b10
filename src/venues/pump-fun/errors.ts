import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const pumpFunErrors = programErrors([
  [6002, "TooMuchSolRequired", "SLIPPAGE_EXCEEDED"],
  [6003, "TooLittleSolReceived", "SLIPPAGE_EXCEEDED"],
  [6005, "BondingCurveComplete", "NO_ROUTE"],
  [6021, "NotEnoughTokensToBuy", "INSUFFICIENT_LIQUIDITY"],
  // Only met if an inverse sale's bound leaves nothing to sell.
  [6022, "SellZeroAmount", "SLIPPAGE_EXCEEDED"],
  [6023, "NotEnoughTokensToSell", "INSUFFICIENT_TOKEN_BALANCE"],
  // At the price of the landing a sale takes more than the curve holds, or its fees take more than it gives.
  [6024, "Overflow", "INSUFFICIENT_LIQUIDITY"],
  [6040, "BuyNotEnoughSolToCoverRent", "INSUFFICIENT_SOL"],
  [6041, "BuyNotEnoughSolToCoverFees", "INSUFFICIENT_SOL"],
  [6042, "BuySlippageBelowMinTokensOut", "SLIPPAGE_EXCEEDED"],
  [6057, "BuybackFeeRecipientNotAuthorized", "VENUE_DEGRADED"],
  [6062, "BuybackFeeRecipientMissing", "VENUE_DEGRADED"],
  [6063, "UnsupportedQuoteMint", "VENUE_DEGRADED"],
  [6072, "MissingCashbackAccounts", "VENUE_DEGRADED"],
  [6073, "InvalidCashbackAccumulator", "VENUE_DEGRADED"],
  [6074, "InvalidBondingCurveV2", "VENUE_DEGRADED"],
  [6075, "InvalidQuoteControl", "VENUE_DEGRADED"],
  [6076, "InvalidCashbackRecipient", "VENUE_DEGRADED"],
  [6081, "BondingCurveAlreadyMigrated", "NO_ROUTE"],
  [6096, "FeeTiersEmpty", "VENUE_DEGRADED"],
]);
