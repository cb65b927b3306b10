import { createHash } from "node:crypto";
import bs58 from "bs58";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import { verifySignature } from "../../primitives/ed25519.ts";
import { SIGNATURE_SIZE, wireLayout } from "../../solana/message.ts";
import type { SealedTrade } from "../build/sealed-trade.ts";

/**
 * Checks that the bytes are the signature of the wallet followed by exactly the message that was built, and returns the
 * signature in base58. Nothing is parsed: what the wire must be is fully determined by the build.
 *
 * @throws TradewireError MESSAGE_MISMATCH, NOT_FULLY_SIGNED, INVALID_SIGNATURE
 */
export function verifySignedBytes(
  sealed: Pick<SealedTrade, "wallet" | "messageHash" | "messageLength">,
  transaction: Uint8Array,
): string {
  const { message, signatureAt } = wireLayout(transaction);
  if (
    message.length !== sealed.messageLength ||
    (signatureAt === 1 && transaction[0] !== 1) ||
    !equalBytes(createHash("sha256").update(message).digest(), sealed.messageHash)
  ) {
    throw new TradewireError(
      "MESSAGE_MISMATCH",
      "The signed transaction is not the one that was built: sign unsignedTransaction as it is and change nothing else.",
      { field: "signedTransaction" },
    );
  }
  const signature = transaction.subarray(signatureAt, signatureAt + SIGNATURE_SIZE);
  if (signature.every((byte) => byte === 0)) {
    throw new TradewireError("NOT_FULLY_SIGNED", `The transaction is not signed: ${sealed.wallet} has to sign it.`, {
      field: "signedTransaction",
    });
  }
  if (!verifySignature(sealed.wallet.bytes, message, signature)) {
    throw new TradewireError(
      "INVALID_SIGNATURE",
      `The signature is not one of ${sealed.wallet} over this transaction.`,
      {
        field: "signedTransaction",
      },
    );
  }
  return bs58.encode(signature);
}
