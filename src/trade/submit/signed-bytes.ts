import { hash } from "node:crypto";
import type { SignedForm } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import { verifySignature } from "../../primitives/ed25519.ts";
import { encodeBase58 } from "../../primitives/encoding/base58.ts";
import { SIGNATURE_SIZE, wireLayout } from "../../solana/message.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";

/**
 * Checks that the bytes are the wallet's signature and exactly the message that was built, and returns the signature in
 * base58. Nothing is parsed: the build fully determines the wire format.
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
    !equalBytes(hash("sha256", message, "buffer"), sealed.messageHash)
  ) {
    throw new TradewireError(
      "MESSAGE_MISMATCH",
      "The signed transaction is not the one that was built. Sign unsignedTransaction as it is, change nothing, and send it in base64.",
      { field: "signedTransaction" },
    );
  }
  const signature = transaction.subarray(signatureAt, signatureAt + SIGNATURE_SIZE);
  if (signature.every((byte) => byte === 0)) {
    throw new TradewireError("NOT_FULLY_SIGNED", `The transaction is not signed. Sign it with ${sealed.wallet}.`, {
      field: "signedTransaction",
    });
  }
  if (!verifySignature(sealed.wallet.bytes, message, signature)) {
    throw new TradewireError(
      "INVALID_SIGNATURE",
      `The signature is not one by ${sealed.wallet} over this transaction. Sign it with that wallet.`,
      {
        field: "signedTransaction",
      },
    );
  }
  return encodeBase58(signature);
}

/** Whether a stored form is the message under this signature. A record may be damaged, or edited by somebody else. */
export function isSignedForm(
  sealed: Parameters<typeof verifySignedBytes>[0],
  { signature, transaction }: SignedForm,
): boolean {
  try {
    return verifySignedBytes(sealed, transaction) === signature;
  } catch {
    return false;
  }
}
