import { sha256 } from "@noble/hashes/sha2.js";
import { Address } from "../../primitives/address.ts";
import { concatBytes, textBytes } from "../../primitives/bytes.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "../../solana/programs.ts";
import { isCurvePoint } from "../signature/ed25519.ts";

// Written independently of the service's derivation, so that one mistake cannot be in both.

const SUFFIX = textBytes("ProgramDerivedAddress");

/** What is hashed for a derived address: the seeds, a bump to fill in, the program and a suffix. */
interface Preimage {
  readonly bytes: Uint8Array;
  readonly bumpAt: number;
}

/** The preimage of the addresses that `seeds` derive under `program`, one for each bump. */
export function preimageOf(program: Address, seeds: readonly Uint8Array[]): Preimage {
  const bytes = concatBytes(...seeds, Uint8Array.of(0), program.bytes, SUFFIX);
  return { bytes, bumpAt: bytes.length - SUFFIX.length - program.bytes.length - 1 };
}

/** The address of a preimage at `bump`, canonical or not. Fills in the bump. */
export function addressAtBump({ bytes, bumpAt }: Preimage, bump: number): Uint8Array {
  bytes[bumpAt] = bump;
  return sha256(bytes);
}

/** Derivations remembered, oldest first: whether a point lies on the curve takes a tenth of a millisecond, and trades repeat. */
const known = new Map<string, Address>();
const MOST_KNOWN = 2_000;

/** The canonical derived address: the highest bump whose hash is off the curve. @see https://solana.com/docs/core/pda */
export function derivedAddress(program: Address, seeds: readonly Uint8Array[]): Address {
  const key = [program.bytes, ...seeds].map((seed) => String.fromCharCode(seed.length, ...seed)).join("");
  const found = known.get(key) ?? deriveAddress(program, seeds);
  known.set(key, found);
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  return found;
}

function deriveAddress(program: Address, seeds: readonly Uint8Array[]): Address {
  const preimage = preimageOf(program, seeds);
  for (let bump = 255; bump >= 0; bump--) {
    const candidate = addressAtBump(preimage, bump);
    if (!isCurvePoint(candidate)) return Address.from(candidate);
  }
  throw new RangeError("no derived address for these seeds");
}

/** The associated token account of a wallet. */
export function tokenAccountAddress(owner: Address, mint: Address, tokenProgram: Address): Address {
  return derivedAddress(ASSOCIATED_TOKEN_PROGRAM, [owner.bytes, tokenProgram.bytes, mint.bytes]);
}

/** The account that `seed` makes for `base` under `owner`. @see System program, instruction CreateAccountWithSeed */
export function addressWithSeed(base: Address, seed: Uint8Array, owner: Address): Address {
  return Address.from(sha256(concatBytes(base.bytes, seed, owner.bytes)));
}
