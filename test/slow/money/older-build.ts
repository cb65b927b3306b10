import type { Address } from "../../../src/primitives/address.ts";
import { decodeMint } from "../../../src/solana/token/mint.ts";
import { CLMM_PROGRAM } from "../../../src/venues/raydium-clmm/layout.ts";
import type { Svm } from "../../support/svm.ts";

/**
 * True of a failure that a later build of the program would not have: raydium_clmm's one public build takes no exact output of a token
 * with a transfer fee, and no input that the token's inverse fee does not give.
 */
export function isOfOlderBuild(svm: Svm, mints: readonly Address[], fault: string): boolean {
  const isTaxed = mints.some((mint) => decodeMint(svm.get(mint)!).transferFees !== undefined);
  return isTaxed && fault.includes(`Program ${CLMM_PROGRAM} failed: custom program error: 0x9c5`);
}
