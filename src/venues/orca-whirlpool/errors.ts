import { programErrors } from "../shared/program-errors.ts";

/** Public codes of the program's errors, by the numbers and names of its IDL. */
export const orcaWhirlpoolErrors = programErrors([
  // The price left the arrays the transaction names.
  [6023, "InvalidTickArraySequence", "SLIPPAGE_EXCEEDED"],
  [6035, "ZeroTradableAmount", "INSUFFICIENT_LIQUIDITY"],
  [6036, "AmountOutBelowMinimum", "SLIPPAGE_EXCEEDED"],
  [6037, "AmountInAboveMaximum", "SLIPPAGE_EXCEEDED"],
  [6038, "TickArraySequenceInvalidIndex", "INSUFFICIENT_LIQUIDITY"],
  [6057, "PartialFillError", "INSUFFICIENT_LIQUIDITY"],
  [6064, "TradeIsNotEnabled", "NO_ROUTE"],
  [6069, null, "SLIPPAGE_EXCEEDED"],
]);
