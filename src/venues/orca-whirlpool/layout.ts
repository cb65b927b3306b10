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
import { defineIndexedPda, definePda } from "../../solana/derived-address.ts";
import { derive } from "../../solana/pda.ts";
import { floorDivide, MAX_TICK, MIN_TICK } from "../curves/concentrated-liquidity.ts";
import { sortMints } from "../shared/sort-mints.ts";
import type { Market, MintPair } from "../venue.ts";
import { WHIRLPOOL_FEE_TIERS } from "./known-configs.ts";

export const WHIRLPOOL_PROGRAM = Address.of("whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc");

/** Orca's own configuration; pools of other configurations are found by filter. */
export const WHIRLPOOLS_CONFIG = Address.of("2LecshUwdy9xi7meFgHtFJQNSKk4KdTrcpvaB56dP2NQ");

export const WHIRLPOOL_SIZE = 653;
export const WHIRLPOOL_MINT_A_OFFSET = 101;
export const WHIRLPOOL_MINT_B_OFFSET = 181;
export const WHIRLPOOL_TICKS_PER_ARRAY = 88;

const WHIRLPOOL_DISCRIMINATOR = hex("3f95d10ce1806309");
const FIXED_ARRAY_DISCRIMINATOR = hex("4561bdbe6e0742bb");
const DYNAMIC_ARRAY_DISCRIMINATOR = hex("11d8f68ee1c7da38");
const ORACLE_DISCRIMINATOR = hex("8bc283b38cb3e5f4");

const REWARDS_OFFSET = 269;
const REWARD_SIZE = 128;
const REWARDS = 3;
const FIXED_TICKS_OFFSET = 12;
const FIXED_POOL_OFFSET = 9_956;
const FIXED_ARRAY_SIZE = 9_988;
const DYNAMIC_POOL_OFFSET = 12;
const DYNAMIC_TICKS_OFFSET = 60;
/** A flag, net and gross liquidity, two fee growths and three reward growths. */
const TICK_SIZE = 113;
const ORACLE_MIN_SIZE = 8 + 32 + 8 + 34 + 44;

/** The fixed part of a pool. */
export interface WhirlpoolMarket extends Market {
  readonly venue: "orca_whirlpool";
  readonly vaults: readonly [Address, Address];
  readonly tickSpacing: number;
  readonly oracle: Address;
  readonly oracleBump: number;
  /** True if the fee follows volatility and the oracle account exists. */
  readonly adaptive: boolean;
}

/** The part of a pool that trades and its owner change. */
interface Whirlpool {
  /** Millionths. */
  readonly feeRate: bigint;
  readonly liquidity: bigint;
  readonly sqrtPrice: bigint;
  readonly tick: number;
  /** Rewards being paid to liquidity: each costs compute units in a swap. */
  readonly rewards: number;
}

/** The oracle account of a pool whose fee follows volatility. */
export interface WhirlpoolOracle {
  /** Unix time from which trading is allowed. */
  readonly tradeEnabledAt: bigint;
  readonly filterPeriod: bigint;
  readonly decayPeriod: bigint;
  /** Ten-thousandths of the volatility that remain after the filter period. */
  readonly reductionFactor: number;
  readonly controlFactor: bigint;
  readonly maximumVolatility: number;
  readonly groupSize: number;
  /** A swap that moves the price by this many ticks is a major one. */
  readonly majorSwapTicks: number;
  readonly referenceAt: bigint;
  readonly majorSwapAt: bigint;
  readonly volatilityReference: number;
  readonly groupReference: number;
  readonly volatility: number;
}

/** The initialised ticks of one array, ascending. */
interface WhirlpoolTicks {
  readonly ticks: readonly number[];
  readonly liquidityNet: readonly bigint[];
}

/** True if the account is a pool. */
export function isWhirlpool({ owner, data }: Account): boolean {
  return owner === WHIRLPOOL_PROGRAM && data.length >= WHIRLPOOL_SIZE && hasBytesAt(data, 0, WHIRLPOOL_DISCRIMINATOR);
}

/** Decodes a pool account; undefined if it is none. Its oracle is searched for once. */
export function decodeWhirlpoolMarket(account: Account): WhirlpoolMarket | undefined {
  if (!isWhirlpool(account)) return undefined;
  const { address, data } = account;
  const tickSpacing = readU16(data, 41);
  if (tickSpacing === 0) return undefined;
  const oracle = oracleOf(address);
  return {
    venue: "orca_whirlpool",
    address,
    mints: [Address.from(data, WHIRLPOOL_MINT_A_OFFSET), Address.from(data, WHIRLPOOL_MINT_B_OFFSET)],
    nativeSol: false,
    vaults: [Address.from(data, 133), Address.from(data, 213)],
    tickSpacing,
    oracle: oracle.address,
    oracleBump: oracle.bump,
    adaptive: readU16(data, 43) !== tickSpacing,
  };
}

/** The changing part of a pool account that `isWhirlpool` accepts. */
export function decodeWhirlpool({ data }: Account): Whirlpool {
  let rewards = 0;
  for (let i = 0; i < REWARDS; i++) if (!isZero(data, REWARDS_OFFSET + i * REWARD_SIZE)) rewards++;
  return {
    feeRate: BigInt(readU16(data, 45)),
    liquidity: readU128(data, 49),
    sqrtPrice: readU128(data, 65),
    tick: readI32(data, 81),
    rewards,
  };
}

/** True if the address at `start` is unset. */
function isZero(data: Uint8Array, start: number): boolean {
  for (let at = start; at < start + 32; at++) if (data[at] !== 0) return false;
  return true;
}

/** The oracle of a pool, or undefined if the account is none of `pool`. */
export function decodeWhirlpoolOracle({ owner, data }: Account, pool: Address): WhirlpoolOracle | undefined {
  if (
    owner !== WHIRLPOOL_PROGRAM ||
    data.length < ORACLE_MIN_SIZE ||
    !hasBytesAt(data, 0, ORACLE_DISCRIMINATOR) ||
    !pool.isAt(data, 8)
  ) {
    return undefined;
  }
  return {
    tradeEnabledAt: readU64(data, 40),
    filterPeriod: BigInt(readU16(data, 48)),
    decayPeriod: BigInt(readU16(data, 50)),
    reductionFactor: readU16(data, 52),
    controlFactor: BigInt(readU32(data, 54)),
    maximumVolatility: readU32(data, 58),
    groupSize: readU16(data, 62),
    majorSwapTicks: readU16(data, 64),
    referenceAt: readU64(data, 82),
    majorSwapAt: readU64(data, 90),
    volatilityReference: readU32(data, 98),
    groupReference: readI32(data, 102),
    volatility: readU32(data, 106),
  };
}

/**
 * The initialised ticks of an array account of `pool` beginning at `start`, fixed or dynamic.
 *
 * @returns undefined if the account is no such array
 */
export function decodeWhirlpoolTicks(
  { owner, data }: Account,
  pool: Address,
  start: number,
  tickSpacing: number,
): WhirlpoolTicks | undefined {
  if (owner !== WHIRLPOOL_PROGRAM) return undefined;
  const fixed = data.length >= FIXED_ARRAY_SIZE && hasBytesAt(data, 0, FIXED_ARRAY_DISCRIMINATOR);
  const dynamic = !fixed && data.length >= DYNAMIC_TICKS_OFFSET && hasBytesAt(data, 0, DYNAMIC_ARRAY_DISCRIMINATOR);
  if (!fixed && !dynamic) return undefined;
  if (!pool.isAt(data, fixed ? FIXED_POOL_OFFSET : DYNAMIC_POOL_OFFSET)) return undefined;
  const view = viewOf(data);
  if (view.getInt32(8, true) !== start) return undefined;

  const ticks: number[] = [];
  const liquidityNet: bigint[] = [];
  let at = fixed ? FIXED_TICKS_OFFSET : DYNAMIC_TICKS_OFFSET;
  for (let i = 0; i < WHIRLPOOL_TICKS_PER_ARRAY && at < data.length; i++) {
    const initialised = data[at] === 1;
    if (initialised) {
      const tick = start + i * tickSpacing;
      if (tick < MIN_TICK || tick > MAX_TICK || at + TICK_SIZE > data.length) return undefined;
      ticks.push(tick);
      liquidityNet.push(view.getBigUint64(at + 1, true) | (view.getBigInt64(at + 9, true) << 64n));
    }
    at += fixed || initialised ? TICK_SIZE : 1;
  }
  // Copies have no spare room, which a list that grew has for sixteen more.
  return { ticks: ticks.slice(), liquidityNet: liquidityNet.slice() };
}

/** True for an array whose data has no room for ticks that are not initialised. */
export const isDynamicArray = ({ data }: Account): boolean => data.length < FIXED_ARRAY_SIZE;

/** Ticks covered by one array. */
export function whirlpoolArraySpan(tickSpacing: number): number {
  return WHIRLPOOL_TICKS_PER_ARRAY * tickSpacing;
}

/** First tick of the array that covers `tick`. */
export function whirlpoolArrayStart(tick: number, tickSpacing: number): number {
  const span = whirlpoolArraySpan(tickSpacing);
  return floorDivide(tick, span) * span;
}

/** True if some tick of an array beginning at `start` can be traded. */
export function isArrayStart(start: number, tickSpacing: number): boolean {
  return start + whirlpoolArraySpan(tickSpacing) > MIN_TICK && start <= MAX_TICK;
}

/** Address of the array of `pool` beginning at `start`, which is written as decimal text in its seeds. */
export const whirlpoolTickArrayOf = defineIndexedPda(WHIRLPOOL_PROGRAM, "tick_array", (start) =>
  textBytes(String(start)),
);

const oracleOf = definePda(WHIRLPOOL_PROGRAM, "oracle");

/** Address of the pool of a pair in a configuration; `feeTierIndex` is the tick spacing for ordinary fee tiers. */
export function whirlpoolAddress(
  config: Address,
  [mintA, mintB]: readonly [Address, Address],
  feeTierIndex: number,
): Address {
  return derive(
    WHIRLPOOL_PROGRAM,
    "whirlpool",
    config,
    mintA,
    mintB,
    Uint8Array.of(feeTierIndex & 0xff, feeTierIndex >> 8),
  );
}

/** Addresses of the pair's pools of the listed fee tiers. */
export function whirlpoolAddresses(pair: MintPair): Address[] {
  const mints = sortMints(pair);
  return WHIRLPOOL_FEE_TIERS.map((tier) => whirlpoolAddress(WHIRLPOOLS_CONFIG, mints, tier));
}
