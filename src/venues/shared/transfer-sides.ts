import { U64_MAX } from "../../primitives/integer.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { amountBeforeFee, type TransferFee, transferFeeAt, transferFeeOn } from "../../solana/token/transfer-fee.ts";

/** The transfer fee of a mint in `epoch`; undefined if transfers are free. */
export function transferFeeOf({ transferFees }: Mint, epoch: bigint): TransferFee | undefined {
  return transferFees === undefined ? undefined : transferFeeAt(transferFees, epoch);
}

/** The amount that arrives of a transfer of `sent`. Base units. */
export function arriving(sent: bigint, fee: TransferFee | undefined): bigint {
  return sent - transferFeeOn(sent, fee);
}

/** The amount to send so that exactly `received` arrives; undefined if it exceeds 64 bits. Base units. */
export function sending(received: bigint, fee: TransferFee | undefined): bigint | undefined {
  const sent = amountBeforeFee(received, fee);
  return sent > U64_MAX ? undefined : sent;
}
