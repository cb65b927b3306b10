import { Address, compareAddresses } from "../../primitives/address.ts";
import { hasBytesAt, hex, readI32, readU16, readU32, readU64, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { defineIndexedPda, definePda } from "../../solana/derived-address.ts";
import { derive } from "../../solana/pda.ts";
import type { Market, MintPair } from "../venue.ts";
import { DLMM_LAUNCH_BASE, DLMM_PRESET_COUNT } from "./known-configs.ts";

export const DLMM_PROGRAM = Address.of("LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo");

/** Seed "__event_authority". */
export const DLMM_EVENT_AUTHORITY = Address.of("D1ZN9Wj1fRSUQfCjhvnu1hqDMT7hzjzBBpi12nVniYD6");

export const DLMM_PAIR_SIZE = 904;
export const MINT_X_OFFSET = 88;
export const MINT_Y_OFFSET = 120;

const PAIR_DISCRIMINATOR = hex("210b3162b565b10d");
const EXTENSION_DISCRIMINATOR = hex("506f7c7137ed1205");
const EXTENSION_SIZE = 1576;

/** The pair's own bitmap covers array indices −512 to 511. */
const BITMAP_OFFSET = 584;
const BITMAP_REACH = 512;
/** The extension covers twelve times as many arrays beyond that on each side. */
const EXTENSION_REACH = 13 * BITMAP_REACH;
const EXTENSION_POSITIVE_OFFSET = 40;
const EXTENSION_NEGATIVE_OFFSET = 808;

/** The fixed part of a pair. */
export interface DlmmMarket extends Market {
  readonly venue: "meteora_dlmm";
  readonly reserves: readonly [Address, Address];
  readonly oracle: Address;
  readonly binStep: number;
}

/** The part of a pair that quotes depend on. */
export interface DlmmPair {
  readonly enabled: boolean;
  /** Slot or Unix time from which anyone may trade; 0 if there is no such point. */
  readonly activationPoint: bigint;
  readonly countsSeconds: boolean;
  readonly activeId: number;
  /** Parts per billion. */
  readonly baseFee: bigint;
  readonly variableFeeControl: bigint;
  readonly filterPeriod: number;
  readonly decayPeriod: number;
  readonly reductionFactor: number;
  readonly maxVolatility: number;
  readonly volatility: number;
  readonly volatilityReference: number;
  readonly indexReference: number;
  /** Unix seconds. */
  readonly lastUpdate: bigint;
  /** True: fees are taken in Y only. False: in what goes in. */
  readonly feesInY: boolean;
  /** True if limit orders in its bins are filled too. */
  readonly limitOrders: boolean;
  /** Rewards for providers, 0 to 2: a swap shares them out. */
  readonly rewards: number;
}

/** True if the account is a pair. */
export function isDlmmPair({ owner, data }: Account): boolean {
  return owner === DLMM_PROGRAM && data.length >= DLMM_PAIR_SIZE && hasBytesAt(data, 0, PAIR_DISCRIMINATOR);
}

/** Decodes a pair account; undefined if it is none. @see @meteora-ag/dlmm 1.9.14 IDL, account LbPair */
export function decodeDlmmMarket(account: Account): DlmmMarket | undefined {
  if (!isDlmmPair(account)) return undefined;
  const { address, data } = account;
  return {
    venue: "meteora_dlmm",
    address,
    mints: [Address.from(data, MINT_X_OFFSET), Address.from(data, MINT_Y_OFFSET)],
    nativeSol: false,
    reserves: [Address.from(data, 152), Address.from(data, 184)],
    oracle: Address.from(data, 552),
    binStep: readU16(data, 80),
  };
}

/** Pair types that open at an activation point: permissioned ones, and those with parameters of their own. */
const ACTIVATED_PAIR_TYPES = [1, 2];
const LAST_PAIR_TYPE = 3;

/** The changing part of a pair account; undefined if it uses a mode not supported here. */
export function decodeDlmmPair({ data }: Account): DlmmPair | undefined {
  const functionType = data[35]!;
  const collectFeeMode = data[36]!;
  if (functionType > 2 || collectFeeMode > 1 || data[75]! > LAST_PAIR_TYPE || data[86]! > 1) return undefined;
  const binStep = readU16(data, 80);
  const rewards = rewardsOf(data);
  return {
    enabled: data[82] === 0,
    activationPoint: ACTIVATED_PAIR_TYPES.includes(data[75]!) ? readU64(data, 816) : 0n,
    countsSeconds: data[86] === 1,
    activeId: readI32(data, 76),
    baseFee: BigInt(readU16(data, 8) * binStep * 10) * 10n ** BigInt(data[34]!),
    variableFeeControl: BigInt(readU32(data, 16)),
    filterPeriod: readU16(data, 10),
    decayPeriod: readU16(data, 12),
    reductionFactor: readU16(data, 14),
    maxVolatility: readU32(data, 20),
    volatility: readU32(data, 40),
    volatilityReference: readU32(data, 44),
    indexReference: readI32(data, 48),
    lastUpdate: BigInt.asIntN(64, readU64(data, 56)),
    feesInY: collectFeeMode === 1,
    limitOrders: functionType === 2 || (functionType === 0 && rewards === 0),
    rewards,
  };
}

/** How many of the two rewards have a mint. */
function rewardsOf(data: Uint8Array): number {
  return (isZero(data, 264) ? 0 : 1) + (isZero(data, 408) ? 0 : 1);
}

function isZero(data: Uint8Array, start: number): boolean {
  for (let at = start; at < start + 32; at++) if (data[at] !== 0) return false;
  return true;
}

/** Which arrays of a pair hold liquidity. */
interface ArrayBitmap {
  readonly pair: Uint8Array;
  /** Undefined if the pair has no extension. */
  readonly extension: Uint8Array | undefined;
}

/** The bitmap in a pair account and its extension, `null` if there is none. */
export function decodeBitmap(pair: Account, extension: Account | null): ArrayBitmap {
  const held =
    extension !== null &&
    extension.owner === DLMM_PROGRAM &&
    extension.data.length >= EXTENSION_SIZE &&
    hasBytesAt(extension.data, 0, EXTENSION_DISCRIMINATOR);
  return { pair: pair.data, extension: held ? extension.data : undefined };
}

/** Indices of at most `count` arrays with liquidity from `from` on, upwards or downwards, nearest first. */
export function arraysWithLiquidity(bitmap: ArrayBitmap, from: number, upwards: boolean, count: number): number[] {
  const found: number[] = [];
  const reach = bitmap.extension === undefined ? BITMAP_REACH : EXTENSION_REACH;
  const step = upwards ? 1 : -1;
  const start = upwards ? Math.max(from, -reach) : Math.min(from, reach - 1);
  for (let index = start; index >= -reach && index < reach && found.length < count; index += step) {
    if (index >= -BITMAP_REACH && index < BITMAP_REACH) {
      const bit = index + BITMAP_REACH;
      if (bitmap.pair[BITMAP_OFFSET + (bit >> 3)] === 0) {
        // On to the last bit of the empty byte.
        index = (upwards ? bit | 7 : bit & ~7) - BITMAP_REACH;
        continue;
      }
    }
    if (hasLiquidity(bitmap, index)) found.push(index);
  }
  return found;
}

function hasLiquidity({ pair, extension }: ArrayBitmap, index: number): boolean {
  if (index >= -BITMAP_REACH && index < BITMAP_REACH) return bitAt(pair, BITMAP_OFFSET, index + BITMAP_REACH);
  if (extension === undefined) return false;
  return index > 0
    ? bitAt(extension, EXTENSION_POSITIVE_OFFSET, index - BITMAP_REACH)
    : bitAt(extension, EXTENSION_NEGATIVE_OFFSET, -index - 1 - BITMAP_REACH);
}

const bitAt = (bytes: Uint8Array, offset: number, bit: number): boolean =>
  ((bytes[offset + (bit >> 3)]! >> (bit & 7)) & 1) === 1;

/** Address of a pair's bitmap extension, whether it exists or not. */
export const bitmapExtensionOf = definePda(DLMM_PROGRAM, "bitmap");

/** Address of a pair's bin array by its index. */
export const binArrayOf = defineIndexedPda(DLMM_PROGRAM, "bin_array", (index) => {
  const seed = new Uint8Array(8);
  viewOf(seed).setBigInt64(0, BigInt(index), true);
  return seed;
});

/** Address of a preset by its index. */
export function presetAddress(index: number): Address {
  return derive(DLMM_PROGRAM, "preset_parameter2", Uint8Array.of(index & 0xff, index >> 8));
}

/** Found when they are first guessed with, not at every start. */
let presets: readonly Address[] | undefined;
const launchBase = Address.of(DLMM_LAUNCH_BASE);

/** Addresses of the mints' derived pairs: under each preset, and the launch pair. */
export function dlmmPairAddresses({ a, b }: MintPair): Address[] {
  const [first, second] = compareAddresses(a, b) < 0 ? [a, b] : [b, a];
  presets ??= Array.from({ length: DLMM_PRESET_COUNT }, (_, index) => presetAddress(index));
  return [launchBase, ...presets].map((seed) => derive(DLMM_PROGRAM, seed, first, second));
}
