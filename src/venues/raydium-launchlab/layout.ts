import { Address } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { definePairPda } from "../../solana/derived-address.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import { derive } from "../../solana/pda.ts";
import type { Market, MintPair } from "../venue.ts";

export const LAUNCHLAB_PROGRAM = Address.of("LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj");

/** Owns every vault of the program. Seed "vault_auth_seed". */
export const LAUNCHLAB_AUTHORITY = Address.of("WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh");

/** Seed "__event_authority". */
export const LAUNCHLAB_EVENT_AUTHORITY = Address.of("2DPAtwB8L12vrMRExbLuyGnC7n2J5LNoZQSejeQGpwkr");

const LAUNCHLAB_POOL_SIZE = 429;

const POOL_DISCRIMINATOR = hex("f7ede3f5d7c3de46");
const CONFIG_DISCRIMINATOR = hex("95089ccaa0fcb0d9");
const PLATFORM_DISCRIMINATOR = hex("a04e8000f853e6a0");
const CONFIG_MIN_SIZE = 35;
const PLATFORM_MIN_SIZE = 112;
const CREATOR_FEE_OFFSET = 720;

/** The fixed part of a pool. Its base token is what it sells, its quote token what it raises. */
export interface LaunchlabMarket extends Market {
  readonly venue: "raydium_launchlab";
  readonly config: Address;
  readonly platform: Address;
  readonly vaults: readonly [Address, Address];
  /** Collect the fees of the platform and of the coin's creator; the program creates missing ones. */
  readonly platformFeeVault: Address;
  readonly creatorFeeVault: Address;
}

/** 0: still selling. 1: sold out, waiting to migrate. 2: migrated to an AMM. */
export type LaunchlabStatus = 0 | 1 | 2;

/** The part of a pool that trades change. Base units. */
interface LaunchlabPool {
  readonly status: LaunchlabStatus;
  /** Base tokens for sale in all. */
  readonly totalBaseSell: bigint;
  readonly virtualBase: bigint;
  readonly virtualQuote: bigint;
  /** Base tokens sold so far. */
  readonly realBase: bigint;
  /** Quote tokens raised so far. */
  readonly realQuote: bigint;
}

/** The curve of a configuration, and its rate in millionths. */
interface LaunchlabConfig {
  readonly curveType: number;
  readonly tradeFeeRate: bigint;
}

/** Rates of a platform in millionths. */
interface LaunchlabPlatform {
  readonly feeRate: bigint;
  readonly creatorFeeRate: bigint;
}

/** True if the account is a pool. */
export function isLaunchlabPool({ owner, data }: Account): boolean {
  return owner === LAUNCHLAB_PROGRAM && data.length >= LAUNCHLAB_POOL_SIZE && hasBytesAt(data, 0, POOL_DISCRIMINATOR);
}

/** Where the fees of a platform or a creator in a mint are kept. */
const feeVaultOf = definePairPda(LAUNCHLAB_PROGRAM);

/** Decodes a pool account; undefined if it is none. Its fee vaults are searched for once. */
export function decodeLaunchlabMarket(account: Account): LaunchlabMarket | undefined {
  if (!isLaunchlabPool(account)) return undefined;
  const { address, data } = account;
  const platform = Address.from(data, 173);
  const quoteMint = Address.from(data, 237);
  return {
    venue: "raydium_launchlab",
    address,
    mints: [Address.from(data, 205), quoteMint],
    nativeSol: false,
    config: Address.from(data, 141),
    platform,
    vaults: [Address.from(data, 269), Address.from(data, 301)],
    platformFeeVault: feeVaultOf(platform, quoteMint).address,
    creatorFeeVault: feeVaultOf(Address.from(data, 333), quoteMint).address,
  };
}

/** The changing part of a pool account that `isLaunchlabPool` accepts. An unknown status counts as migrated. */
export function decodeLaunchlabPool({ data }: Account): LaunchlabPool {
  const status = data[17]!;
  return {
    status: status === 0 || status === 1 ? status : 2,
    totalBaseSell: readU64(data, 29),
    virtualBase: readU64(data, 37),
    virtualQuote: readU64(data, 45),
    realBase: readU64(data, 53),
    realQuote: readU64(data, 61),
  };
}

/** A global configuration, or undefined if the account is none. */
export function decodeLaunchlabConfig({ owner, data }: Account): LaunchlabConfig | undefined {
  if (owner !== LAUNCHLAB_PROGRAM || data.length < CONFIG_MIN_SIZE || !hasBytesAt(data, 0, CONFIG_DISCRIMINATOR)) {
    return undefined;
  }
  return { curveType: data[16]!, tradeFeeRate: readU64(data, 27) };
}

/** A platform's configuration, or undefined if the account is none. Accounts without a creator fee are older. */
export function decodeLaunchlabPlatform({ owner, data }: Account): LaunchlabPlatform | undefined {
  if (owner !== LAUNCHLAB_PROGRAM || data.length < PLATFORM_MIN_SIZE || !hasBytesAt(data, 0, PLATFORM_DISCRIMINATOR)) {
    return undefined;
  }
  const hasCreatorFee = data.length >= CREATOR_FEE_OFFSET + 8;
  return { feeRate: readU64(data, 104), creatorFeeRate: hasCreatorFee ? readU64(data, CREATOR_FEE_OFFSET) : 0n };
}

/**
 * Addresses of the pair's pools: either mint may be the coin. A coin is made together with its pool, so SOL and the dollar are
 * none, and addresses that no pool can have are not derived.
 */
export function launchlabPoolAddresses({ a, b }: MintPair): Address[] {
  const ways = [
    [a, b],
    [b, a],
  ] as const;
  return ways.flatMap(([coin, quote]) =>
    HUB_MINTS.includes(coin) ? [] : [derive(LAUNCHLAB_PROGRAM, "pool", coin, quote)],
  );
}
