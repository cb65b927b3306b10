import { Address } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU64, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { definePda } from "../../solana/derived-address.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { addressAt, addressesAt, flagAt } from "../shared/pump-accounts.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import type { Market, MintPair } from "../venue.ts";

export const PUMP_PROGRAM = Address.of("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P");

/** Fixed accounts of the program, with their seeds. */
export const PUMP_GLOBAL = Address.of("4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf"); // "global"
export const PUMP_EVENT_AUTHORITY = Address.of("Ce6TQqeHC9p8KetsN6JsjHK7UTZk7nasjjnr7XxXp9F1"); // "__event_authority"
export const PUMP_GLOBAL_VOLUME = Address.of("Hq2wp8uJ9jCPsYgNHex8RtqdvMPfVGoYwjvF1ATiwn2Y"); // "global_volume_accumulator"
export const PUMP_FEE_CONFIG = Address.of("8Wf5TiAheLUqBrKXeYg2JtAFFMWtKdG2BSFgqUcPVwTt"); // "fee_config", program, at the fee program

const CURVE_DISCRIMINATOR = hex("17b7f83760d8ac60");
const GLOBAL_DISCRIMINATOR = hex("a7e8e8b1c86c727f");
const SHARING_DISCRIMINATOR = hex("d84a0900388c5d4b");
/** The shortest layout of a curve: up to and including `complete`. */
const CURVE_MIN_SIZE = 49;
/** Builds whose curves have a depth ask this of the settings. */
const DEPTH_SETTINGS_SIZE = 1_088;
/** What a trade enlarges the account of a shorter curve to, at the wallet's expense: on those builds, and on earlier ones. */
const DEPTH_CURVE_SIZE = 166;
const EARLIER_CURVE_SIZE = 141;

/** A coin on its bonding curve. `mints` is the coin, then what it is priced in. */
export interface PumpFunMarket extends Market {
  readonly venue: "pump_fun";
}

/** A bonding curve. Amounts in base units. @see pump-sdk IDL pump, account BondingCurve */
export interface BondingCurve {
  readonly virtualTokens: bigint;
  readonly virtualQuote: bigint;
  readonly realTokens: bigint;
  readonly realQuote: bigint;
  readonly tokenTotalSupply: bigint;
  readonly complete: boolean;
  /** The system program where the coin has no creator. */
  readonly creator: Address;
  readonly mayhem: boolean;
  readonly cashback: boolean;
  /** Wrapped SOL for coins priced in lamports. */
  readonly quoteMint: Address;
  /** True if the account names wrapped SOL: the program then moves that token, not lamports. */
  readonly namesWrappedSol: boolean;
  /** 0: the fee schedule's rate. */
  readonly creatorFeeBps: bigint;
  /** Fees that the curve holds beside `realQuote` until somebody sweeps them. */
  readonly owedFees: bigint;
}

/** The parts of the program's settings account that trading depends on. */
export interface PumpGlobal {
  readonly feeRecipients: readonly Address[];
  readonly mayhemFeeRecipients: readonly Address[];
  readonly buybackFeeRecipients: readonly Address[];
  readonly creatorFeeConfigurable: boolean;
  /** Bytes to which a trade enlarges the account of a shorter curve, at most: an earlier build may know longer settings too. */
  readonly curveSize: number;
}

/** Reads a curve of any age: fields a shorter account lacks are zero. Undefined if the account is no curve. */
export function decodeBondingCurve({ owner, data }: Account): BondingCurve | undefined {
  if (owner !== PUMP_PROGRAM || data.length < CURVE_MIN_SIZE || !hasBytesAt(data, 0, CURVE_DISCRIMINATOR)) {
    return undefined;
  }
  const quoteMint = addressAt(data, 83);
  return {
    virtualTokens: readU64(data, 8),
    virtualQuote: readU64(data, 16),
    realTokens: readU64(data, 24),
    realQuote: readU64(data, 32),
    tokenTotalSupply: readU64(data, 40),
    complete: data[48] !== 0,
    creator: addressAt(data, 49),
    mayhem: flagAt(data, 81),
    cashback: flagAt(data, 82),
    quoteMint: quoteMint === SYSTEM_PROGRAM ? SOL_MINT : quoteMint,
    namesWrappedSol: quoteMint === SOL_MINT,
    // Without the byte that says whether it can be edited, the program takes none.
    creatorFeeBps: data.length >= 124 ? readU64(data, 115) : 0n,
    owedFees: data.length >= 141 ? readU64(data, 125) + readU64(data, 133) : 0n,
  };
}

/** Decodes the settings account; undefined if it is none. Unset recipients are left out. */
export function decodePumpGlobal({ owner, data }: Account): PumpGlobal | undefined {
  if (owner !== PUMP_PROGRAM || !hasBytesAt(data, 0, GLOBAL_DISCRIMINATOR)) return undefined;
  const list = (at: number, count: number) => addressesAt(data, at, count);
  return {
    feeRecipients: [...list(41, 1), ...list(162, 7)],
    mayhemFeeRecipients: [...list(483, 1), ...list(516, 7)],
    buybackFeeRecipients: list(741, 8),
    creatorFeeConfigurable: flagAt(data, 1045),
    curveSize: data.length < DEPTH_SETTINGS_SIZE ? EARLIER_CURVE_SIZE : DEPTH_CURVE_SIZE,
  };
}

/** How many share the creator's fee by a coin's settings; undefined if the account is none. @see pump-sdk IDL pump_fees, SharingConfig */
export function countShareholders({ owner, data }: Account): number | undefined {
  if (owner !== PUMP_FEE_PROGRAM || data.length < 80 || !hasBytesAt(data, 0, SHARING_DISCRIMINATOR)) return undefined;
  return viewOf(data).getUint32(76, true);
}

/** The curve of a coin, by its mint. */
export const bondingCurveOf = definePda(PUMP_PROGRAM, "bonding-curve");
/** The second account of a coin's curve, by its mint: the older instructions name it, whether or not it exists. */
export const secondCurveOf = definePda(PUMP_PROGRAM, "bonding-curve-v2");
/** A creator's fee vault, by the creator. */
export const pumpCreatorVaultOf = definePda(PUMP_PROGRAM, "creator-vault");
/** A coin's fee sharing settings, by its mint. */
export const sharingConfigOf = definePda(PUMP_FEE_PROGRAM, "sharing-config");
/** A wallet's volume account, by the wallet. */
export const pumpUserVolumeOf = definePda(PUMP_PROGRAM, "user_volume_accumulator");

/**
 * The market in a curve account. A curve does not name its coin: the coin is the mint of `pair` whose curve this is.
 */
export function decodePumpFunMarket(account: Account, pair: MintPair): PumpFunMarket | undefined {
  const curve = decodeBondingCurve(account);
  if (curve === undefined) return undefined;
  const coin = [pair.a, pair.b].find(
    (mint) => mint !== curve.quoteMint && bondingCurveOf(mint).address === account.address,
  );
  if (coin === undefined) return undefined;
  return {
    venue: "pump_fun",
    address: account.address,
    mints: [coin, curve.quoteMint],
    nativeSol: curve.quoteMint === SOL_MINT,
  };
}
