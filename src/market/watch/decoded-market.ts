import type { Account } from "../../solana/account.ts";
import { hasSameParts } from "../../solana/account-content.ts";
import type { Market, MintPair, Venue } from "../../venues/venue.ts";
import type { FoundMarket } from "../search/discovery.ts";

/** The market in an account as it changes: decoded again only if the bytes that name its accounts do. */
export class DecodedMarket {
  readonly #venue: Venue;
  /** Its mints. */
  readonly pair: MintPair;
  #market: Market | undefined;
  #from: Account;

  constructor({ venue, market, account }: FoundMarket) {
    const [a, b] = market.mints;
    this.#venue = venue;
    this.pair = { a, b };
    this.#market = market;
    this.#from = account;
  }

  /** Undefined if the account is no market any more. */
  of(own: Account): Market | undefined {
    if (own === this.#from) return this.#market;
    const { decoded } = this.#venue;
    const isSame = this.#market !== undefined && decoded !== undefined && hasSameParts(own, this.#from, decoded);
    if (!isSame) this.#market = this.#venue.decode(own, this.pair);
    this.#from = own;
    return this.#market;
  }
}
