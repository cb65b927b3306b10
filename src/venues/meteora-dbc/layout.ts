import { Address } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU64, readU128, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { definePairPda } from "../../solana/derived-address.ts";
import type { PriceVolatility } from "../curves/price-volatility.ts";
import { type BaseFee, isPriceableFee, partsOfBps, volatilityFee } from "../curves/scheduled-fee.ts";
import type { Market, MintPair } from "../venue.ts";
import { DBC_QUOTE_MINTS } from "./known-configs.ts";

export const DBC_PROGRAM = Address.of("dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN");

/** Owns every vault. Seed "pool_authority". */
export const DBC_AUTHORITY = Address.of("FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM");

/** Seed "__event_authority". */
export const DBC_EVENT_AUTHORITY = Address.of("8Ks12pbrD6PXxfty1hVQiE9sc289zgU1zHkvXhrSdriF");

export const DBC_POOL_SIZE = 424;
export const DBC_BASE_MINT_OFFSET = 136;

const POOL_DISCRIMINATOR = hex("d5e005d16245775c");
const HOOKED_POOL_DISCRIMINATOR = hex("eddbb8172abda923");
/** Everything read of a pool lies before this offset. */
const POOL_MIN_SIZE = 371;

const CONFIG_DISCRIMINATOR = hex("1a6c0e7b74e6812b");
const HOOKED_CONFIG_DISCRIMINATOR = hex("28dcc2fb29c77bfd");
const CONFIG_MIN_SIZE = 1048;
const CURVE_OFFSET = 408;
const CURVE_POINT_SIZE = 32;
const CURVE_POINTS = 20;

/** Upper bound of a trade's fee: 99 %. */
const MAX_FEE = 990_000_000n;

/** True for mints that coins are quoted in: these are never a pool's own coin. */
export function isDbcQuoteMint(mint: Address): boolean {
  return DBC_QUOTE_MINTS.includes(mint);
}

/** The fixed part of a pool. `mints` are the coin, then its quote mint. */
export interface DbcMarket extends Market {
  readonly venue: "meteora_dbc";
  readonly config: Address;
  readonly vaults: readonly [Address, Address];
  /** True if the coin was made with a transfer hook, which needs another instruction. */
  readonly hooked: boolean;
}

/** The part of a pool that trades change. */
export interface DbcPool {
  /** Square root of quote per coin, Q64.64. */
  readonly sqrtPrice: bigint;
  readonly quoteReserve: bigint;
  readonly activationPoint: bigint;
  readonly migrated: boolean;
  /** False until the first trade. */
  readonly hasSwapped: boolean;
  /** Volatility as of the last trade: what the next one pays for. */
  readonly volatility: bigint;
  /** What the last trade left to count it from: a time in Unix seconds, a square-root price, the decayed volatility. */
  readonly volatilityFrom: { readonly updatedAt: bigint; readonly priceReference: bigint; readonly reference: bigint };
}

/** One stretch of the curve: constant liquidity (scaled by 2^64) from `lower` to `upper`, square-root prices in Q64.64. */
interface DbcSegment {
  readonly lower: bigint;
  readonly upper: bigint;
  readonly liquidity: bigint;
}

/** How the fee follows volatility. */
interface DbcVolatilityTerms
  extends Omit<PriceVolatility, "updatedAt" | "priceReference" | "reference" | "accumulated"> {
  readonly binStep: bigint;
  readonly control: bigint;
}

/** The terms a pool was launched with. */
export interface DbcConfig {
  readonly quoteMint: Address;
  readonly baseFee: BaseFee;
  /** Undefined: the fee does not follow volatility. */
  readonly volatility: DbcVolatilityTerms | undefined;
  readonly feeCap: bigint;
  /** True: fees are taken from whatever comes out. False: always from the quote token. */
  readonly feeOnOutput: boolean;
  /** True: points are Unix seconds. False: slots. */
  readonly countsSeconds: boolean;
  /** True if the first trade of a pool, made with its creation, pays the least fee. */
  readonly eagerFirstSwap: boolean;
  /** Quote amount at which the curve is complete. */
  readonly migrationThreshold: bigint;
  readonly migrationSqrtPrice: bigint;
  /** From the lowest price up. */
  readonly segments: readonly DbcSegment[];
}

/** True if the account is a pool, with or without a transfer hook. */
export function isDbcPool({ owner, data }: Account): boolean {
  if (owner !== DBC_PROGRAM || data.length < POOL_MIN_SIZE) return false;
  return hasBytesAt(data, 0, POOL_DISCRIMINATOR) || hasBytesAt(data, 0, HOOKED_POOL_DISCRIMINATOR);
}

/** A pool's vault of a mint, by the mint and the pool. */
const vaultOf = definePairPda(DBC_PROGRAM, "token_vault");

/**
 * Decodes a pool account; undefined if it is none of the pair. A pool names its coin but not its quote mint: that
 * is the other mint of the pair if the pool's quote vault is derived from it, which is searched for once.
 *
 * @see @meteora-ag/dynamic-bonding-curve-sdk 1.5.12 IDL, accounts VirtualPool and TransferHookPool
 */
export function decodeDbcMarket(account: Account, { a, b }: MintPair): DbcMarket | undefined {
  if (!isDbcPool(account)) return undefined;
  const { address, data } = account;
  const coin = Address.from(data, DBC_BASE_MINT_OFFSET);
  if (coin !== a && coin !== b) return undefined;
  const quoteMint = coin === a ? b : a;
  const quoteVault = Address.from(data, 200);
  if (vaultOf(quoteMint, address).address !== quoteVault) return undefined;
  return {
    venue: "meteora_dbc",
    address,
    mints: [coin, quoteMint],
    nativeSol: false,
    config: Address.from(data, 72),
    vaults: [Address.from(data, 168), quoteVault],
    hooked: hasBytesAt(data, 0, HOOKED_POOL_DISCRIMINATOR),
  };
}

/** The changing part of a pool account that `isDbcPool` accepts. */
export function decodeDbcPool({ data }: Account): DbcPool {
  return {
    sqrtPrice: readU128(data, 280),
    quoteReserve: readU64(data, 240),
    activationPoint: readU64(data, 296),
    migrated: data[305] !== 0,
    hasSwapped: data[370] !== 0,
    volatility: readU128(data, 40),
    volatilityFrom: {
      updatedAt: readU64(data, 8),
      priceReference: readU128(data, 24),
      reference: readU128(data, 56),
    },
  };
}

/**
 * The terms in a configuration account, or undefined if it is none or of a kind not supported here.
 * @param hooked true for pools whose coin has a transfer hook: their configurations have a type of their own
 */
export function decodeDbcConfig({ owner, data }: Account, hooked: boolean): DbcConfig | undefined {
  if (owner !== DBC_PROGRAM || data.length < CONFIG_MIN_SIZE) return undefined;
  if (!hasBytesAt(data, 0, hooked ? HOOKED_CONFIG_DISCRIMINATOR : CONFIG_DISCRIMINATOR)) return undefined;
  const baseFee = decodeBaseFee(data);
  const collectFeeMode = data[232]!;
  const activationType = data[234]!;
  if (baseFee === undefined || !isPriceableFee(baseFee) || collectFeeMode > 1 || activationType > 1) return undefined;
  const view = viewOf(data);
  const migrationSqrtPrice = readU128(data, 280);
  return {
    quoteMint: Address.from(data, 8),
    baseFee,
    volatility:
      data[136] === 0
        ? undefined
        : {
            binStep: BigInt(view.getUint16(152, true)),
            control: BigInt(view.getUint32(148, true)),
            maximum: BigInt(view.getUint32(144, true)),
            stepQ64: readU128(data, 168),
            filterPeriod: BigInt(view.getUint16(154, true)),
            decayPeriod: BigInt(view.getUint16(156, true)),
            reductionFactor: BigInt(view.getUint16(158, true)),
          },
    feeCap: MAX_FEE,
    feeOnOutput: collectFeeMode === 1,
    countsSeconds: activationType === 1,
    eagerFirstSwap: data[365] !== 0,
    migrationThreshold: readU64(data, 264),
    migrationSqrtPrice,
    segments: decodeSegments(data),
  };
}

/** The part of the fee that follows volatility, in parts per billion. */
export function dbcVolatilityFee({ volatility }: DbcConfig, pool: DbcPool): bigint {
  return volatility === undefined ? 0n : volatilityFee(pool.volatility, volatility.binStep, volatility.control);
}

function decodeSegments(data: Uint8Array): DbcSegment[] {
  const segments: DbcSegment[] = [];
  let lower = readU128(data, 392);
  for (let index = 0; index < CURVE_POINTS; index++) {
    const at = CURVE_OFFSET + index * CURVE_POINT_SIZE;
    const upper = readU128(data, at);
    const liquidity = readU128(data, at + 16);
    if (upper === 0n || liquidity === 0n) break;
    segments.push({ lower, upper, liquidity });
    lower = upper;
  }
  return segments;
}

function decodeBaseFee(data: Uint8Array): BaseFee | undefined {
  const cliff = readU64(data, 104);
  const second = readU64(data, 112);
  const third = readU64(data, 120);
  const first = viewOf(data).getUint16(128, true);
  const mode = data[130]!;
  switch (mode) {
    case 0:
    case 1:
      return {
        kind: "timeSchedule",
        cliff,
        exponential: mode === 1,
        periods: BigInt(first),
        frequency: second,
        reduction: third,
      };
    case 2:
      return {
        kind: "rateLimiter",
        cliff,
        increment: partsOfBps(first),
        maximum: MAX_FEE,
        reference: third,
        duration: second,
      };
    default:
      return undefined;
  }
}
