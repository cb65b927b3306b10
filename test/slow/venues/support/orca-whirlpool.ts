import type { Address } from "../../../../src/primitives/address.ts";
import { concatBytes, textBytes } from "../../../../src/primitives/bytes.ts";
import {
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../../../src/solana/instruction.ts";
import { associatedTokenAddress, derive, findPda } from "../../../../src/solana/pda.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../src/solana/programs.ts";
import {
  WHIRLPOOL_PROGRAM,
  whirlpoolAddress,
  whirlpoolArrayStart,
  whirlpoolTickArrayOf,
} from "../../../../src/venues/orca-whirlpool/layout.ts";
import { sortMints } from "../../../../src/venues/shared/sort-mints.ts";
import type { Svm } from "../../../support/svm.ts";
import { anchorInstruction, discriminator, le } from "./anchor.ts";

export interface NewWhirlpool {
  readonly creator: Address;
  readonly mints: readonly [Address, Address];
  readonly tickSpacing: number;
  /** Millionths. */
  readonly feeRate: number;
  readonly sqrtPrice: bigint;
  /** Absent: the fee does not follow volatility. */
  readonly adaptive?: AdaptiveFee;
  /** Liquidity paid with so many rewards: each costs units where a tick is crossed. */
  readonly rewards?: number;
}

/** How a fee follows volatility. */
export interface AdaptiveFee {
  readonly filterPeriod: number;
  readonly decayPeriod: number;
  readonly reductionFactor: number;
  readonly controlFactor: number;
  readonly maximumVolatility: number;
  readonly groupSize: number;
  readonly majorSwapTicks: number;
}

/** A pool with what is needed to add to it. */
export interface TestWhirlpool {
  readonly address: Address;
  readonly mints: readonly [Address, Address];
  readonly vaults: readonly [Address, Address];
  readonly tickSpacing: number;
}

/** Creates a pool through the program. Its configuration and fee tier are written: creating them is the admin's. */
export function createWhirlpool(
  svm: Svm,
  { creator, mints, tickSpacing, feeRate, sqrtPrice, adaptive, rewards = 0 }: NewWhirlpool,
): TestWhirlpool {
  const config = svm.setAccount({
    address: svm.newAddress(),
    owner: WHIRLPOOL_PROGRAM,
    data: concatBytes(discriminator("account", "WhirlpoolsConfig"), new Uint8Array(96), le(300, 2), le(0, 2)),
  });
  const feeTier = svm.setAccount({
    address: derive(WHIRLPOOL_PROGRAM, "fee_tier", config, le(tickSpacing, 2)),
    owner: WHIRLPOOL_PROGRAM,
    data: concatBytes(discriminator("account", "FeeTier"), config.bytes, le(tickSpacing, 2), le(feeRate, 2)),
  });
  const sorted = sortMints({ a: mints[0], b: mints[1] });
  const [mintA, mintB] = sorted;
  const pool = whirlpoolAddress(config, sorted, tickSpacing);
  const vaults = [svm.newAddress(), svm.newAddress()] as const;
  run(svm, creator, [
    anchorInstruction(
      WHIRLPOOL_PROGRAM,
      "initialize_pool_v2",
      [
        readonly(config),
        readonly(mintA),
        readonly(mintB),
        readonly(derive(WHIRLPOOL_PROGRAM, "token_badge", config, mintA)),
        readonly(derive(WHIRLPOOL_PROGRAM, "token_badge", config, mintB)),
        writableSigner(creator),
        writable(pool),
        writableSigner(vaults[0]),
        writableSigner(vaults[1]),
        readonly(feeTier),
        readonly(svm.get(mintA)!.owner),
        readonly(svm.get(mintB)!.owner),
        readonly(SYSTEM_PROGRAM),
        readonly(RENT_SYSVAR),
      ],
      le(tickSpacing, 2),
      le(sqrtPrice, 16),
    ),
  ]);
  for (let index = 0; index < rewards; index++) writeReward(svm, pool, index);
  const made = { address: pool, mints: sorted, vaults, tickSpacing };
  return adaptive === undefined ? made : makeAdaptive(svm, config, made, adaptive);
}

/** Gives a pool a reward that is being paid: its mint, vault and emission. Setting one up is its owner's. */
function writeReward(svm: Svm, pool: Address, index: number): void {
  const account = svm.get(pool)!;
  const at = 269 + 128 * index;
  for (let part = 0; part < 2; part++) account.data.set(svm.newAddress().bytes, at + 32 * part);
  account.data.set(le((1n << 64n) * 1_000n, 16), at + 96);
  account.data.set(le(svm.clock().unixTimestamp - 5_000n, 8), 261);
  svm.setAccount(account);
}

/** Index of the adaptive fee tier: any that is not the tick spacing. */
const ADAPTIVE_TIER = 1_027;

/**
 * Moves a new pool to where its tier's index belongs and writes its oracle: the program that traded adaptive fees first made
 * them by an instruction whose configuration only an admin can create.
 */
function makeAdaptive(svm: Svm, config: Address, pool: TestWhirlpool, fee: AdaptiveFee): TestWhirlpool {
  const [mintA, mintB] = pool.mints;
  const index = le(ADAPTIVE_TIER, 2);
  const seeds = [textBytes("whirlpool"), config.bytes, mintA.bytes, mintB.bytes, index];
  const { address, bump } = findPda(seeds, WHIRLPOOL_PROGRAM);
  const data = svm.get(pool.address)!.data;
  data[40] = bump;
  data.set(index, 43);
  svm.setAccount({ address, owner: WHIRLPOOL_PROGRAM, data });
  for (const vault of pool.vaults) {
    const account = svm.get(vault)!;
    account.data.set(address.bytes, 32);
    svm.setAccount(account);
  }
  svm.setAccount({
    address: derive(WHIRLPOOL_PROGRAM, "oracle", address),
    owner: WHIRLPOOL_PROGRAM,
    data: concatBytes(
      discriminator("account", "Oracle"),
      address.bytes,
      new Uint8Array(8),
      le(fee.filterPeriod, 2),
      le(fee.decayPeriod, 2),
      le(fee.reductionFactor, 2),
      le(fee.controlFactor, 4),
      le(fee.maximumVolatility, 4),
      le(fee.groupSize, 2),
      le(fee.majorSwapTicks, 2),
      new Uint8Array(16 + 44 + 128),
    ),
  });
  return { ...pool, address };
}

/** Initialises the tick array beginning at `start` through the program, if it is not there yet: fixed, or as small as its ticks. */
export function createTickArray(
  svm: Svm,
  creator: Address,
  pool: TestWhirlpool,
  start: number,
  isDynamic = false,
): Address {
  const { address } = whirlpoolTickArrayOf(pool.address, start);
  if (svm.get(address) === null) {
    run(svm, creator, [
      anchorInstruction(
        WHIRLPOOL_PROGRAM,
        isDynamic ? "initialize_dynamic_tick_array" : "initialize_tick_array",
        [readonly(pool.address), writableSigner(creator), writable(address), readonly(SYSTEM_PROGRAM)],
        le(start, 4),
        ...(isDynamic ? [Uint8Array.of(0)] : []),
      ),
    ]);
  }
  return address;
}

/** Opens a position between two ticks and puts liquidity into it, through the program. The owner's token accounts must be funded. */
export function addLiquidity(
  svm: Svm,
  owner: Address,
  pool: TestWhirlpool,
  lower: number,
  upper: number,
  liquidity: bigint,
  isDynamic = false,
): void {
  const arrays = [lower, upper].map((tick) =>
    createTickArray(svm, owner, pool, whirlpoolArrayStart(tick, pool.tickSpacing), isDynamic),
  );
  const mint = svm.newAddress();
  const position = findPda([textBytes("position"), mint.bytes], WHIRLPOOL_PROGRAM);
  const account = associatedTokenAddress(owner, mint, TOKEN_PROGRAM);
  const programs = pool.mints.map((token) => svm.get(token)!.owner);
  run(svm, owner, [
    anchorInstruction(
      WHIRLPOOL_PROGRAM,
      "open_position",
      [
        writableSigner(owner),
        readonly(owner),
        writable(position.address),
        writableSigner(mint),
        writable(account),
        readonly(pool.address),
        readonly(TOKEN_PROGRAM),
        readonly(SYSTEM_PROGRAM),
        readonly(RENT_SYSVAR),
        readonly(ASSOCIATED_TOKEN_PROGRAM),
      ],
      Uint8Array.of(position.bump),
      le(lower, 4),
      le(upper, 4),
    ),
    anchorInstruction(
      WHIRLPOOL_PROGRAM,
      "increase_liquidity_v2",
      [
        writable(pool.address),
        readonly(programs[0]!),
        readonly(programs[1]!),
        readonly(MEMO_PROGRAM),
        readonlySigner(owner),
        writable(position.address),
        readonly(account),
        readonly(pool.mints[0]),
        readonly(pool.mints[1]),
        writable(associatedTokenAddress(owner, pool.mints[0], programs[0]!)),
        writable(associatedTokenAddress(owner, pool.mints[1], programs[1]!)),
        writable(pool.vaults[0]),
        writable(pool.vaults[1]),
        writable(arrays[0]!),
        writable(arrays[1]!),
      ],
      le(liquidity, 16),
      le(-1, 8),
      le(-1, 8),
      Uint8Array.of(0),
    ),
  ]);
}

function run(svm: Svm, payer: Address, instructions: readonly Instruction[]): void {
  const done = svm.send(payer, instructions);
  if (!done.ok) throw new Error(`${done.error}\n${done.logs.join("\n")}`);
}
