import { readU64, viewOf } from "../../primitives/bytes.ts";
import { ceilDiv, minOf } from "../../primitives/integer.ts";

const ONE_IN_BPS = 10_000n;

/** One setting of a Token-2022 transfer fee, in force from `epoch` on. */
export interface TransferFee {
  readonly epoch: bigint;
  readonly maximumFee: bigint;
  readonly bps: bigint;
}

/** The older and the newer setting of a mint; the newer applies from its epoch on. */
export interface TransferFees {
  readonly older: TransferFee;
  readonly newer: TransferFee;
}

/** Reads the value of a TransferFeeConfig extension (108 bytes). @see spl-token-2022 `extension/transfer_fee/mod.rs` */
export function decodeTransferFees(value: Uint8Array): TransferFees {
  const fee = (at: number): TransferFee => ({
    epoch: readU64(value, at),
    maximumFee: readU64(value, at + 8),
    bps: BigInt(viewOf(value).getUint16(at + 16, true)),
  });
  return { older: fee(72), newer: fee(90) };
}

/** The setting in force in `epoch`. */
export function transferFeeAt(fees: TransferFees, epoch: bigint): TransferFee {
  return epoch >= fees.newer.epoch ? fees.newer : fees.older;
}

/** What a transfer of `amount` withholds: ceil(amount × bps / 10 000), at most the maximum. No fees: 0. */
export function transferFeeOn(amount: bigint, fee: TransferFee | undefined): bigint {
  if (fee === undefined || fee.bps === 0n || amount === 0n) return 0n;
  return minOf(ceilDiv(amount * fee.bps, ONE_IN_BPS), fee.maximumFee);
}

/**
 * The least amount to send so that exactly `received` arrives, by the token program's own inverse. May exceed 64 bits.
 *
 * @see spl-token-2022 `TransferFee::calculate_pre_fee_amount`
 */
export function amountBeforeFee(received: bigint, fee: TransferFee | undefined): bigint {
  if (fee === undefined || fee.bps === 0n || received === 0n) return received;
  if (fee.bps === ONE_IN_BPS) return fee.maximumFee + received;
  const before = ceilDiv(received * ONE_IN_BPS, ONE_IN_BPS - fee.bps);
  return before - received >= fee.maximumFee ? received + fee.maximumFee : before;
}
