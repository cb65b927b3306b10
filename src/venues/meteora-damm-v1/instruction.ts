import type { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { DESTINATION, ownAccounts, SOURCE, WALLET } from "../swap-pattern.ts";
import type { SwapTerms } from "../venue.ts";
import { DAMM_V1_PROGRAM, type DammV1Market, VAULT_PROGRAM } from "./layout.ts";

/** The accounts of a swap that depend only on the pool. The same object while they are the same. */
export interface DammV1Accounts {
  readonly market: DammV1Market;
  /** What the vaults name: their tokens and their share mints, each A then B. */
  readonly vaultParts: readonly [Address, Address, Address, Address];
}

/** Its variants are the indices of the token that goes in. */
const SWAP = new InstructionPattern<DammV1Accounts>({
  program: DAMM_V1_PROGRAM,
  rights: "w ww ww wwww ww w R rr r",
  accounts: ({ market, vaultParts }, from) => [
    market.address,
    SOURCE,
    DESTINATION,
    market.vaults[0],
    market.vaults[1],
    ...vaultParts,
    market.shares[0],
    market.shares[1],
    market.protocolFees[from]!,
    WALLET,
    VAULT_PROGRAM,
    TOKEN_PROGRAM,
    ...(market.stake === undefined ? [] : [market.stake]),
  ],
  data: () => hex("f8c69e91e17587c8".padEnd(48, "0")),
  amountsAt: 8,
  amounts: 2,
});

/**
 * The swap instruction: `input` goes in, at least `minimum` comes out.
 *
 * @param from index of the token that goes in: its protocol fee account is named
 * @see @meteora-ag/dynamic-amm-sdk 1.4.1 IDL, instruction swap
 */
export function dammV1Swap(accounts: DammV1Accounts, from: 0 | 1, input: bigint, minimum: bigint, terms: SwapTerms) {
  return new FilledInstruction(SWAP, accounts, from, ownAccounts(terms), input, minimum);
}
