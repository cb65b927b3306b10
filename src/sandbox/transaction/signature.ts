import { createPublicKey, verify } from "node:crypto";
import { concatBytes, hex } from "../../primitives/bytes.ts";
import type { WireTransaction } from "./wire-transaction.ts";

/** DER wrapping of a raw 32-byte Ed25519 public key. @see RFC 8410 */
const SPKI_PREFIX = hex("302a300506032b6570032100");

/** True if every required signature is present and valid for the message and its account. */
export function verifySignatures({ signatures, staticAccounts, message }: WireTransaction): boolean {
  return signatures.every((signature, index) => {
    const der = concatBytes(SPKI_PREFIX, staticAccounts[index]!.bytes);
    try {
      const key = createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
      return verify(null, message, key, signature);
    } catch {
      return false;
    }
  });
}
