import { Address, compareAddresses } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU64, writeU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { derive } from "../../solana/pda.ts";
import type { Market, MintPair } from "../venue.ts";
import { DAMM_V1_CONFIGS, DAMM_V1_FEE_TIERS } from "./known-configs.ts";

export const DAMM_V1_PROGRAM = Address.of("Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB");
/** Holds the tokens of all pools of a mint, and lends them out. */
export const VAULT_PROGRAM = Address.of("24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi");

export const DAMM_V1_MINT_A_OFFSET = 40;
export const DAMM_V1_MINT_B_OFFSET = 72;

const POOL_DISCRIMINATOR = hex("f19a6d0411b16dbc");
const CURVE_OFFSET = 874;
const STABLE_END = 917;
const VAULT_DISCRIMINATOR = hex("d308e82b02987577");
const VAULT_MIN_SIZE = 1227;

/** State accounts that hold the price of staked SOL: Marinade's and Lido's. */
const MARINADE_STATE = Address.of("8szGkuLTAux9XMgZ2vtY39jVSowEcpBfFfD8hXSEqdGC");
const LIDO_STATE = Address.of("49Yi1TKkNyYjPAFdR9LBvoHcUjuPX4Df5T5yv39w2XTn");
const MARINADE_TYPE = hex("d8926b5e684bb6b1");

/** Owners of these accounts, and of stake pools: those of the stake pool program and of Sanctum's two builds of it. */
const MARINADE_PROGRAM = Address.of("MarBmsSgKXdrN1egZf5sqe1TMai9K1rChYNDJgjq7aD");
const LIDO_PROGRAM = Address.of("CrX7kMhLC3cSsXJdT7JDgqrRVWGnUpX3gfEfxxU2NVLi");
const STAKE_POOL_PROGRAMS = [
  "SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUnakuHy",
  "SP12tWFxD9oJsVWNavTTBZvMbA6gkAmxtVgxdqvyvhY",
  "SPMBzsVUuoHA4Jm6KunbsotaahvVikZs1JyTW6iJvbn",
].map(Address.of);
/** First byte of a stake pool; the program's lists of validators have another. */
const STAKE_POOL_TYPE = 1;

/** The kind of staked SOL of a pool's token B, by the program's number. */
type DepegKind = "none" | "marinade" | "lido" | "stakePool";
const DEPEG_KINDS: readonly DepegKind[] = ["none", "marinade", "lido", "stakePool"];

/** The fixed part of a pool. */
export interface DammV1Market extends Market {
  readonly venue: "meteora_damm_v1";
  readonly vaults: readonly [Address, Address];
  /** The pool's shares of the vaults. */
  readonly shares: readonly [Address, Address];
  readonly protocolFees: readonly [Address, Address];
  /** The account that holds staked SOL's price; undefined if neither token is staked SOL. */
  readonly stake: Address | undefined;
}

/** Two coins worth about the same. */
export interface StableCurve {
  readonly amplification: bigint;
  /** Bring both tokens to one precision. */
  readonly multipliers: readonly [bigint, bigint];
  readonly depeg: DepegKind;
  /** Value of token B in token A, in millionths, as the pool last stored it. */
  readonly rememberedPrice: bigint;
  /** Unix time at which it was stored. */
  readonly rememberedAt: bigint;
}

/** The part of a pool that quotes depend on. */
export interface DammV1Pool {
  readonly enabled: boolean;
  readonly tradeFee: Fraction;
  /** The protocol's part of the trade fee. */
  readonly protocolFee: Fraction;
  readonly activationPoint: bigint;
  readonly countsSeconds: boolean;
  /** Undefined: constant product. */
  readonly stable: StableCurve | undefined;
}

/** A share, as the program writes it. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A vault as its pools see it. Amounts in base units of its token. */
export interface DammV1Vault {
  /** False: it takes no deposits but still pays out. */
  readonly enabled: boolean;
  readonly total: bigint;
  readonly tokenVault: Address;
  readonly shareMint: Address;
  /** Profit still locked, as of the last report. */
  readonly lockedProfit: bigint;
  /** Unix seconds. */
  readonly lastReport: bigint;
  /** Parts per trillion of the locked profit that unlock each second. */
  readonly degradation: bigint;
}

/** True if the account is a pool with a curve known here. */
export function isDammV1Pool({ owner, data }: Account): boolean {
  if (owner !== DAMM_V1_PROGRAM || data.length <= CURVE_OFFSET || !hasBytesAt(data, 0, POOL_DISCRIMINATOR))
    return false;
  const curve = data[CURVE_OFFSET]!;
  return curve === 0 || (curve === 1 && data.length >= STABLE_END && data[916]! < DEPEG_KINDS.length);
}

/** Decodes a pool account; undefined if it is none. @see @meteora-ag/dynamic-amm-sdk 1.4.1 IDL, account Pool */
export function decodeDammV1Market(account: Account): DammV1Market | undefined {
  if (!isDammV1Pool(account)) return undefined;
  const { address, data } = account;
  return {
    venue: "meteora_damm_v1",
    address,
    mints: [Address.from(data, DAMM_V1_MINT_A_OFFSET), Address.from(data, DAMM_V1_MINT_B_OFFSET)],
    nativeSol: false,
    vaults: [Address.from(data, 104), Address.from(data, 136)],
    shares: [Address.from(data, 168), Address.from(data, 200)],
    protocolFees: [Address.from(data, 234), Address.from(data, 266)],
    stake: data[CURVE_OFFSET] === 1 ? stakeOf(data) : undefined,
  };
}

function stakeOf(data: Uint8Array): Address | undefined {
  switch (DEPEG_KINDS[data[916]!]) {
    case "marinade":
      return MARINADE_STATE;
    case "lido":
      return LIDO_STATE;
    case "stakePool":
      return Address.from(data, 363);
    default:
      return undefined;
  }
}

/** True if the program can price with the pool's numbers: none that it divides by is 0. */
export function isPriceable({ tradeFee, protocolFee, stable }: DammV1Pool): boolean {
  if (tradeFee.denominator === 0n || protocolFee.denominator === 0n) return false;
  return stable === undefined || (stable.amplification > 0n && stable.multipliers.every((factor) => factor > 0n));
}

/** The changing part of a pool account that `isDammV1Pool` accepts; undefined if it opens by a clock not known here. */
export function decodeDammV1Pool({ data }: Account): DammV1Pool | undefined {
  const activationType = data[475]!;
  if (activationType > 1) return undefined;
  return {
    enabled: data[233] !== 0,
    tradeFee: { numerator: readU64(data, 330), denominator: readU64(data, 338) },
    protocolFee: { numerator: readU64(data, 346), denominator: readU64(data, 354) },
    activationPoint: readU64(data, 403),
    countsSeconds: activationType === 1,
    stable:
      data[CURVE_OFFSET] === 0
        ? undefined
        : {
            amplification: readU64(data, 875),
            multipliers: [readU64(data, 883), readU64(data, 891)],
            rememberedPrice: readU64(data, 900),
            rememberedAt: readU64(data, 908),
            depeg: DEPEG_KINDS[data[916]!]!,
          },
  };
}

/** A vault, or undefined if the account is none. @see @meteora-ag/vault-sdk 2.3.1 IDL, account Vault */
export function decodeDammV1Vault({ owner, data }: Account): DammV1Vault | undefined {
  if (owner !== VAULT_PROGRAM || data.length < VAULT_MIN_SIZE || !hasBytesAt(data, 0, VAULT_DISCRIMINATOR)) {
    return undefined;
  }
  return {
    enabled: data[8] === 1,
    total: readU64(data, 11),
    tokenVault: Address.from(data, 19),
    shareMint: Address.from(data, 115),
    lockedProfit: readU64(data, 1203),
    lastReport: readU64(data, 1211),
    degradation: readU64(data, 1219),
  };
}

const MILLIONTHS = 1_000_000n;

/**
 * Current value of staked SOL, in millionths of SOL, rounded down; undefined if the account is too short or empty, of another type, or
 * not of a program that stakes: a pool's creator names its stake pool, and whose program it is would name the price.
 *
 * @see @meteora-ag/dynamic-amm-sdk 1.4.1 `curve/stable-swap`, getBasePoolVirtualPrice
 */
export function stakedPrice(kind: DepegKind, { owner, data }: Account): bigint | undefined {
  switch (kind) {
    case "marinade":
      if (owner !== MARINADE_PROGRAM || !hasBytesAt(data, 0, MARINADE_TYPE)) return undefined;
      return data.length < 520 ? undefined : (readU64(data, 512) * MILLIONTHS) >> 32n;
    case "lido":
      return owner === LIDO_PROGRAM ? ratioAt(data, 81, 73) : undefined;
    case "stakePool":
      if (!STAKE_POOL_PROGRAMS.includes(owner) || data[0] !== STAKE_POOL_TYPE) return undefined;
      return ratioAt(data, 258, 266);
    default:
      return undefined;
  }
}

function ratioAt(data: Uint8Array, numerator: number, denominator: number): bigint | undefined {
  if (data.length < Math.max(numerator, denominator) + 8) return undefined;
  const divisor = readU64(data, denominator);
  return divisor === 0n ? undefined : (readU64(data, numerator) * MILLIONTHS) / divisor;
}

const configs = DAMM_V1_CONFIGS.map(Address.of);

/** Addresses of the pair's derived pools: under each configuration, each fee tier of both curves, and the customizable one. */
export function dammV1PoolAddresses({ a, b }: MintPair): Address[] {
  const [first, second] = compareAddresses(a, b) > 0 ? [a, b] : [b, a];
  const tiers = [DAMM_V1_FEE_TIERS.constantProduct, DAMM_V1_FEE_TIERS.stable].flatMap((fees, curve) =>
    fees.map((bps, index) =>
      derive(DAMM_V1_PROGRAM, Uint8Array.of(curve), first, second, index === 0 ? new Uint8Array(0) : u64(bps)),
    ),
  );
  return [
    ...tiers,
    derive(DAMM_V1_PROGRAM, "pool", first, second),
    ...configs.map((config) => derive(DAMM_V1_PROGRAM, first, second, config)),
  ];
}

function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, BigInt(value));
  return bytes;
}
