import { Address } from "../../../../src/primitives/address.ts";
import type { Random } from "../../../../src/primitives/random.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM } from "../../../../src/solana/programs.ts";
import type { Svm } from "../../../support/svm.ts";

/** An address unlike any other run's: what derives from it takes the programs more or fewer steps to find. */
export function newKey(random: Random): Address {
  return Address.from(random.bytes(32));
}

/** A wallet at such an address. */
export function newWallet(svm: Svm, random: Random, lamports = 1_000_000_000_000n): Address {
  return svm.setAccount({ address: newKey(random), owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports });
}

/** Whether a mint of the program carries metadata: half of those that can. */
export function metadataOf(program: Address, random: Random): boolean {
  return program === TOKEN_2022_PROGRAM && random.chance(0.5);
}
