import type { Address } from "../../../../src/primitives/address.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../../../src/solana/programs.ts";
import type { Svm } from "../../../support/svm.ts";

/** Makes a mint of a kind, or names the one there is. */
export type MintMaker = (svm: Svm) => Address;

export const sol: MintMaker = () => SOL_MINT;

export const spl =
  (decimals: number): MintMaker =>
  (svm) =>
    svm.newMint({ decimals });

export const plain2022: MintMaker = (svm) => svm.newMint({ decimals: 6, program: TOKEN_2022_PROGRAM });

/** A Token-2022 mint that takes a share of each transfer. @param maximum base units */
export const taxed =
  (bps: number, maximum: bigint): MintMaker =>
  (svm) =>
    svm.newMint({ decimals: 9, program: TOKEN_2022_PROGRAM, transferFee: { bps, maximum } });
