import { sha256 } from "@noble/hashes/sha2.js";
import { Address } from "../primitives/address.ts";
import { concatBytes, textBytes, viewOf } from "../primitives/bytes.ts";
import { CURVE_PRIME, isSquareOnCurve } from "./curve-square.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "./programs.ts";

const MARKER = textBytes("ProgramDerivedAddress");

const HIGHEST_BUMP = Uint8Array.of(255);

/** The curve's own constant. @see RFC 8032, section 5.1 */
const D = 37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n;
const Y_MASK = (1n << 255n) - 1n;

/**
 * True if the bytes are a point of the curve, so that a key pair may exist for them: (y² − 1) / (dy² + 1) is a square.
 * Only the Legendre symbol is needed, not the root, at a fifth of the cost.
 *
 * @see curve25519-dalek 3.2, CompressedEdwardsY::decompress, which takes y modulo the prime and either sign of zero
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  let y = 0n;
  for (let at = 24; at >= 0; at -= 8) y = (y << 64n) | view.getBigUint64(at, true);
  y &= Y_MASK;
  const yy = (y * y) % CURVE_PRIME;
  const numerator = yy - 1n;
  if (numerator === 0n) return true;
  // A quotient is a square when the product is. The denominator is never zero: −1/d is no square.
  const product = (numerator * (D * yy + 1n)) % CURVE_PRIME;
  return isSquareOnCurve(product < 0n ? product + CURVE_PRIME : product);
}

/**
 * Finds the canonical derived address of `seeds` under `program`: the first bump from 255 down that is off the curve.
 * Costs tens of microseconds: use it on cold paths and keep the result.
 *
 * @see https://solana.com/docs/core/pda
 */
export function findPda(
  seeds: readonly Uint8Array[],
  program: Address,
): { readonly address: Address; readonly bump: number } {
  const hashed = concatBytes(...seeds, HIGHEST_BUMP, program.bytes, MARKER);
  const bumpAt = hashed.length - MARKER.length - program.bytes.length - 1;
  for (let bump = 255; bump >= 0; bump--) {
    hashed[bumpAt] = bump;
    const digest = sha256(hashed);
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
