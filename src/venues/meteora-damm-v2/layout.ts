import { Address, compareAddresses } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU16, readU32, readU64, readU128 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { derive } from "../../solana/pda.ts";
import type { PriceVolatility } from "../curves/price-volatility.ts";
import { type BaseFee, partsOfBps, volatilityFee } from "../curves/scheduled-fee.ts";
import type { Market, MintPair } from "../venue.ts";
import { DAMM_V2_MIGRATION_CONFIGS, DAMM_V2_PUBLIC_CONFIGS } from "./known-configs.ts";

export const DAMM_V2_PROGRAM = Address.of("cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG");

/** Owns every vault. Seed "pool_authority". */
export const DAMM_V2_AUTHORITY = Address.of("HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC");

/** Seed "__event_authority". */
export const DAMM_V2_EVENT_AUTHORITY = Address.of("3rmHSu74h1ZcmAisVcWerTCiRDQbUrBKmcwptYGjHfet");

export const DAMM_V2_POOL_SIZE = 1112;
export const DAMM_V2_MINT_A_OFFSET = 168;
export const DAMM_V2_MINT_B_OFFSET = 200;

/** Everything read here lies before this offset; rewards follow. */
const POOL_MIN_SIZE = 704;
const POOL_DISCRIMINATOR = hex("f19a6d0411b16dbc");

/** Upper bound of a trade's fee, by the pool's fee version. Parts per billion. */
const FEE_CAPS: readonly bigint[] = [500_000_000n, 990_000_000n];

/** The fixed part of a pool. */
export interface DammV2Market extends Market {
  readonly venue: "meteora_damm_v2";
  readonly vaults: readonly [Address, Address];
}

/** Where the fee is taken. */
type FeeSide = "output" | "tokenB";

/** How a pool's fee follows volatility. */
interface DammV2Volatility extends PriceVolatility {
  readonly binStep: bigint;
  readonly control: bigint;
}

/**
 * The part of a pool that quotes depend on. Square-root prices of B per A in Q64.64; liquidity scaled by 2^64; fees in parts per
 * billion.
 */
export interface DammV2Pool {
  readonly baseFee: BaseFee;
  /** Undefined if the fee does not follow it. */
  readonly volatility: DammV2Volatility | undefined;
  /** The part of the fee that follows volatility: as of the last trade, which is what the next one pays. */
  readonly volatilityFee: bigint;
  readonly feeCap: bigint;
  readonly feeSide: FeeSide;
  /** True: constant product over `reserves`, fees compounding. False: constant liquidity between two prices. */
  readonly compounding: boolean;
  /** Hundredths of a fee that the protocol takes. */
  readonly protocolPercent: bigint;
  /** Ten-thousandths of the rest that compound. */
  readonly compoundingBps: bigint;
  readonly firstSqrtPrice: bigint;
  readonly liquidity: bigint;
  readonly minSqrtPrice: bigint;
  readonly maxSqrtPrice: bigint;
  readonly sqrtPrice: bigint;
  readonly reserves: readonly [bigint, bigint];
  readonly activationPoint: bigint;
  /** True: points are Unix seconds. False: slots. */
  readonly countsSeconds: boolean;
  readonly enabled: boolean;
  /** False if no trade since the layout changed has touched the pool: the next one migrates it. */
  readonly migrated: boolean;
}

/** True if the account is a pool. */
export function isDammV2Pool({ owner, data }: Account): boolean {
  return owner === DAMM_V2_PROGRAM && data.length >= POOL_MIN_SIZE && hasBytesAt(data, 0, POOL_DISCRIMINATOR);
}

/** Decodes a pool account; undefined if it is none. @see @meteora-ag/cp-amm-sdk 1.5.0 IDL, account Pool */
export function decodeDammV2Market(account: Account): DammV2Market | undefined {
  if (!isDammV2Pool(account)) return undefined;
  const { address, data } = account;
  return {
    venue: "meteora_damm_v2",
    address,
    mints: [Address.from(data, DAMM_V2_MINT_A_OFFSET), Address.from(data, DAMM_V2_MINT_B_OFFSET)],
    nativeSol: false,
    vaults: [Address.from(data, 232), Address.from(data, 264)],
  };
}

/** The changing part of a pool account; undefined if it uses a fee mode or version not supported here. */
export function decodeDammV2Pool({ data }: Account): DammV2Pool | undefined {
  const baseFee = decodeBaseFee(data);
  const feeCap = FEE_CAPS[data[486]!];
  const collectMode = data[484]!;
  const layoutVersion = data[696]!;
  if (baseFee === undefined || feeCap === undefined || collectMode > COMPOUNDING || layoutVersion > 1) return undefined;
  const volatility = data[56] === 0 ? undefined : decodeVolatility(data);
  return {
    baseFee,
    volatility,
    volatilityFee: volatility ? volatilityFee(volatility.accumulated, volatility.binStep, volatility.control) : 0n,
    feeCap,
    feeSide: collectMode === 0 ? "output" : "tokenB",
    compounding: collectMode === COMPOUNDING,
    protocolPercent: BigInt(data[48]!),
    compoundingBps: BigInt(readU16(data, 54)),
    firstSqrtPrice: readU128(data, 152),
    liquidity: readU128(data, 360),
    minSqrtPrice: readU128(data, 424),
    maxSqrtPrice: readU128(data, 440),
    sqrtPrice: readU128(data, 456),
    activationPoint: readU64(data, 472),
    countsSeconds: data[480] === 1,
    enabled: data[481] === 0,
    reserves: [readU64(data, 680), readU64(data, 688)],
    migrated: layoutVersion === 1,
  };
}

const COMPOUNDING = 2;

function decodeVolatility(data: Uint8Array): DammV2Volatility {
  return {
    binStep: BigInt(readU16(data, 72)),
    control: BigInt(readU32(data, 68)),
    maximum: BigInt(readU32(data, 64)),
    stepQ64: readU128(data, 88),
    filterPeriod: BigInt(readU16(data, 74)),
    decayPeriod: BigInt(readU16(data, 76)),
    reductionFactor: BigInt(readU16(data, 78)),
    updatedAt: readU64(data, 80),
    priceReference: readU128(data, 104),
    accumulated: readU128(data, 120),
    reference: readU128(data, 136),
  };
}

/** The 32 bytes of base fee at offset 8, whose meaning depends on the mode byte at 16. */
function decodeBaseFee(data: Uint8Array): BaseFee | undefined {
  const cliff = readU64(data, 8);
  const mode = data[16]!;
  const first = readU16(data, 22);
  const reduction = readU64(data, 32);
  switch (mode) {
    case 0:
    case 1:
      return {
        kind: "timeSchedule",
        cliff,
        exponential: mode === 1,
        periods: BigInt(first),
        frequency: readU64(data, 24),
        reduction,
      };
    case 2:
      return {
        kind: "rateLimiter",
        cliff,
        increment: partsOfBps(first),
        duration: BigInt(readU32(data, 24)),
        maximum: partsOfBps(readU32(data, 28)),
        reference: reduction,
      };
    case 3:
    case 4:
      return {
        kind: "marketCapSchedule",
        cliff,
        exponential: mode === 4,
        periods: BigInt(first),
        stepBps: BigInt(readU32(data, 24)),
        duration: BigInt(readU32(data, 28)),
        reduction,
      };
    default:
      return undefined;
  }
}

/** The pair in the order of pool seeds: the larger key first. */
function seedMints({ a, b }: MintPair): readonly [Address, Address] {
  return compareAddresses(a, b) > 0 ? [a, b] : [b, a];
}

const configs = [...DAMM_V2_PUBLIC_CONFIGS, ...DAMM_V2_MIGRATION_CONFIGS].map(Address.of);

/** Addresses of the pair's derived pools: one per published configuration, and the customizable one. */
export function dammV2PoolAddresses(pair: MintPair): Address[] {
  const [first, second] = seedMints(pair);
  return [
    derive(DAMM_V2_PROGRAM, "cpool", first, second),
    ...configs.map((config) => derive(DAMM_V2_PROGRAM, "pool", config, first, second)),
  ];
}
