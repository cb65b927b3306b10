import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { Address } from "../../src/primitives/address.ts";
import { concatBytes, hex } from "../../src/primitives/bytes.ts";

/** What stands before a 32-byte Ed25519 seed in its DER form. @see RFC 8410 section 7 */
const PKCS8_PREFIX = hex("302e020100300506032b657004220420");

export interface TestWallet {
  readonly address: Address;
  sign(message: Uint8Array | string): Uint8Array;
}

/**
 * Another valid signature of the wallet with this seed over a message, in other bytes for each nonce: wallets that draw a
 * nonce for each signature make such ones.
 */
export function signWithNonce(seed: Uint8Array, message: Uint8Array, nonce: bigint): Uint8Array {
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(seed);
  const commitment = ed25519.Point.BASE.multiply(nonce).toBytes();
  const digest = hash("sha512", concatBytes(commitment, pointBytes, message), "buffer").reverse();
  const answer = (nonce + BigInt(`0x${digest.toString("hex")}`) * scalar) % ed25519.Point.Fn.ORDER;
  return concatBytes(commitment, Buffer.from(answer.toString(16).padStart(64, "0"), "hex").reverse());
}

/** A wallet that really signs: random, or always the same for the same 32-byte seed. */
export function createTestWallet(seed?: Uint8Array): TestWallet {
  const key: KeyObject =
    seed === undefined
      ? generateKeyPairSync("ed25519").privateKey
      : createPrivateKey({ key: Buffer.from(concatBytes(PKCS8_PREFIX, seed)), format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    address: Address.from(spki, spki.length - 32),
    sign: (message) => new Uint8Array(sign(null, Buffer.from(message), key)),
  };
}
