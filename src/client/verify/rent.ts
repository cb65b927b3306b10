const OVERHEAD = 128n;
/** What a token account without extensions pays rent for. Bytes. */
const TOKEN_ACCOUNT_BYTES = 165n + OVERHEAD;
/** Rent is charged per byte of data plus an overhead, at a price that the network lowers within these bounds. Lamports. */
const LEAST_PER_BYTE = 696n;
const MOST_PER_BYTE = 6_960n;
/** What the network takes for a token account without extensions at least, and at most. Lamports. */
export const LEAST_TOKEN_ACCOUNT_RENT: bigint = TOKEN_ACCOUNT_BYTES * LEAST_PER_BYTE;
export const MOST_TOKEN_ACCOUNT_RENT: bigint = TOKEN_ACCOUNT_BYTES * MOST_PER_BYTE;
/** Mints between the markets of one trade, at most: SOL, USDC and two more, or four that the operator names. */
const MOST_MIDDLES = 4n;
/** The cap on the rent of the accounts for mints between markets, if the caller sets none. Lamports. */
export const DEFAULT_MIDDLE_RENT: bigint = MOST_MIDDLES * MOST_TOKEN_ACCOUNT_RENT;
/** More than any account that a trade creates has: Token-2022 accounts with extensions, venues' records. Bytes. */
const MOST_SIZE = 256n;

/** Accounts that a swap on these venues may create at the wallet's expense: its records and fee accounts. */
const VENUE_ACCOUNTS: ReadonlyMap<string, number> = new Map([
  ["pump_fun", 4],
  ["pump_swap", 3],
  ["raydium_launchlab", 2],
]);

/** True if a token account may hold this many lamports as rent. */
export function isTokenAccountRent(lamports: bigint): boolean {
  const isWhole = lamports % TOKEN_ACCOUNT_BYTES === 0n;
  return isWhole && lamports >= LEAST_TOKEN_ACCOUNT_RENT && lamports <= MOST_TOKEN_ACCOUNT_RENT;
}

/**
 * The most rent a trade pays for good: for the token accounts it creates, and for those that its venues may. The least is none:
 * lamports that anybody has sent to an account's address pay for it. Lamports.
 */
export function mostRent(tokenAccounts: number, venues: readonly string[]): bigint {
  const others = venues.reduce((sum, venue) => sum + (VENUE_ACCOUNTS.get(venue) ?? 0), 0);
  return BigInt(tokenAccounts + others) * (MOST_SIZE + OVERHEAD) * MOST_PER_BYTE;
}
