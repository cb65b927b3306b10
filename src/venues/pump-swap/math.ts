import { ceilDiv } from "../../primitives/integer.ts";
import { type PumpSide, type PumpTrade, pumpFeesOn } from "../curves/pump.ts";
import { pumpFee } from "../shared/pump-fees.ts";

/**
 * Quote that `buy` charges for `tokens`: the curve's cost and every fee on it, all rounded up.
 *
 * @returns undefined if the pool does not hold more than that
 * @see pump-swap-sdk `sdk/buy.ts`, buyBaseInput
 */
export function buyFromPool(tokens: bigint, side: PumpSide): PumpTrade | undefined {
  if (tokens >= side.tokens) return undefined;
  const net = ceilDiv(tokens * side.quote, side.tokens - tokens);
  return { tokens, net, feeBase: net, quote: net + pumpFeesOn(net, side.fees) };
}

/** Quote that a sale takes out of the pool's vault: all but the fee that stays with the liquidity. */
export function paidByVault({ net, feeBase }: PumpTrade, { fees }: PumpSide): bigint {
  return net - pumpFee(feeBase, fees.lp);
}

/** Quote that a buy adds to the pool's vault: what moves the curve, and the fee that stays with the liquidity. */
export function heldByVault({ net, feeBase }: PumpTrade, { fees }: PumpSide): bigint {
  return net + pumpFee(feeBase, fees.lp);
}
