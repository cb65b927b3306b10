import { Address } from "../../../../src/primitives/address.ts";
import { hex, writeU64 } from "../../../../src/primitives/bytes.ts";
import { associatedTokenAccount } from "../../../../src/solana/derived-address.ts";
import { findPda } from "../../../../src/solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../../../src/solana/programs.ts";
import {
  bondingCurveOf,
  PUMP_FEE_CONFIG,
  PUMP_GLOBAL,
  PUMP_GLOBAL_VOLUME,
  PUMP_PROGRAM,
  pumpCreatorVaultOf,
} from "../../../../src/venues/pump-fun/layout.ts";
import { PUMP_FEE_PROGRAM } from "../../../../src/venues/shared/pump-fees.ts";
import type { Svm } from "../../../support/svm.ts";

/** Rates in hundredths of a percent: liquidity, protocol, creator. */
export type Rates = readonly [bigint, bigint, bigint];

export interface FeeSchedules {
  readonly flat: Rates;
  readonly tiers: readonly (readonly [bigint, Rates])[];
  readonly stableTiers: readonly (readonly [bigint, Rates])[];
  readonly exotic: Rates;
}

const SOL = 1_000_000_000n;

/** Like the schedules seen on mainnet in September 2026: much for small coins, falling with market capitalisation. */
export const SCHEDULES: FeeSchedules = {
  flat: [25n, 5n, 0n],
  tiers: [
    [0n, [2n, 93n, 30n]],
    [420n * SOL, [20n, 5n, 95n]],
    [1_470n * SOL, [20n, 5n, 90n]],
    [98_240n * SOL, [20n, 5n, 5n]],
  ],
  stableTiers: [
    [0n, [2n, 93n, 30n]],
    [59_000_000_000n, [20n, 5n, 95n]],
    [20_000_000_000_000n, [20n, 5n, 5n]],
  ],
  exotic: [30n, 120n, 40n],
};

/** Schedules that give creators nothing. */
export const WITHOUT_CREATORS: FeeSchedules = {
  flat: [25n, 5n, 0n],
  tiers: [[0n, [20n, 5n, 0n]]],
  stableTiers: [[0n, [20n, 5n, 0n]]],
  exotic: [30n, 120n, 0n],
};

/** The data of a fee configuration with these schedules. */
export function feeConfigData(schedules: FeeSchedules, bump: number): Uint8Array {
  const { flat, tiers, stableTiers, exotic } = schedules;
  const data = new Uint8Array(4_097);
  data.set(hex("8f3492bbdb7b4c9b"));
  data[8] = bump;
  let at = 41;
  const rates = (values: Rates): void => {
    for (const value of values) {
      writeU64(data, at, value);
      at += 8;
    }
  };
  rates(flat);
  for (const list of [tiers, stableTiers]) {
    new DataView(data.buffer).setUint32(at, list.length, true);
    at += 4;
    for (const [threshold, values] of list) {
      writeU64(data, at, threshold);
      at += 16;
      rates(values);
    }
  }
  rates(exotic);
  return data;
}

/** The group of the eight addresses that buy back: "common for both programs", pump-public-docs `docs/BREAKING_FEE_RECIPIENT.md`. */
export const BUYBACK_GROUP = 3;

/** Addresses without known keys, which differ in their last bytes. */
export function recipientAddress(group: number, index: number): Address {
  const bytes = new Uint8Array(32).fill(0x51);
  bytes[30] = group;
  bytes[31] = index;
  return Address.from(bytes);
}

/** Bytes of the settings that the build knows: a flag more since curves have a depth. */
const settingsSizeOf = (svm: Svm): number =>
  svm.programFile(PUMP_PROGRAM)?.endsWith("pump_fun_2026.so") === true ? 1_087 : LATEST_SETTINGS_SIZE;
export const LATEST_SETTINGS_SIZE = 1_088;

/** Writes the program's settings, its fee schedules, its volume account and its fee recipients. */
export function writePumpSettings(
  svm: Svm,
  options: {
    readonly schedules?: FeeSchedules;
    readonly creatorFeeConfigurable?: boolean;
    readonly buybackBps?: bigint;
    readonly quoteMints?: readonly Address[];
    /** Bytes of the settings; absent: as many as the build knows. */
    readonly size?: number;
  } = {},
): void {
  const data = new Uint8Array(options.size ?? settingsSizeOf(svm));
  data.set(hex("a7e8e8b1c86c727f"));
  data[8] = 1;
  const put = (at: number, address: Address): void => data.set(address.bytes, at);
  const recipients: Address[] = [];
  const list = (group: number, at: number, count: number, first = 0): void => {
    for (let index = 0; index < count; index++) {
      const address = recipientAddress(group, first + index);
      recipients.push(address);
      put(at + 32 * index, address);
    }
  };
  list(1, 41, 1);
  list(1, 162, 7, 1);
  list(2, 483, 1);
  list(2, 516, 7, 1);
  list(BUYBACK_GROUP, 741, 8);
  writeU64(data, 73, 1_073_000_000_000_000n);
  writeU64(data, 81, 30n * SOL);
  writeU64(data, 89, 793_100_000_000_000n);
  writeU64(data, 97, 1_000_000_000_000_000n);
  writeU64(data, 105, 95n);
  writeU64(data, 154, 30n);
  data[450] = 1;
  data[515] = 1;
  data[740] = 1;
  writeU64(data, 997, options.buybackBps ?? 2_000n);
  const [listed] = options.quoteMints ?? [];
  if (listed !== undefined) put(1013, listed);
  data[1045] = options.creatorFeeConfigurable === true ? 1 : 0;
  writeU64(data, 1046, 500n);
  svm.setAccount({ address: PUMP_GLOBAL, owner: PUMP_PROGRAM, data });

  const volume = new Uint8Array(8 + 56 + 480);
  volume.set(hex("ca2af62b8ebe1eff"));
  svm.setAccount({ address: PUMP_GLOBAL_VOLUME, owner: PUMP_PROGRAM, data: volume });

  const { bump } = findPda([new TextEncoder().encode("fee_config"), PUMP_PROGRAM.bytes], PUMP_FEE_PROGRAM);
  svm.setAccount({
    address: PUMP_FEE_CONFIG,
    owner: PUMP_FEE_PROGRAM,
    data: feeConfigData(options.schedules ?? SCHEDULES, bump),
  });
  for (const address of recipients) {
    svm.setAccount({ address, owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports: SOL });
    for (const mint of options.quoteMints ?? []) svm.setTokens(address, mint, 0n);
  }
}

/** Bytes of curves' accounts: those of every layout, and others between them. */
export const CURVE_SIZES: readonly number[] = [
  49, 81, 82, 83, 115, 123, 124, 125, 140, 141, 142, 150, 151, 158, 165, 166, 200,
];

export interface NewCoin {
  readonly mint: Address;
  /** Absent: SOL. */
  readonly quoteMint?: Address;
  readonly virtualTokens: bigint;
  readonly virtualQuote: bigint;
  readonly realTokens: bigint;
  readonly realQuote: bigint;
  /** Absent: no creator. */
  readonly creator?: Address;
  readonly mayhem?: boolean;
  readonly cashback?: boolean;
  readonly holderReward?: boolean;
  readonly creatorFeeBps?: bigint;
  /** Fees of the creator and of the protocol that nobody has swept, each. */
  readonly owed?: bigint;
  readonly supply?: bigint;
  /** Leave out the account where the creator's fees gather. */
  readonly withoutVault?: boolean;
  /** Bytes of the curve's account: today's, if absent. */
  readonly size?: number;
}

/** Writes a coin's curve in the middle of its life: creating one needs Metaplex and the mayhem program. */
export function writeCoin(svm: Svm, coin: NewCoin): Address {
  const { address } = bondingCurveOf(coin.mint);
  const full = new Uint8Array(Math.max(coin.size ?? 0, 166));
  const data = full.subarray(0, coin.size ?? 151);
  full.set(hex("17b7f83760d8ac60"));
  writeU64(full, 8, coin.virtualTokens);
  writeU64(full, 16, coin.virtualQuote);
  writeU64(full, 24, coin.realTokens);
  writeU64(full, 32, coin.realQuote);
  writeU64(full, 40, coin.supply ?? 1_000_000_000_000_000n);
  full.set((coin.creator ?? SYSTEM_PROGRAM).bytes, 49);
  full[81] = coin.mayhem === true ? 1 : 0;
  full[82] = coin.cashback === true ? 1 : 0;
  if (coin.quoteMint !== undefined && coin.quoteMint !== SOL_MINT) full.set(coin.quoteMint.bytes, 83);
  writeU64(full, 115, coin.creatorFeeBps ?? 0n);
  full[124] = coin.holderReward === true ? 1 : 0;
  const owed = coin.owed ?? 0n;
  for (const at of [125, 133]) writeU64(full, at, owed);
  const native = coin.quoteMint === undefined || coin.quoteMint === SOL_MINT;
  svm.setAccount({
    address,
    owner: PUMP_PROGRAM,
    data,
    lamports: svm.rent(data.length) + (native ? coin.realQuote + 2n * owed : 0n),
  });
  svm.setTokens(address, coin.mint, coin.realTokens + 206_900_000_000_000n);
  if (!native) svm.setTokens(address, coin.quoteMint!, coin.realQuote + 2n * owed);
  if (coin.creator !== undefined && coin.withoutVault !== true) {
    const vault = pumpCreatorVaultOf(coin.creator).address;
    svm.setAccount({ address: vault, owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports: svm.rent(0) });
    if (!native) svm.setTokens(vault, coin.quoteMint!, 0n);
  }
  return address;
}

/** The token account of `owner`, by its derivation. */
export function accountOf(svm: Svm, owner: Address, mint: Address): Address {
  return associatedTokenAccount(owner, mint, svm.get(mint)!.owner).address;
}
