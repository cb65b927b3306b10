import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { Address } from "../primitives/address.ts";
import { concatBytes, textBytes } from "../primitives/bytes.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "./programs.ts";

const MARKER = textBytes("ProgramDerivedAddress");

/** True when the bytes are a point of the curve, so that a key pair may exist for them. */
export function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Searches the canonical derived address of `seeds` under `program`: the first bump from 255 down that is off the curve.
 * Costs tens of microseconds: for cold paths; keep the result.
 *
 * @see https://solana.com/docs/core/pda
 */
export function findPda(
  seeds: readonly Uint8Array[],
  program: Address,
): { readonly address: Address; readonly bump: number } {
  for (let bump = 255; bump >= 0; bump--) {
    const digest = sha256(concatBytes(...seeds, Uint8Array.of(bump), program.bytes, MARKER));
    if (!isOnCurve(digest)) return { address: Address.from(digest), bump };
  }
  throw new RangeError("no derived address for these seeds");
}

/** `findPda` without the bump. Text seeds are UTF-8. */
export function derive(program: Address, ...seeds: readonly (string | Uint8Array | Address)[]): Address {
  const bytes = seeds.map((seed) =>
    typeof seed === "string" ? textBytes(seed) : seed instanceof Address ? seed.bytes : seed,
  );
  return findPda(bytes, program).address;
}

/** The associated token account of `owner` for `mint` under its token program. Cold path: keep the result. */
export function associatedTokenAddress(owner: Address, mint: Address, tokenProgram: Address): Address {
  return derive(ASSOCIATED_TOKEN_PROGRAM, owner, tokenProgram, mint);
}
