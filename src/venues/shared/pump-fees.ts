import { Address } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU64, readU128, viewOf } from "../../primitives/bytes.ts";
import { ceilDiv } from "../../primitives/integer.ts";
import type { Account } from "../../solana/account.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";

/** The program that holds the fee schedules of the Pump curve and of PumpSwap. */
export const PUMP_FEE_PROGRAM = Address.of("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ");

/** The Token-2022 wrapped-SOL mint, charged like SOL. */
const NATIVE_MINT_2022 = Address.of("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9");

const FEE_CONFIG_DISCRIMINATOR = hex("8f3492bbdb7b4c9b");
/** Sizes of the account over time: with SOL tiers only, with stable tiers, with exotic fees. Bytes beyond a layout are not read. */
const MIN_SIZE = 2_512;
const WITH_STABLE_SIZE = 4_073;
const WITH_EXOTIC_SIZE = 4_097;
const FLAT_FEES_OFFSET = 41;
const FEES_SIZE = 24;
const TIER_SIZE = 16 + FEES_SIZE;

export const BPS = 10_000n;

/** Rates in hundredths of a percent of the quote amount. */
export interface PumpFees {
  readonly lp: bigint;
  readonly protocol: bigint;
  readonly creator: bigint;
}

interface FeeTier {
  /** Market capitalisation from which the tier holds, in base units of the quote mint. */
  readonly threshold: bigint;
  readonly fees: PumpFees;
}

/** A fee configuration of the fee program. @see pump-sdk IDL pump_fees, account FeeConfig */
interface PumpFeeConfig {
  readonly flat: PumpFees;
  /** In ascending order of threshold. */
  readonly tiers: readonly FeeTier[];
  readonly stableTiers: readonly FeeTier[];
  readonly exotic: PumpFees;
}

/**
 * Decodes a fee configuration of any version: fields that an older, shorter account lacks are empty. Undefined if it is none.
 *
 * @see pump-sdk `sdk.ts`, decodeFeeConfig
 */
export function decodePumpFeeConfig({ owner, data }: Account): PumpFeeConfig | undefined {
  if (owner !== PUMP_FEE_PROGRAM || data.length < MIN_SIZE || !hasBytesAt(data, 0, FEE_CONFIG_DISCRIMINATOR)) {
    return undefined;
  }
  const sol = tiersAt(data, FLAT_FEES_OFFSET + FEES_SIZE);
  if (sol === undefined) return undefined;
  const stable = data.length >= WITH_STABLE_SIZE ? tiersAt(data, sol.end) : { tiers: [], end: sol.end };
  if (stable === undefined) return undefined;
  const hasExotic = data.length >= WITH_EXOTIC_SIZE;
  if (hasExotic && stable.end + FEES_SIZE > data.length) return undefined;
  const exotic = hasExotic ? feesAt(data, stable.end) : NO_FEES;
  return { flat: feesAt(data, FLAT_FEES_OFFSET), tiers: sol.tiers, stableTiers: stable.tiers, exotic };
}

const NO_FEES: PumpFees = { lp: 0n, protocol: 0n, creator: 0n };

/** A counted list of tiers, and its end. */
interface TierList {
  readonly tiers: readonly FeeTier[];
  readonly end: number;
}

/** Decodes a counted list of tiers; undefined if it runs past the end of the data. */
function tiersAt(data: Uint8Array, start: number): TierList | undefined {
  if (start + 4 > data.length) return undefined;
  const count = viewOf(data).getUint32(start, true);
  const end = start + 4 + count * TIER_SIZE;
  if (end > data.length) return undefined;
  const tiers = Array.from({ length: count }, (_, index) => {
    const at = start + 4 + index * TIER_SIZE;
    return { threshold: readU128(data, at), fees: feesAt(data, at + 16) };
  });
  return { tiers, end };
}

function feesAt(data: Uint8Array, at: number): PumpFees {
  return { lp: readU64(data, at), protocol: readU64(data, at + 8), creator: readU64(data, at + 16) };
}

/**
 * The rates of a Pump coin's curve or canonical pool: by market capitalisation for SOL and USDC, flat for other quotes.
 *
 * @param marketCap in base units of the quote mint
 * @returns undefined if the applicable schedule is empty, which the program refuses
 */
export function pumpFeesFor(config: PumpFeeConfig, quoteMint: Address, marketCap: bigint): PumpFees | undefined {
  if (quoteMint === SOL_MINT || quoteMint === NATIVE_MINT_2022) return tierFees(config.tiers, marketCap);
  // The one quote mint of the stable schedule: the fee program has it hard-coded.
  if (quoteMint === USDC_MINT) return tierFees(config.stableTiers, marketCap);
  const { lp, protocol, creator } = config.exotic;
  return lp === 0n && protocol === 0n && creator === 0n ? config.flat : config.exotic;
}

function tierFees(tiers: readonly FeeTier[], marketCap: bigint): PumpFees | undefined {
  let fees = tiers[0]?.fees;
  for (const tier of tiers) if (marketCap >= tier.threshold) fees = tier.fees;
  return fees;
}

/** A fee on a quote amount, rounded up. */
export function pumpFee(amount: bigint, bps: bigint): bigint {
  return ceilDiv(amount * bps, BPS);
}
