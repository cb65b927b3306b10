import { Address } from "../../primitives/address.ts";
import {
  hasBytesAt,
  hex,
  readI32,
  readU16,
  readU32,
  readU64,
  readU128,
  textBytes,
  viewOf,
} from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { type DerivedAddress, defineIndexedPda, definePda } from "../../solana/derived-address.ts";
import { findPda } from "../../solana/pda.ts";
import { floorDivide, MAX_TICK, MIN_TICK } from "../curves/concentrated-liquidity.ts";
import { sortMints } from "../shared/sort-mints.ts";
import type { Market, MintPair } from "../venue.ts";
import { CLMM_CONFIG_INDICES } from "./known-configs.ts";

export const CLMM_PROGRAM = Address.of("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK");

export const CLMM_POOL_SIZE = 1_544;
export const CLMM_MINT_0_OFFSET = 73;
export const CLMM_MINT_1_OFFSET = 105;
const CLMM_TICKS_PER_ARRAY = 60;

const POOL_DISCRIMINATOR = hex("f7ede3f5d7c3de46");
const CONFIG_DISCRIMINATOR = hex("daf42168cbcb2b6f");
const TICK_ARRAY_DISCRIMINATOR = hex("c09b55cd31f9812a");

const STATUS_SWAP_DISABLED = 1 << 4;
const REWARDS_OFFSET = 397;
const REWARD_SIZE = 169;
const REWARDS = 3;
const BITMAP_OFFSET = 904;
const BITMAP_SIZE = 128;
const VOLATILITY_OFFSET = 1_096;
const VOLATILITY_SIZE = 80;
const CONFIG_MIN_SIZE = 57;
const TICK_ARRAY_SIZE = 10_240;
const TICKS_OFFSET = 44;
const TICK_SIZE = 168;
/** Arrays on either side of tick 0 that the pool's own bitmap covers. */
export const CLMM_BITMAP_REACH = 512;

/** The fixed part of a pool. @see raydium-clmm `states/pool.rs`, struct PoolState */
export interface ClmmMarket extends Market {
  readonly venue: "raydium_clmm";
  readonly config: Address;
  readonly vaults: readonly [Address, Address];
  readonly observation: Address;
  readonly tickSpacing: number;
  /** The account with the bits of arrays beyond the pool's own bitmap. */
  readonly extension: DerivedAddress;
  /** True if the pool's own bitmap does not cover every tick, so that the extension is needed. */
  readonly extended: boolean;
}

/** The part of a pool that trades and its owner change. */
export interface ClmmPool {
  readonly liquidity: bigint;
  readonly sqrtPrice: bigint;
  readonly tick: number;
  readonly swapDisabled: boolean;
  /** Who pays the fee: 0 the input, 1 always token 0, 2 always token 1. */
  readonly feeOn: number;
  /** Unix time after which trading is allowed. */
  readonly openTime: bigint;
  readonly rewards: number;
  readonly volatility: ClmmVolatility | undefined;
  /** One bit per tick array with initialised ticks, from array −512 on. */
  readonly bitmap: Uint8Array;
}

/** A fee that follows volatility. @see raydium-clmm `states/pool_fee.rs`, struct DynamicFeeInfo */
export interface ClmmVolatility {
  readonly filterPeriod: bigint;
  readonly decayPeriod: bigint;
  /** Ten-thousandths of the volatility that remain after the filter period. */
  readonly reductionFactor: number;
  readonly control: bigint;
  readonly maximum: number;
  readonly groupReference: number;
  readonly reference: number;
  readonly accumulated: number;
  readonly updatedAt: bigint;
}

/** The initialised ticks of one array, ascending. */
interface ClmmTicks {
  readonly ticks: readonly number[];
  readonly liquidityNet: readonly bigint[];
  readonly hasLiquidity: readonly boolean[];
  /** Unfilled limit orders at the tick, in the token they sell. */
  readonly orders: readonly bigint[];
}

/** True if the account is a pool. */
export function isClmmPool({ owner, data }: Account): boolean {
  return owner === CLMM_PROGRAM && data.length >= CLMM_POOL_SIZE && hasBytesAt(data, 0, POOL_DISCRIMINATOR);
}

/** Decodes a pool account; undefined if it is none. The bitmap's extension is searched for once. */
export function decodeClmmMarket(account: Account): ClmmMarket | undefined {
  if (!isClmmPool(account)) return undefined;
  const { address, data } = account;
  const tickSpacing = readU16(data, 235);
  if (tickSpacing === 0) return undefined;
  return {
    venue: "raydium_clmm",
    address,
    mints: [Address.from(data, CLMM_MINT_0_OFFSET), Address.from(data, CLMM_MINT_1_OFFSET)],
    nativeSol: false,
    config: Address.from(data, 9),
    vaults: [Address.from(data, 137), Address.from(data, 169)],
    observation: Address.from(data, 201),
    tickSpacing,
    extension: extensionOf(address),
    extended: clmmArraySpan(tickSpacing) * CLMM_BITMAP_REACH < MAX_TICK,
  };
}

/** The changing part of a pool account that `isClmmPool` accepts. */
export function decodeClmmPool({ data }: Account): ClmmPool {
  let rewards = 0;
  for (let i = 0; i < REWARDS; i++) if (data[REWARDS_OFFSET + i * REWARD_SIZE] !== 0) rewards++;
  return {
    liquidity: readU128(data, 237),
    sqrtPrice: readU128(data, 253),
    tick: readI32(data, 269),
    swapDisabled: (data[389]! & STATUS_SWAP_DISABLED) !== 0,
    feeOn: data[390]!,
    openTime: readU64(data, 1_080),
    rewards,
    volatility: decodeVolatility(data),
    bitmap: data.subarray(BITMAP_OFFSET, BITMAP_OFFSET + BITMAP_SIZE),
  };
}

/** Fee rates are in millionths. */
const FEE_DENOMINATOR = 1_000_000n;

function decodeVolatility(data: Uint8Array): ClmmVolatility | undefined {
  let at = VOLATILITY_OFFSET;
  while (at < VOLATILITY_OFFSET + VOLATILITY_SIZE && data[at] === 0) at++;
  if (at === VOLATILITY_OFFSET + VOLATILITY_SIZE) return undefined;
  return {
    filterPeriod: BigInt(readU16(data, VOLATILITY_OFFSET)),
    decayPeriod: BigInt(readU16(data, VOLATILITY_OFFSET + 2)),
    reductionFactor: readU16(data, VOLATILITY_OFFSET + 4),
    control: BigInt(readU32(data, VOLATILITY_OFFSET + 6)),
    maximum: readU32(data, VOLATILITY_OFFSET + 10),
    groupReference: readI32(data, VOLATILITY_OFFSET + 14),
    reference: readU32(data, VOLATILITY_OFFSET + 18),
    accumulated: readU32(data, VOLATILITY_OFFSET + 22),
    updatedAt: readU64(data, VOLATILITY_OFFSET + 26),
  };
}

/** The trade fee rate of a configuration in millionths, or undefined if the account is none or takes everything. @see `states/config.rs` */
export function decodeClmmFeeRate({ owner, data }: Account): bigint | undefined {
  if (owner !== CLMM_PROGRAM || data.length < CONFIG_MIN_SIZE || !hasBytesAt(data, 0, CONFIG_DISCRIMINATOR)) {
    return undefined;
  }
  const rate = BigInt(readU32(data, 47));
  return rate < FEE_DENOMINATOR ? rate : undefined;
}

/**
 * The ticks of the array of `pool` beginning at `start` that hold liquidity or limit orders.
 *
 * @returns undefined if the account is no such array
 * @see raydium-clmm `states/tick_array.rs`; builds before 2026 leave the places of limit orders zero
 */
export function decodeClmmTicks(
  { owner, data }: Account,
  pool: Address,
  start: number,
  tickSpacing: number,
): ClmmTicks | undefined {
  if (
    owner !== CLMM_PROGRAM ||
    data.length < TICK_ARRAY_SIZE ||
    !hasBytesAt(data, 0, TICK_ARRAY_DISCRIMINATOR) ||
    !pool.isAt(data, 8)
  ) {
    return undefined;
  }
  const view = viewOf(data);
  if (view.getInt32(40, true) !== start) return undefined;
  const ticks: number[] = [];
  const liquidityNet: bigint[] = [];
  const hasLiquidity: boolean[] = [];
  const orders: bigint[] = [];
  for (let i = 0; i < CLMM_TICKS_PER_ARRAY; i++) {
    const at = TICKS_OFFSET + i * TICK_SIZE;
    const liquid = holdsBits(view, at + 20);
    if (!liquid && !holdsBits(view, at + 124)) continue;
    const tick = start + i * tickSpacing;
    if (tick < MIN_TICK || tick > MAX_TICK) return undefined;
    ticks.push(tick);
    liquidityNet.push(view.getBigUint64(at + 4, true) | (view.getBigInt64(at + 12, true) << 64n));
    hasLiquidity.push(liquid);
    orders.push(view.getBigUint64(at + 124, true) + view.getBigUint64(at + 132, true));
  }
  // Copies have no spare room, which a list that grew has for sixteen more.
  return {
    ticks: ticks.slice(),
    liquidityNet: liquidityNet.slice(),
    hasLiquidity: hasLiquidity.slice(),
    orders: orders.slice(),
  };
}

/** True if any of the 16 bytes at `at` is set. */
function holdsBits(view: DataView, at: number): boolean {
  return (
    (view.getUint32(at, true) |
      view.getUint32(at + 4, true) |
      view.getUint32(at + 8, true) |
      view.getUint32(at + 12, true)) !==
    0
  );
}

/** Ticks covered by one array. */
export function clmmArraySpan(tickSpacing: number): number {
  return CLMM_TICKS_PER_ARRAY * tickSpacing;
}

/** First tick of the array that covers `tick`. */
export function clmmArrayStart(tick: number, tickSpacing: number): number {
  const span = clmmArraySpan(tickSpacing);
  return floorDivide(tick, span) * span;
}

/** Address of the array of `pool` beginning at `start`, which is big-endian in its seeds. */
export const clmmTickArrayOf = defineIndexedPda(CLMM_PROGRAM, "tick_array", (start) => {
  const seed = new Uint8Array(4);
  viewOf(seed).setInt32(0, start);
  return seed;
});

const extensionOf = definePda(CLMM_PROGRAM, "pool_tick_array_bitmap_extension");

/** Address of the fee configuration of an index, which is big-endian in its seeds. */
export function clmmConfigAddress(index: number): Address {
  return findPda([textBytes("amm_config"), Uint8Array.of(index >> 8, index & 0xff)], CLMM_PROGRAM).address;
}

/** Address of the pool of a pair, mints in byte order, under a fee configuration. */
export function clmmPoolAddress(config: Address, [mint0, mint1]: readonly [Address, Address]): Address {
  return findPda([textBytes("pool"), config.bytes, mint0.bytes, mint1.bytes], CLMM_PROGRAM).address;
}

/** Found when they are first guessed with, not at every start. */
let configs: readonly Address[] | undefined;

/** Addresses of the pair's derived pools, one per listed fee configuration. */
export function clmmPoolAddresses(pair: MintPair): Address[] {
  const mints = sortMints(pair);
  configs ??= CLMM_CONFIG_INDICES.map(clmmConfigAddress);
  return configs.map((config) => clmmPoolAddress(config, mints));
}
