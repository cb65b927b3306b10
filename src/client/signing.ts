import { SIGNATURE_SIZE } from "../solana/message.ts";
import { TradeError } from "./trade-error.ts";
import type { Wallet } from "./wallet.ts";

/**
 * The wire transaction with the wallet's signature in its one slot.
 * @throws TradeError UNEXPECTED_TRANSACTION when it asks for more than this wallet's signature
 */
export async function signTransaction(wallet: Wallet, unsigned: Uint8Array): Promise<Uint8Array> {
  const start = 1 + SIGNATURE_SIZE;
  if (unsigned[0] !== 1 || unsigned.length <= start) {
    throw new TradeError(
      "UNEXPECTED_TRANSACTION",
      "The service built a transaction that needs other signatures than this wallet's.",
    );
  }
  const signature = await wallet.signMessageBytes(unsigned.subarray(start));
  if (signature.length !== SIGNATURE_SIZE) throw new TypeError("a wallet signs with 64 bytes");
  const signed = unsigned.slice();
  signed.set(signature, 1);
  return signed;
}
