import { Address } from "../../../../src/primitives/address.ts";
import { concatBytes } from "../../../../src/primitives/bytes.ts";
import { type Instruction, readonly, writable, writableSigner } from "../../../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../../../src/solana/pda.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../src/solana/programs.ts";
import {
  CLMM_PROGRAM,
  clmmArrayStart,
  clmmConfigAddress,
  clmmPoolAddress,
  clmmTickArrayOf,
} from "../../../../src/venues/raydium-clmm/layout.ts";
import { sortMints } from "../../../../src/venues/shared/sort-mints.ts";
import type { Svm } from "../../../support/svm.ts";
import { anchorInstruction, discriminator, le } from "./anchor.ts";

export const METAPLEX_PROGRAM = Address.of("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s");

/** A pool with what is needed to add to it. */
export interface TestClmmPool {
  readonly address: Address;
  readonly mints: readonly [Address, Address];
  readonly vaults: readonly [Address, Address];
  readonly tickSpacing: number;
}

/** Writes a fee configuration: its creation belongs to the program's admin. */
export function writeClmmConfig(svm: Svm, index: number, tickSpacing: number, tradeFeeRate: number): Address {
  return svm.setAccount({
    address: clmmConfigAddress(index),
    owner: CLMM_PROGRAM,
    data: concatBytes(
      discriminator("account", "AmmConfig"),
      le(255, 1),
      le(index, 2),
      new Uint8Array(32),
      le(120_000, 4),
      le(tradeFeeRate, 4),
      le(tickSpacing, 2),
      le(40_000, 4),
      new Uint8Array(4 + 32 + 24),
    ),
  });
}

/** Creates a pool through the program. */
export function createClmmPool(
  svm: Svm,
  creator: Address,
  config: Address,
  tickSpacing: number,
  mints: readonly [Address, Address],
  sqrtPrice: bigint,
): TestClmmPool {
  const sorted = sortMints({ a: mints[0], b: mints[1] });
  const pool = clmmPoolAddress(config, sorted);
  const vaults = [
    derive(CLMM_PROGRAM, "pool_vault", pool, sorted[0]),
    derive(CLMM_PROGRAM, "pool_vault", pool, sorted[1]),
  ] as const;
  run(svm, creator, [
    anchorInstruction(
      CLMM_PROGRAM,
      "create_pool",
      [
        writableSigner(creator),
        readonly(config),
        writable(pool),
        readonly(sorted[0]),
        readonly(sorted[1]),
        writable(vaults[0]),
        writable(vaults[1]),
        writable(derive(CLMM_PROGRAM, "observation", pool)),
        writable(extensionOf(pool)),
        readonly(svm.get(sorted[0])!.owner),
        readonly(svm.get(sorted[1])!.owner),
        readonly(SYSTEM_PROGRAM),
        readonly(RENT_SYSVAR),
      ],
      le(sqrtPrice, 16),
      le(0, 8),
    ),
  ]);
  return { address: pool, mints: sorted, vaults, tickSpacing };
}

/** Opens a position between two ticks with liquidity, through the program. The owner's token accounts must be funded. */
export function addClmmLiquidity(
  svm: Svm,
  owner: Address,
  pool: TestClmmPool,
  lower: number,
  upper: number,
  liquidity: bigint,
): void {
  const starts = [lower, upper].map((tick) => clmmArrayStart(tick, pool.tickSpacing));
  const nft = svm.newAddress();
  const bigEndian = (value: number): Uint8Array => le(value, 4).reverse();
  run(svm, owner, [
    anchorInstruction(
      CLMM_PROGRAM,
      "open_position_v2",
      [
        writableSigner(owner),
        readonly(owner),
        writableSigner(nft),
        writable(associatedTokenAddress(owner, nft, TOKEN_PROGRAM)),
        writable(svm.newAddress()),
        writable(pool.address),
        writable(derive(CLMM_PROGRAM, "position", pool.address, bigEndian(lower), bigEndian(upper))),
        writable(clmmTickArrayOf(pool.address, starts[0]!).address),
        writable(clmmTickArrayOf(pool.address, starts[1]!).address),
        writable(derive(CLMM_PROGRAM, "position", nft)),
        writable(associatedTokenAddress(owner, pool.mints[0], svm.get(pool.mints[0])!.owner)),
        writable(associatedTokenAddress(owner, pool.mints[1], svm.get(pool.mints[1])!.owner)),
        writable(pool.vaults[0]),
        writable(pool.vaults[1]),
        readonly(RENT_SYSVAR),
        readonly(SYSTEM_PROGRAM),
        readonly(TOKEN_PROGRAM),
        readonly(ASSOCIATED_TOKEN_PROGRAM),
        readonly(METAPLEX_PROGRAM),
        readonly(TOKEN_2022_PROGRAM),
        readonly(pool.mints[0]),
        readonly(pool.mints[1]),
        writable(extensionOf(pool.address)),
      ],
      le(lower, 4),
      le(upper, 4),
      le(starts[0]!, 4),
      le(starts[1]!, 4),
      le(liquidity, 16),
      le(-1, 8),
      le(-1, 8),
      Uint8Array.of(0, 0),
    ),
  ]);
}

/** Writes rewards being paid into a pool: setting one up through the program takes an operator. They cost a swap compute units. */
export function writeRewards(svm: Svm, pool: Address, count: number): void {
  const account = svm.get(pool)!;
  const now = svm.clock().unixTimestamp;
  const data = Uint8Array.from(account.data);
  for (let i = 0; i < count; i++) {
    const emissions = 5n << 64n;
    const key = svm.newAddress().bytes;
    const times = [now - 1_000_000n, now + 4_000_000n, now - 100_000n].map((time) => le(time, 8));
    data.set(concatBytes(le(2, 1), ...times, le(emissions, 16), new Uint8Array(16), key, key, key), 397 + i * 169);
  }
  svm.setAccount({ ...account, data });
}

function extensionOf(pool: Address): Address {
  return derive(CLMM_PROGRAM, "pool_tick_array_bitmap_extension", pool);
}

function run(svm: Svm, payer: Address, instructions: readonly Instruction[]): void {
  const done = svm.send(payer, instructions);
  if (!done.ok) throw new Error(`${done.error}\n${done.logs.join("\n")}`);
}
