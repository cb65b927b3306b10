import type { Address } from "../primitives/address.ts";
import { knownTokenAccount } from "../solana/derived-address.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { MintPair } from "../venues/venue.ts";
import type { SingleAccounts } from "./single-accounts.ts";
import type { WatchedPairs } from "./watched-pairs.ts";

/**
 * Touches the memory of the mint, pair and wallet that the build of a trade is about to read. Much of it is in no processor cache, and a
 * build would wait for each piece in turn; reads within a few hundred instructions overlap, so this function only reads. Data that is not
 * in memory is left out.
 */
export class ReadAhead {
  readonly #singles: SingleAccounts;
  readonly #pairs: WatchedPairs;
  /** Sum of the numbers read: the engine would optimize away unused reads. */
  sum = 0;

  constructor(singles: SingleAccounts, pairs: WatchedPairs) {
    this.#singles = singles;
    this.#pairs = pairs;
  }

  /** For a trade with SOL, as most are; nothing for others. */
  read({ a, b }: MintPair, wallet: Address): void {
    if (a !== SOL_MINT && b !== SOL_MINT) return;
    const mint = a === SOL_MINT ? b : a;
    const token = knownTokenAccount(wallet, mint);
    const singles = this.#singles;
    const own = singles.readAhead(wallet) + (token === undefined ? 0 : singles.readAhead(token));
    this.sum = own + singles.readAhead(mint) + (this.#pairs.withSol(mint)?.readAhead() ?? 0);
  }
}
