import { equalBytes } from "../../primitives/bytes.ts";
import { TradeError, unsigned } from "../trade-error.ts";
import type { Wallet } from "../wallet.ts";
import { layoutOf, VERSION_1, withSignature } from "./wire-layout.ts";

/**
 * The wire transaction with the wallet's signature in its one slot; no other byte changes.
 * @throws TradeError UNEXPECTED_TRANSACTION if it requires signatures other than this wallet's, or the wallet changed it
 */
export async function signTransaction(wallet: Wallet, wire: Uint8Array): Promise<Uint8Array> {
  const { signatureAt, message } = layoutOf(wire);
  const single = wire[0] === VERSION_1 ? wire[1] === 1 : wire[0] === 1;
  if (!single || message.length === 0) {
    throw unsigned("UNEXPECTED_TRANSACTION", "The transaction requires signatures other than this wallet's");
  }
  if (wallet.signTransaction !== undefined) {
    const signed = await wallet.signTransaction(wire.slice());
    if (signed.length !== wire.length || signed[0] !== wire[0] || !equalBytes(layoutOf(signed).message, message)) {
      throw new TradeError(
        "UNEXPECTED_TRANSACTION",
        "The wallet changed the transaction that it was to sign. Nothing was sent.",
      );
    }
    return signed;
  }
  const signature = await wallet.signMessageBytes(message);
  return withSignature(wire, signature, signatureAt);
}
