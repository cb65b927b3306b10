import type { Address } from "../primitives/address.ts";
import { knownTokenAccount } from "../solana/derived-address.ts";
import { messageForm, messageTemplates } from "../solana/message/message-template.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { MintPair } from "../venues/venue.ts";
import type { SeenSingle, SingleAccounts } from "./single-accounts.ts";
import { AnsweredMarket } from "./watch/answered-market.ts";
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

  /** For a trade with SOL, as most are; nothing for others. @param pair what is paid, then what is bought */
  read({ a, b }: MintPair, wallet: Address): void {
    if (a !== SOL_MINT && b !== SOL_MINT) return;
    const mint = a === SOL_MINT ? b : a;
    const singles = this.#singles;
    // An object leads to the next. The first ones of all come before the second of any, and the longest way begins first.
    const pair = this.#pairs.withSol(mint);
    const token = knownTokenAccount(wallet, mint);
    const payer = singles.seen(wallet);
    const market = pair?.onlyMarket;
    const traded = singles.seen(mint);
    const wrapped = knownTokenAccount(wallet, SOL_MINT);
    const held = token === undefined ? undefined : singles.seen(token);
    const kind = market?.market.address;
    const form = messageForm(b === SOL_MINT, a === SOL_MINT && held?.account === null);
    const template = kind === undefined ? undefined : messageTemplates.first(kind, form);
    const purse = wrapped === undefined ? undefined : singles.seen(wrapped);
    const decoded = market instanceof AnsweredMarket && market.isDecoded ? 1 : 0;
    const accounts = touched(payer) + touched(held) + touched(traded) + touched(purse);
    const addresses = wallet.first + mint.first + (token?.first ?? 0) + (wrapped?.first ?? 0) + (kind?.first ?? 0);
    this.sum = accounts + addresses + decoded + (pair?.hubs?.untilMs ?? 0) + (template?.readAhead() ?? 0);
  }
}

/** Touches what a build reads of an account or a mint. @returns a number that depends on all of it */
function touched(single: SeenSingle | undefined): number {
  if (single === undefined) return 0;
  const { account, mint } = single;
  if (mint !== null) return mint.unsupported === undefined ? mint.decimals : 0;
  return account == null ? 0 : account.data.length + (account.lamports > 0n ? 1 : 0);
}
