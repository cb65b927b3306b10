import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { AccountView } from "../../solana/account.ts";
import { isTokenAccount, tokenBalance } from "../../solana/token/token-account.ts";
import type { Market, VenueId } from "../venue.ts";
import { degraded } from "./refusals.ts";
import { requireAccount } from "./required.ts";

/** Places in a token account. @see spl-token `state.rs`, Account */
const MINT_OFFSET = 0;
const STATE_OFFSET = 108;
const STATE_FROZEN = 2;

/** Balances of a market's two vaults, in base units and in the order of its mints. */
export type Reserves = readonly [bigint, bigint];

/**
 * The balance of a vault. Who can freeze a token's accounts, or take from any of them, can do so to a vault: a market whose
 * vault is frozen cannot trade, whatever its own account says.
 *
 * @returns base units
 * @throws TradewireError VENUE_DEGRADED if the vault does not exist, is frozen, or holds another token
 */
export function requireReserve(have: AccountView, address: Address, mint: Address, venue: VenueId): bigint {
  const account = requireAccount(have, address, venue, "vault");
  if (!isTokenAccount(account)) throw degraded(venue, `the vault ${address} is not a token account`);
  const { data } = account;
  if (!mint.isAt(data, MINT_OFFSET)) throw degraded(venue, `the vault ${address} does not hold ${mint}`);
  if (data[STATE_OFFSET] === STATE_FROZEN)
    throw degraded(venue, `the vault ${address} is frozen: nothing can be traded through it`);
  return tokenBalance(account);
}

/** Both vaults of a market, in the order of its mints. @throws TradewireError as `requireReserve` */
export function requireReserves(
  have: AccountView,
  { venue, mints }: Market,
  vaults: readonly [Address, Address],
): Reserves {
  return [requireReserve(have, vaults[0], mints[0], venue), requireReserve(have, vaults[1], mints[1], venue)];
}

/**
 * Refuses a trade that takes more out of a vault than is there: its books say otherwise, but the transfer would fail.
 * @param leaves what leaves the vault, before transfer fees
 * @throws TradewireError INSUFFICIENT_LIQUIDITY
 */
export function assertReserve({ venue, address }: Market, reserve: bigint, leaves: bigint): void {
  if (leaves <= reserve) return;
  throw new TradewireError(
    "INSUFFICIENT_LIQUIDITY",
    `the vault of ${venue} market ${address} holds ${reserve} base units, less than the ${leaves} this trade takes out: it was drained`,
  );
}
