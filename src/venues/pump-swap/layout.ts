import { Address } from "../../primitives/address.ts";
import { hasBytesAt, hex, readI128, readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { definePda } from "../../solana/derived-address.ts";
import { derive } from "../../solana/pda.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { PUMP_PROGRAM } from "../pump-fun/layout.ts";
import { addressAt, addressesAt, flagAt } from "../shared/pump-accounts.ts";
import type { Market } from "../venue.ts";

export const PUMP_SWAP_PROGRAM = Address.of("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA");

/** Fixed accounts of the program, with their seeds. */
export const PUMP_SWAP_GLOBAL = Address.of("ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw"); // "global_config"
export const PUMP_SWAP_EVENT_AUTHORITY = Address.of("GS4CU59F31iL7aR2Q8zVS8DRrcRnXX1yjQ66TqNVQnaR"); // "__event_authority"
export const PUMP_SWAP_GLOBAL_VOLUME = Address.of("C2aFPdENg4A2HQsmrd5rTw5TaYBX5Ku887cWjbFKtZpw"); // "global_volume_accumulator"
export const PUMP_SWAP_FEE_CONFIG = Address.of("5PHirr8joyTMp9JMm6nW7hNDVyEYdkzDqazxPD7RaTjx"); // "fee_config", program, at the fee program

export const PUMP_SWAP_BASE_MINT_OFFSET = 43;
export const QUOTE_MINT_OFFSET = 75;
/** The program requires smaller pools to be extended before a trade. */
const POOL_FULL_SIZE = 300;
/** Bytes of a pool after `extend_account`: one more than what trades ask for. */
export const EXTENDED_POOL_SIZE = 301;

const POOL_DISCRIMINATOR = hex("f19a6d0411b16dbc");
const GLOBAL_DISCRIMINATOR = hex("95089ccaa0fcb0d9");
/** The shortest layout of a pool: up to and including the supply of shares. */
const POOL_MIN_SIZE = 211;
const BUYS_DISABLED = 1 << 3;
const SELLS_DISABLED = 1 << 4;

/** The fixed part of a pool. `mints` is base, then quote. */
export interface PumpSwapMarket extends Market {
  readonly venue: "pump_swap";
  readonly creator: Address;
  readonly vaults: readonly [Address, Address];
}

/** The changing part of a pool. @see pump-swap-sdk IDL pump_amm, account Pool */
export interface PumpPool {
  /** The system program where the coin has no creator. */
  readonly coinCreator: Address;
  readonly mayhem: boolean;
  readonly cashback: boolean;
  /** Added to the quote vault for pricing, but cannot be paid out. May be negative. */
  readonly virtualQuote: bigint;
  /** 0: the fee schedule's rate. */
  readonly creatorFeeBps: bigint;
  /** Fees in the quote vault that are not swept yet, in builds of the program that keep them there. */
  readonly owedFees: bigint;
  /** Bytes of the account; trades extend one below today's size first. */
  readonly size: number;
  readonly needsExtending: boolean;
}

/** The parts of the program's settings account that trading depends on. */
export interface PumpSwapGlobal {
  readonly buysDisabled: boolean;
  readonly sellsDisabled: boolean;
  readonly feeRecipients: readonly Address[];
  readonly mayhemFeeRecipients: readonly Address[];
  readonly buybackFeeRecipients: readonly Address[];
  readonly creatorFeeConfigurable: boolean;
}

/** True if the account is a pool. */
export function isPumpSwapPool({ owner, data }: Account): boolean {
  return owner === PUMP_SWAP_PROGRAM && data.length >= POOL_MIN_SIZE && hasBytesAt(data, 0, POOL_DISCRIMINATOR);
}

/** Decodes a pool account; undefined if it is none. */
export function decodePumpSwapMarket(account: Account): PumpSwapMarket | undefined {
  if (!isPumpSwapPool(account)) return undefined;
  const { address, data } = account;
  return {
    venue: "pump_swap",
    address,
    mints: [Address.from(data, PUMP_SWAP_BASE_MINT_OFFSET), Address.from(data, QUOTE_MINT_OFFSET)],
    nativeSol: false,
    creator: Address.from(data, 11),
    vaults: [Address.from(data, 139), Address.from(data, 171)],
  };
}

/** The changing part of a pool of any age that `isPumpSwapPool` accepts: fields a shorter account lacks are zero. */
export function decodePumpPool({ data }: Account): PumpPool {
  const u64At = (offset: number): bigint => (data.length >= offset + 8 ? readU64(data, offset) : 0n);
  const coinCreator = addressAt(data, 211);
  return {
    coinCreator,
    mayhem: flagAt(data, 243),
    cashback: flagAt(data, 244) && coinCreator !== SYSTEM_PROGRAM,
    virtualQuote: data.length >= 261 ? readI128(data, 245) : 0n,
    creatorFeeBps: u64At(261),
    owedFees: u64At(271) + u64At(279),
    size: data.length,
    needsExtending: data.length < POOL_FULL_SIZE,
  };
}

/** Decodes the settings account; undefined if it is none. Unset recipients are left out. */
export function decodePumpSwapGlobal({ owner, data }: Account): PumpSwapGlobal | undefined {
  if (owner !== PUMP_SWAP_PROGRAM || !hasBytesAt(data, 0, GLOBAL_DISCRIMINATOR)) return undefined;
  const list = (at: number, count: number) => addressesAt(data, at, count);
  const flags = data[56] ?? 0;
  return {
    buysDisabled: (flags & BUYS_DISABLED) !== 0,
    sellsDisabled: (flags & SELLS_DISABLED) !== 0,
    feeRecipients: list(57, 8),
    mayhemFeeRecipients: [...list(385, 1), ...list(418, 7)],
    buybackFeeRecipients: list(643, 8),
    creatorFeeConfigurable: flagAt(data, 940),
  };
}

/** The creator of the pool that a completed curve migrates to, by the coin's mint. */
export const poolAuthorityOf = definePda(PUMP_PROGRAM, "pool-authority");
/** A creator's fee vault, by the creator. */
export const pumpSwapCreatorVaultOf = definePda(PUMP_SWAP_PROGRAM, "creator_vault");
/** An account in every trade of a coin with a creator, by the coin's mint. It need not exist. */
export const poolV2Of = definePda(PUMP_SWAP_PROGRAM, "pool-v2");
/** A wallet's volume account, by the wallet. */
export const pumpSwapUserVolumeOf = definePda(PUMP_SWAP_PROGRAM, "user_volume_accumulator");

const CANONICAL_INDEX = new Uint8Array(2);

/** The pool a completed curve of `base` priced in `quote` migrates to. */
export function canonicalPumpPool(base: Address, quote: Address): Address {
  return derive(PUMP_SWAP_PROGRAM, "pool", CANONICAL_INDEX, poolAuthorityOf(base).address, base, quote);
}
