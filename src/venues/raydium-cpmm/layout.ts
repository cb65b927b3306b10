import { Address } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { derive } from "../../solana/pda.ts";
import { sortMints } from "../shared/sort-mints.ts";
import type { Market, MintPair } from "../venue.ts";
import { CPMM_CONFIG_INDICES } from "./known-configs.ts";

export const CPMM_PROGRAM = Address.of("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C");

/** Owns every vault of the program. Seed "vault_and_lp_mint_auth_seed". */
export const CPMM_AUTHORITY = Address.of("GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL");

export const CPMM_POOL_SIZE = 637;
export const CPMM_MINT_0_OFFSET = 168;
export const CPMM_MINT_1_OFFSET = 200;

const POOL_DISCRIMINATOR = hex("f7ede3f5d7c3de46");
const CONFIG_DISCRIMINATOR = hex("daf42168cbcb2b6f");
const CONFIG_MIN_SIZE = 116;
const STATUS_SWAP_DISABLED = 4;

/** The fixed part of a pool. @see raydium-cp-swap `states/pool.rs`, struct PoolState */
export interface CpmmMarket extends Market {
  readonly venue: "raydium_cpmm";
  readonly config: Address;
  readonly vaults: readonly [Address, Address];
  readonly tokenPrograms: readonly [Address, Address];
  readonly observation: Address;
}

/** The part of a pool that trades and its admin change. Owed fees lie in the vaults but are not part of the reserves. */
export interface CpmmPool {
  readonly swapDisabled: boolean;
  /** Unix time from which trading is allowed. */
  readonly openTime: bigint;
  /** Protocol, fund and creator fees not collected yet, and the protocol's share of creator fees that were, per mint. */
  readonly owedFees: readonly [bigint, bigint];
  /** Which mint pays the creator fee: 0 the input, 1 always mint 0, 2 always mint 1. */
  readonly creatorFeeOn: number;
  readonly creatorFeeEnabled: boolean;
}

/** Rates in millionths. */
export interface CpmmConfig {
  readonly tradeFeeRate: bigint;
  readonly creatorFeeRate: bigint;
  /** Parts of the trade fee that leave the curve. */
  readonly protocolShare: bigint;
  readonly fundShare: bigint;
}

/** True if the account is a pool. */
export function isCpmmPool({ owner, data }: Account): boolean {
  return owner === CPMM_PROGRAM && data.length >= CPMM_POOL_SIZE && hasBytesAt(data, 0, POOL_DISCRIMINATOR);
}

/** Decodes a pool account; undefined if it is none. */
export function decodeCpmmMarket(account: Account): CpmmMarket | undefined {
  if (!isCpmmPool(account)) return undefined;
  const { address, data } = account;
  return {
    venue: "raydium_cpmm",
    address,
    mints: [Address.from(data, CPMM_MINT_0_OFFSET), Address.from(data, CPMM_MINT_1_OFFSET)],
    nativeSol: false,
    config: Address.from(data, 8),
    vaults: [Address.from(data, 72), Address.from(data, 104)],
    tokenPrograms: [Address.from(data, 232), Address.from(data, 264)],
    observation: Address.from(data, 296),
  };
}

/**
 * What the vault of one mint owes: fees for protocol, fund and creator, and shared creator fees, which builds before September 2026
 * leave zero.
 *
 * @param at where its protocol fee is
 * @see raydium-cp-swap `states/pool.rs`, vault_amount_without_fee
 */
const owedAt = (data: Uint8Array, at: number): bigint =>
  readU64(data, at) + readU64(data, at + 16) + readU64(data, at + 56) + readU64(data, at + 72);

/** The changing part of a pool account that `isCpmmPool` accepts. */
export function decodeCpmmPool({ data }: Account): CpmmPool {
  return {
    swapDisabled: (data[329]! & STATUS_SWAP_DISABLED) !== 0,
    openTime: readU64(data, 373),
    owedFees: [owedAt(data, 341), owedAt(data, 349)],
    creatorFeeOn: data[389]!,
    creatorFeeEnabled: data[390] !== 0,
  };
}

/** A fee configuration, or undefined if the account is none. @see raydium-cp-swap `states/config.rs` */
export function decodeCpmmConfig({ owner, data }: Account): CpmmConfig | undefined {
  if (owner !== CPMM_PROGRAM || data.length < CONFIG_MIN_SIZE || !hasBytesAt(data, 0, CONFIG_DISCRIMINATOR)) {
    return undefined;
  }
  return {
    tradeFeeRate: readU64(data, 12),
    creatorFeeRate: readU64(data, 108),
    protocolShare: readU64(data, 20),
    fundShare: readU64(data, 28),
  };
}

/** Address of the fee configuration of an index: the one seed of the program that is big-endian. */
export function cpmmConfigAddress(index: number): Address {
  return derive(CPMM_PROGRAM, "amm_config", Uint8Array.of(index >> 8, index & 0xff));
}

/** Found when they are first guessed with, not at every start. */
let configs: readonly Address[] | undefined;

/** Addresses of the pair's derived pools, one per listed fee configuration. */
export function cpmmPoolAddresses(pair: MintPair): Address[] {
  const [mint0, mint1] = sortMints(pair);
  configs ??= CPMM_CONFIG_INDICES.map(cpmmConfigAddress);
  return configs.map((config) => derive(CPMM_PROGRAM, "pool", config, mint0, mint1));
}
