import { U64_MAX } from "../../primitives/integer.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { amountBeforeFee, type TransferFee, transferFeeAt, transferFeeOn } from "../../solana/token/transfer-fee.ts";

/** The transfer fee of a mint in `epoch`; undefined if transfers are free. */
export function transferFeeOf({ transferFees }: Mint, epoch: bigint): TransferFee | undefined {
  return transferFees === undefined ? undefined : transferFeeAt(transferFees, epoch);
}

/** True if transfers of the mint cost something in `epoch` or in the next, which may begin before a trade lands. */
export function mayBeTaxed({ transferFees }: Mint, epoch: bigint): boolean {
  if (transferFees === undefined) return false;
  return transferFeeAt(transferFees, epoch).bps > 0n || transferFeeAt(transferFees, epoch + 1n).bps > 0n;
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
