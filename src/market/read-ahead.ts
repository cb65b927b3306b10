import type { Address } from "../primitives/address.ts";
import { knownTokenAccount } from "../solana/derived-address.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { MintPair } from "../venues/venue.ts";
import type { SingleAccounts } from "./single-accounts.ts";
import type { WatchedPairs } from "./watched-pairs.ts";

/**
 * Reads what the build of a trade is about to read of its mint, pair and wallet. Much of that is in no cache of the processor,
 * and a build waits for each piece in turn. Reads within a few hundred instructions of each other overlap, hence nothing is done
 * here but to read. What is not in memory is left out.
 */
export class ReadAhead {
  readonly #singles: SingleAccounts;
  readonly #pairs: WatchedPairs;
  /** Of the numbers read: the engine leaves out reads that lead to nothing. */
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
