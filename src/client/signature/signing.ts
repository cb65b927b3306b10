import { equalBytes } from "../../primitives/bytes.ts";
import { TradeError } from "../trade-error.ts";
import type { Wallet } from "../wallet.ts";
import { layoutOf, VERSION_1, withSignature } from "./wire-layout.ts";

/**
 * The wire transaction with the wallet's signature in its one slot; no other byte changes.
 * @throws TradeError UNEXPECTED_TRANSACTION if it requires signatures other than this wallet's, or the wallet changed it
 */
export async function signTransaction(wallet: Wallet, unsigned: Uint8Array): Promise<Uint8Array> {
  const { signatureAt, message } = layoutOf(unsigned);
  const single = unsigned[0] === VERSION_1 ? unsigned[1] === 1 : unsigned[0] === 1;
  if (!single || message.length === 0) {
    throw new TradeError(
      "UNEXPECTED_TRANSACTION",
      "The transaction requires signatures other than this wallet's. Nothing was signed.",
    );
  }
  if (wallet.signTransaction !== undefined) {
    const signed = await wallet.signTransaction(unsigned.slice());
    if (
      signed.length !== unsigned.length ||
      signed[0] !== unsigned[0] ||
      !equalBytes(layoutOf(signed).message, message)
    ) {
      throw new TradeError(
        "UNEXPECTED_TRANSACTION",
        "The wallet changed the transaction before signing it; the service accepts only what it built. Nothing was sent.",
      );
    }
    return signed;
  }
  const signature = await wallet.signMessageBytes(message);
  return withSignature(unsigned, signature, signatureAt);
}
