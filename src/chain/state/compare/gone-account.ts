import type { Account } from "../../../solana/account.ts";

/** What one instruction can add to an account. Bytes. @see agave MAX_PERMITTED_DATA_INCREASE */
const MAX_GROWTH = 10_240;

/**
 * True if an account that was known is said to be gone, or to have become another: closed, another program's, cut short, or grown beyond
 * what an instruction can do. For a market's account this is rare, and leaves the market without a price, so one node's word is not enough.
 */
export function isGone(known: Account | null | undefined, said: Account | null): boolean {
  if (known === null || known === undefined) return false;
  if (said === null || said.owner !== known.owner) return true;
  return said.data.length < known.data.length || said.data.length > known.data.length + MAX_GROWTH;
}
