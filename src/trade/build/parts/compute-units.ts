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
  /** What a venue takes more to send the memo that the receiving account wants, of ten characters at most: 7,350, as measured. */
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
 * Instructions that are called to make an account: a token account by its program, a record of a venue, and two more for an address that
 * holds lamports already; for a system account, or one that grows, a transfer.
 */
const CALLS = { tokenAccount: 5, record: 1, funded: 2, transfer: 1 } as const;
/** What a venue's program calls to enlarge an account in an instruction of its own: a transfer and an event. */
export const GROWTH_CALLS = 2;

/** Instructions that are called to make an account of so many bytes. @param isFunded true if its address holds lamports */
export function creationCalls(space: number, isFunded: boolean): number {
  if (space === 0) return CALLS.transfer;
  return (space < TOKEN_ACCOUNT_SIZE ? CALLS.record : CALLS.tokenAccount) + (isFunded ? CALLS.funded : 0);
}
