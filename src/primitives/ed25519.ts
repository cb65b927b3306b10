import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { concatBytes, hex } from "./bytes.ts";

/** DER prefix of a 32-byte Ed25519 key. @see RFC 8410 section 4 */
const SPKI_PREFIX = hex("302a300506032b6570032100");

/**
 * True if these 32 bytes can have a private key: a canonical point of the curve that is not of small order. With a small-order
 * key one constant signature fits many messages, so it proves nothing; a program's address is not on the curve.
 */
export function isWalletKey(publicKey: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(publicKey).isSmallOrder();
  } catch {
    return false;
  }
}

/**
 * True if `signature` over `message` was made by the key. Strict: OpenSSL's check, without the cofactor and with
 * canonical scalars only, and false for any key that no wallet can have.
 */
export function verifySignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  const key = keyObjectOf(publicKey);
  return key !== undefined && verify(null, message, key, signature);
}

/** Keys used lately, by their bytes: checking and importing one costs as much as the signature. Undefined: no wallet's key. */
const recentKeys = new Map<string, KeyObject | undefined>();
const MOST_KEYS = 4_096;

/** The key, imported; undefined if no wallet can have it. */
function keyObjectOf(publicKey: Uint8Array): KeyObject | undefined {
  const name = Buffer.prototype.latin1Slice.call(publicKey);
  const known = recentKeys.get(name);
  if (known !== undefined || recentKeys.has(name)) return known;
  const key = isWalletKey(publicKey)
    ? createPublicKey({ key: Buffer.from(concatBytes(SPKI_PREFIX, publicKey)), format: "der", type: "spki" })
    : undefined;
  if (recentKeys.size >= MOST_KEYS) recentKeys.delete(recentKeys.keys().next().value!);
  recentKeys.set(name, key);
  return key;
}
