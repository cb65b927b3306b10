import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const pumpSwapErrors = programErrors([
  // Only met if an inverse sale's bound leaves nothing to sell.
  [6001, "ZeroBaseAmount", "SLIPPAGE_EXCEEDED"],
  [6003, "TooLittlePoolTokenLiquidity", "INSUFFICIENT_LIQUIDITY"],
  [6004, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
  [6013, "InvalidProtocolFeeRecipient", "VENUE_DEGRADED"],
  [6016, "BuyMoreBaseAmountThanPoolReserves", "INSUFFICIENT_LIQUIDITY"],
  [6020, "DisabledBuy", "NO_ROUTE"],
  [6021, "DisabledSell", "NO_ROUTE"],
  // A sale whose fees take more than it gives at the price of the landing.
  [6023, "Overflow", "SLIPPAGE_EXCEEDED"],
  [6039, "BuyNotEnoughQuoteTokensToCoverFees", "INSUFFICIENT_TOKEN_BALANCE"],
  [6040, "BuySlippageBelowMinBaseAmountOut", "SLIPPAGE_EXCEEDED"],
  [6053, "BuybackFeeRecipientNotAuthorized", "VENUE_DEGRADED"],
  [6058, "BuybackFeeRecipientMissing", "VENUE_DEGRADED"],
  [6059, "MissingCashbackAccounts", "VENUE_DEGRADED"],
  [6060, "InvalidCashbackAccumulator", "VENUE_DEGRADED"],
  [6061, "InvalidCashbackAccumulatorAta", "VENUE_DEGRADED"],
  [6062, "InvalidPoolV2", "VENUE_DEGRADED"],
  [6063, "InsufficientRealQuoteReserves", "INSUFFICIENT_LIQUIDITY"],
]);
