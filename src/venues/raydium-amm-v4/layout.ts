import { Address } from "../../primitives/address.ts";
import { readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import type { Market } from "../venue.ts";

export const AMM_V4_PROGRAM = Address.of("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8");

/** Owns every vault of the program. */
export const AMM_V4_AUTHORITY = Address.of("5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1");

/** Pool accounts have no discriminator: they are recognized by their size. */
export const AMM_V4_POOL_SIZE = 752;
export const COIN_MINT_OFFSET = 400;
export const PC_MINT_OFFSET = 432;

const STATUS_INITIALISED = 1n;
const STATUS_SWAP_ONLY = 6n;
const STATUS_WAITING = 7n;

/** The fixed part of a pool. The program calls its two sides coin and pc. @see raydium-amm `state.rs`, struct AmmInfo */
export interface AmmV4Market extends Market {
  readonly venue: "raydium_amm_v4";
  readonly vaults: readonly [Address, Address];
}

/** The part of a pool that trades and its admin change. */
export interface AmmV4Pool {
  readonly swappable: boolean;
  /** Unix time from which trading is allowed; 0 if it already is. */
  readonly opensAt: bigint;
  readonly feeNumerator: bigint;
  readonly feeDenominator: bigint;
  /** Profit in the vaults that is not part of the reserves. */
  readonly owed: readonly [bigint, bigint];
}

/** True if the account is a pool that was set up. */
export function isAmmV4Pool({ owner, data }: Account): boolean {
  return owner === AMM_V4_PROGRAM && data.length === AMM_V4_POOL_SIZE && readU64(data, 0) !== 0n;
}

/** Decodes a pool account; undefined if it is none. A pool that was never set up has no mints. */
export function decodeAmmV4Market(account: Account): AmmV4Market | undefined {
  if (!isAmmV4Pool(account)) return undefined;
  const { address, data } = account;
  return {
    venue: "raydium_amm_v4",
    address,
    mints: [Address.from(data, COIN_MINT_OFFSET), Address.from(data, PC_MINT_OFFSET)],
    nativeSol: false,
    vaults: [Address.from(data, 336), Address.from(data, 368)],
  };
}

/** The changing part of a pool account that `isAmmV4Pool` accepts. */
export function decodeAmmV4Pool({ data }: Account): AmmV4Pool {
  const status = readU64(data, 0);
  return {
    swappable: status === STATUS_INITIALISED || status === STATUS_SWAP_ONLY || status === STATUS_WAITING,
    opensAt: status === STATUS_WAITING ? readU64(data, 224) : 0n,
    feeNumerator: readU64(data, 176),
    feeDenominator: readU64(data, 184),
    owed: [readU64(data, 192), readU64(data, 200)],
  };
}
