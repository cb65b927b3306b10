import { amountBeforeFee, type TransferFee, transferFeeOn } from "../solana/transfer-fee.ts";

/**
 * The amount to send so that exactly `received` arrives, for programs that refuse a trade where the token's own inverse
 * and forward fee disagree (which happens around the maximum fee only).
 *
 * @returns undefined where they disagree, or when no amount delivers it
 */
export function exactBeforeFee(received: bigint, fee: TransferFee | undefined): bigint | undefined {
  const sent = amountBeforeFee(received, fee);
  return sent !== undefined && sent - transferFeeOn(sent, fee) === received ? sent : undefined;
}
