import { ed25519 } from "@noble/curves/ed25519.js";
import bs58 from "bs58";
import { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/bytes.ts";

/** Somebody who can sign. The library hands it message bytes and gets back 64 bytes of Ed25519; it never sees a key. */
export interface Wallet {
  readonly publicKey: Address;
  signMessageBytes(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/**
 * A wallet of a base58 private key: the 32-byte seed, or the 64 bytes of seed and public key that wallets export. The key
 * stays in this object.
 *
 * @throws TypeError when the text is neither; it is never repeated in the message
 */
export function fromBase58(privateKey: string): Wallet {
  const bytes = bs58.decodeUnsafe(privateKey.trim());
  if (bytes === undefined || (bytes.length !== 32 && bytes.length !== 64)) {
    throw new TypeError("A private key is 32 or 64 bytes written in base58.");
  }
  const seed = bytes.slice(0, 32);
  const publicKey = ed25519.getPublicKey(seed);
  if (bytes.length === 64 && !equalBytes(bytes.subarray(32), publicKey)) {
    throw new TypeError("The public half of the private key does not belong to its first half.");
  }
  return {
    publicKey: Address.from(publicKey),
    signMessageBytes: (message) => ed25519.sign(message, seed),
  };
}
