import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { Account, AccountView } from "../../solana/account.ts";
import { type Mint, mintIn } from "../../solana/token/mint.ts";
import type { VenueId } from "../venue.ts";
import { degraded } from "./refusals.ts";

/** The `addresses` that have not been read yet. */
export function unread(have: AccountView, addresses: readonly Address[]): Address[] {
  return addresses.filter((address) => have.get(address) === undefined);
}

/** An account that a market needs. @throws TradewireError VENUE_DEGRADED if it does not exist */
export function requireAccount(have: AccountView, address: Address, venue: VenueId, what: string): Account {
  const account = have.get(address);
  if (account === undefined || account === null) {
    throw degraded(venue, `the ${what} ${address} does not exist`);
  }
  return account;
}

/** A mint of a market. @throws TradewireError VENUE_DEGRADED if it does not exist or is not a mint */
export function requireMint(have: AccountView, address: Address, venue: VenueId): Mint {
  const mint = mintIn(requireAccount(have, address, venue, "mint"));
  if (mint === undefined) throw degraded(venue, `${address} is not a mint`);
  return mint;
}

/** Refuses a token with an unsupported extension. @throws TradewireError UNSUPPORTED_TOKEN_EXTENSION with the reason */
export function rejectUnsupported(mint: Mint): void {
  if (mint.unsupported !== undefined) {
    throw new TradewireError(
      "UNSUPPORTED_TOKEN_EXTENSION",
      `token ${mint.address} is not tradable: ${mint.unsupported}`,
    );
  }
}

/** Refuses a token with a transfer fee, on a venue that cannot trade one. @throws TradewireError UNSUPPORTED_TOKEN_EXTENSION */
export function rejectTransferFee({ address, transferFees }: Mint, venue: VenueId): void {
  if (transferFees === undefined) return;
  throw new TradewireError(
    "UNSUPPORTED_TOKEN_EXTENSION",
    `token ${address} is not tradable on ${venue}: it has a transfer fee`,
  );
}
