import { TOKEN_2022_PROGRAM } from "../../../solana/programs.ts";
import type { Mint } from "../../../solana/token/mint.ts";
import { TOKEN_ACCOUNT_SIZE } from "../../../solana/token/token-account.ts";

/**
 * Compute units of each fixed piece, measured on the programs that run on mainnet since p-token.
 * The associated-token program searches for the bump: one step per value below 255; an address that holds lamports already
 * takes two calls more, and Token-2022 scans the mint's extensions.
 */
export const UNITS = {
  computeBudget: 150,
  transfer: 150,
  openWrappedSol: 150 + 250,
  closeWrappedSol: 130,
  fillWrappedSol: 150 + 210,
  guardTotal: 170,
  /** Additional units of a venue that sends the memo that the receiving account requires, of ten characters at most: 7,350, measured. */
  memo: 7_500,
  closeEmptied: { base: 130, token2022: 1_750 },
  createTokenAccount: { base: 13_600, token2022: 17_500, perExtension: 430, perBump: 1_500, funded: 3_200 },
} as const;

/** Compute units of opening an associated token account whose address has this bump. */
export function createAccountUnits({ program, extensions }: Mint, bump: number): number {
  const { base, token2022, perExtension, perBump } = UNITS.createTokenAccount;
  return (program === TOKEN_2022_PROGRAM ? token2022 + perExtension * extensions : base) + perBump * (255 - bump);
}

/**
 * Inner instructions that create an account: of a token account, of a venue's record, and two more if the address holds lamports already.
 * For a system account, or one that grows: one transfer.
 */
const CALLS = { tokenAccount: 5, record: 1, funded: 2, transfer: 1 } as const;
/** Inner instructions of a venue's own instruction that enlarges an account: a transfer and an event. */
export const GROWTH_CALLS = 2;

/** Inner instructions that create an account of this many bytes. @param isFunded true if its address holds lamports */
export function creationCalls(space: number, isFunded: boolean): number {
  if (space === 0) return CALLS.transfer;
  return (space < TOKEN_ACCOUNT_SIZE ? CALLS.record : CALLS.tokenAccount) + (isFunded ? CALLS.funded : 0);
}
