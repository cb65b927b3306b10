import { equalBytes } from "../primitives/bytes.ts";
import { TradeError } from "./trade-error.ts";
import type { Wallet } from "./wallet.ts";

const SIGNATURE_SIZE = 64;
const MESSAGE_AT = 1 + SIGNATURE_SIZE;

/**
 * The wire transaction with the wallet's signature in its one slot, and every other byte as it was.
 * @throws TradeError UNEXPECTED_TRANSACTION when it asks for other signatures than this wallet's, or when the wallet changed it
 */
export async function signTransaction(wallet: Wallet, unsigned: Uint8Array): Promise<Uint8Array> {
  if (unsigned[0] !== 1 || unsigned.length <= MESSAGE_AT) {
    throw new TradeError(
      "UNEXPECTED_TRANSACTION",
      "The service built a transaction that needs other signatures than this wallet's. Nothing was signed.",
    );
  }
  const message = unsigned.subarray(MESSAGE_AT);
  if (wallet.signTransaction !== undefined) {
    const signed = await wallet.signTransaction(unsigned.slice());
    if (signed[0] !== 1 || !equalBytes(signed.subarray(MESSAGE_AT), message)) {
      throw new TradeError(
        "UNEXPECTED_TRANSACTION",
        "The wallet changed the transaction before signing it; the service accepts only what it built. Nothing was sent.",
      );
    }
    return signed;
  }
  const signature = await wallet.signMessageBytes(message);
  if (signature.length !== SIGNATURE_SIZE) throw new TypeError("a wallet signs with 64 bytes");
  const signed = unsigned.slice();
  signed.set(signature, 1);
  return signed;
}

/** The signature of a signed wire transaction: what names it on the chain. */
export function signatureBytes(signed: Uint8Array): Uint8Array {
  return signed.subarray(1, MESSAGE_AT);
}
