import { U64_MAX } from "../../../primitives/integer.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Mint } from "../../../solana/token/mint.ts";
import { transferFeeAt, transferFeeOn } from "../../../solana/token/transfer-fee.ts";
import type { Intent } from "../../intent.ts";

/**
 * True if the transfer fee of one of a trade's mints reaches its maximum at an amount that an account can hold: a large part of the trade
 * may then pay a smaller share than a small one, so that prices do not only fall with size.
 */
export function hasCappedFee({ inMint, outMint }: Pick<Intent, "inMint" | "outMint">, { epoch }: ChainClock): boolean {
  return isCapped(inMint, epoch) || isCapped(outMint, epoch);
}

function isCapped({ transferFees }: Mint, epoch: bigint): boolean {
  if (transferFees === undefined) return false;
  const fee = transferFeeAt(transferFees, epoch);
  return fee.bps > 0n && transferFeeOn(U64_MAX, fee) === fee.maximumFee;
}
