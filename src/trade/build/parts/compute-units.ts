/**
 * Compute units of each fixed piece, measured on the programs that run on mainnet since p-token.
 * The associated-token program searches for the bump: one step per value below 255; an address that holds lamports already
 * takes two calls more.
 */
export const UNITS = {
  computeBudget: 150,
  transfer: 150,
  openWrappedSol: 150 + 250,
  closeWrappedSol: 130,
  fillWrappedSol: 150 + 210,
  guardTotal: 170,
  closeEmptied: { base: 130, token2022: 1_750 },
  createTokenAccount: { base: 13_600, token2022: 19_000, perBump: 1_500, funded: 3_200 },
} as const;
