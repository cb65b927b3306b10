import { getPublicKey, hashes, Point, sign } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";

// The service uses another implementation of the same curve, so that the verifier shares no code with it.
hashes.sha512 = sha512;

/** The public key of a 32-byte seed. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return getPublicKey(seed);
}

/** The 64-byte Ed25519 signature of a message. */
export function signMessage(message: Uint8Array, seed: Uint8Array): Uint8Array {
  return sign(message, seed);
}

/** True if the bytes are a point of the curve, so that a key pair may exist for them. */
export function isCurvePoint(bytes: Uint8Array): boolean {
  try {
    Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}
