import { getPublicKey, hashes, Point, sign } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";

// The service uses other code for the same curve: what decides whether to sign shares none of it.
hashes.sha512 = sha512;

/** The public key of a 32-byte seed. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return getPublicKey(seed);
}

/** 64 bytes of Ed25519 over a message. */
export function signMessage(message: Uint8Array, seed: Uint8Array): Uint8Array {
  return sign(message, seed);
}

/** True when the bytes are a point of the curve, so that a key pair may exist for them. */
export function isCurvePoint(bytes: Uint8Array): boolean {
  try {
    Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}
