import bs58 from "bs58";
import { publicKeyOf } from "../../src/client/signature/ed25519.ts";

const seed = new Uint8Array(32).fill(1);
const publicKey = publicKeyOf(seed);

/** A secret key of 64 bytes, as wallets export it, and the address of its wallet. */
export const CONSISTENT_KEY = bs58.encode(Uint8Array.of(...seed, ...publicKey));
export const ADDRESS_OF_KEY = bs58.encode(publicKey);
/** The same seed before the public key of another. */
export const INCONSISTENT_KEY = bs58.encode(Uint8Array.of(...seed, ...publicKeyOf(new Uint8Array(32).fill(2))));
