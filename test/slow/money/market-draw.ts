import type { Address } from "../../../src/primitives/address.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { decodeMint } from "../../../src/solana/token/mint.ts";
import type { VenueId } from "../../../src/venues/venue.ts";
import type { Svm } from "../../support/svm.ts";

/** A market of a world. */
export interface Place {
  readonly venue: VenueId;
  readonly address: Address;
  readonly mints: readonly [Address, Address];
}

/** Draws of a world. */
export interface Drawing extends Random {
  /** The most that a side of each market holds, if they are about as deep. Base units. */
  readonly depth?: bigint;
}

/** What a market is drawn from. */
export interface Draw {
  readonly svm: Svm;
  readonly random: Drawing;
  readonly mints: readonly [Address, Address];
  /** Number of the market in its world. */
  readonly index: number;
  /** Creates the market or earns from it, and trades on it too. */
  readonly insider: Address;
}

/** Undefined if the venue has no market of these mints. @throws Error if the program refuses what was drawn */
export type Maker = (draw: Draw) => Place | undefined;

const HELD = 1n << 62n;
export const ONE = 1n << 64n;
/** Base units of one side of a market: at times hardly any, or nearly as many as there can be; alike in a world of markets that share trades. */
export function depth(random: Drawing): bigint {
  if (random.depth !== undefined) return random.depth / random.between(1n, 4n);
  if (random.chance(0.9)) return 10n ** (4n + random.below(10n)) * random.between(1n, 9n);
  return random.chance(0.5) ? random.between(1n, 9_999n) : random.between(1n << 47n, 1n << 61n);
}

export const isToken2022 = (svm: Svm, mint: Address): boolean => svm.get(mint)!.owner === TOKEN_2022_PROGRAM;
export const hasTransferFee = (svm: Svm, mint: Address): boolean =>
  decodeMint(svm.get(mint)!).transferFees !== undefined;
export const tokenOf = (mints: readonly [Address, Address]): Address | undefined =>
  mints[0] === SOL_MINT ? mints[1] : mints[1] === SOL_MINT ? mints[0] : undefined;

/** Gives an insider tokens to put into a market. */
export function provided({ svm, insider, mints }: Draw): Address {
  for (const mint of mints) svm.setTokens(insider, mint, HELD);
  return insider;
}
