/**
 * Runs a slow suite on the token and memo programs that mainnet runs, where copies are present: LiteSVM bundles others. Its memo program
 * is the one of another address and takes a twentieth of the units; its SPL Token program is a later build.
 */
import { existsSync, readFileSync } from "node:fs";
import type { Address } from "../../src/primitives/address.ts";
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { Svm } from "../support/svm.ts";

const COPIES: readonly (readonly [Address, string])[] = [
  [TOKEN_PROGRAM, ".venues/spl_token.so"],
  [TOKEN_2022_PROGRAM, ".venues/spl_token_2022.so"],
  [MEMO_PROGRAM, ".venues/spl_memo.so"],
];

for (const [program, file] of COPIES) {
  if (existsSync(file)) Svm.instead.set(program, readFileSync(file));
  else console.log(`${file} is absent: what runs in its place is LiteSVM's own copy`);
}
