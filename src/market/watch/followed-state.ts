import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { hasSameParts } from "../../solana/account-content.ts";
import type { SpotBound } from "../../venues/spot-bound.ts";
import type { Market, Venue } from "../../venues/venue.ts";
import type { HeldAccount } from "../live-accounts.ts";
import type { HeldAccounts } from "./held-accounts.ts";

/** A state that was read, from which changes of the market's accounts are followed without another read. */
export class FollowedState {
  readonly market: Market;
  readonly #venue: Venue;
  readonly #state: unknown;
  /** The accounts that the state was read from. */
  readonly #own: Account;
  /** The accounts from which bounds are computed, the market's own first. */
  readonly #reads: readonly (HeldAccount | undefined)[];
  /** Accounts whose changes need another read. */
  readonly #fixed: readonly Address[];

  private constructor(venue: Venue, market: Market, state: unknown, own: Account, held: HeldAccounts) {
    this.market = market;
    this.#venue = venue;
    this.#state = state;
    this.#own = own;
    this.#reads = venue.spot!.reads(state).map((address) => held.get(address));
    const missing = held.missing();
    const fixed = venue.spot!.follows!.accounts(market);
    // What the state lacks, its bounds are not made of: once it exists, the state is another one.
    this.#fixed = missing.length === 0 ? fixed : [...fixed, ...missing];
  }

  /** Undefined if the venue's markets cannot be followed. */
  static of(venue: Venue, market: Market, state: unknown, own: Account, held: HeldAccounts): FollowedState | undefined {
    if (venue.spot?.follows === undefined) return undefined;
    return new FollowedState(venue, market, state, own, held);
  }

  /** True if the state does not outlive a change of the account. */
  isBoundTo(address: Address): boolean {
    return this.#fixed.includes(address);
  }

  /** The bound of the market as its accounts are now; undefined if it must be read. */
  boundNow(): SpotBound | undefined {
    const accounts: Account[] = [];
    for (const held of this.#reads) {
      const account = held?.account;
      if (account === undefined || account === null) return undefined;
      accounts.push(account);
    }
    const own = accounts[0]!;
    const spot = this.#venue.spot!;
    if (own !== this.#own && !hasSameParts(own, this.#own, spot.follows!.fixed)) return undefined;
    return spot.of(this.#state, accounts);
  }
}
