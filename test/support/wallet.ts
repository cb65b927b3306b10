import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { Address } from "../../src/primitives/address.ts";
import { concatBytes, hex } from "../../src/primitives/bytes.ts";

/** What stands before a 32-byte Ed25519 seed in its DER form. @see RFC 8410 section 7 */
const PKCS8_PREFIX = hex("302e020100300506032b657004220420");

export interface TestWallet {
  readonly address: Address;
  sign(message: Uint8Array | string): Uint8Array;
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
