import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { type AccountMeta, readonly, writable, writableSigner } from "../../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../../src/solana/pda.ts";
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import {
  WHIRLPOOL_PROGRAM,
  whirlpoolArrayStart,
  whirlpoolTickArrayOf,
} from "../../../src/venues/orca-whirlpool/layout.ts";
import { CLMM_PROGRAM, clmmArrayStart, clmmTickArrayOf } from "../../../src/venues/raydium-clmm/layout.ts";
import { clmmSqrtPrice } from "../../../src/venues/raydium-clmm/ticks/tick-price.ts";
import { Svm } from "../../support/svm.ts";
import { anchorInstruction, le } from "../venues/support/anchor.ts";
import { addLiquidity, createTickArray, createWhirlpool } from "../venues/support/orca-whirlpool.ts";
import { addClmmLiquidity, createClmmPool, METAPLEX_PROGRAM, writeClmmConfig } from "../venues/support/raydium-clmm.ts";

const [CLMM, METAPLEX, WHIRLPOOL] = ["raydium_clmm", "metaplex_token_metadata", "orca_whirlpool"].map(
  (name) => `.venues/${name}.so`,
) as [string, string, string];
const HELD = 1n << 62n;
/** An exact output, far more than the pool has, for up to this much. Base units. */
const [ASKED, MOST_IN] = [5_000_000n, 10n ** 11n];
const [LAST_TICK, SPLASH] = [443_636, 32_896];

/** A chain with two mints, and a wallet that holds both. */
function chain(...programs: readonly (readonly [Address, string])[]) {
  const svm = new Svm();
  for (const [id, file] of programs) svm.addProgram(id, file);
  const mints = [svm.newMint({ decimals: 6 }), svm.newMint({ decimals: 6 })] as const;
  const wallet = svm.newWallet();
  for (const mint of mints) svm.setTokens(wallet, mint, HELD);
  return { svm, mints, wallet };
}

/** The error of the swap that takes all liquidity and runs to the last price, which would cost 4 × 10^9 units for one or two. */
type Swap = (name: "swap" | "swap_v2", isUp: boolean) => string;

const onClmm: Swap = (name, isUp) => {
  const { svm, mints, wallet } = chain([CLMM_PROGRAM, CLMM], [METAPLEX_PROGRAM, METAPLEX]);
  const config = writeClmmConfig(svm, 1, 1, 2_500);
  const tick = isUp ? -99 : 99;
  const pool = createClmmPool(svm, wallet, config, 1, mints, clmmSqrtPrice(tick));
  addClmmLiquidity(svm, wallet, pool, isUp ? -100 : -LAST_TICK, isUp ? LAST_TICK : 100, 2n);
  const sides = isUp ? ([1, 0] as const) : ([0, 1] as const);
  const own = sides.map((side) => writable(associatedTokenAddress(wallet, pool.mints[side], TOKEN_PROGRAM)));
  const start = [writableSigner(wallet), readonly(config), writable(pool.address), ...own];
  const vaults = sides.map((side) => writable(pool.vaults[side]));
  const records = [writable(derive(CLMM_PROGRAM, "observation", pool.address)), readonly(TOKEN_PROGRAM)];
  const [first, last] = [tick, isUp ? LAST_TICK : -LAST_TICK].map((at) =>
    writable(clmmTickArrayOf(pool.address, clmmArrayStart(at, 1)).address),
  ) as [AccountMeta, AccountMeta];
  const bitmap = writable(derive(CLMM_PROGRAM, "pool_tick_array_bitmap_extension", pool.address));
  const more = [TOKEN_2022_PROGRAM, MEMO_PROGRAM, ...sides.map((side) => pool.mints[side])].map(readonly);
  const rest = name === "swap" ? [first, bitmap, last] : [...more, bitmap, first, last];
  const data = [le(ASKED, 8), le(MOST_IN, 8), le(0n, 16), le(0, 1)];
  return errorOf(
    svm,
    wallet,
    anchorInstruction(CLMM_PROGRAM, name, [...start, ...vaults, ...records, ...rest], ...data),
  );
};

const onWhirlpool: Swap = (name, isUp) => {
  const { svm, mints, wallet } = chain([WHIRLPOOL_PROGRAM, WHIRLPOOL]);
  const terms = { creator: svm.newWallet(), mints, tickSpacing: SPLASH, feeRate: 2_500, sqrtPrice: 1n << 64n };
  const pool = createWhirlpool(svm, terms);
  addLiquidity(svm, wallet, pool, -13 * SPLASH, 13 * SPLASH, 3n);
  const [below, above] = [-1, 0].map((at) => whirlpoolArrayStart(at, SPLASH)) as [number, number];
  for (const at of [below, above]) createTickArray(svm, wallet, pool, at);
  const arrays = (isUp ? [above, above, above] : [above, below, below]).map((at) =>
    writable(whirlpoolTickArrayOf(pool.address, at).address),
  );
  const sides = [0, 1].flatMap((side) => [
    writable(associatedTokenAddress(wallet, pool.mints[side]!, TOKEN_PROGRAM)),
    writable(pool.vaults[side]!),
  ]);
  const isNew = name === "swap_v2";
  const start = isNew ? [TOKEN_PROGRAM, TOKEN_PROGRAM, MEMO_PROGRAM].map(readonly) : [readonly(TOKEN_PROGRAM)];
  const named = isNew ? pool.mints.map(readonly) : [];
  const oracle = writable(derive(WHIRLPOOL_PROGRAM, "oracle", pool.address));
  const accounts = [...start, writableSigner(wallet), writable(pool.address), ...named, ...sides, ...arrays, oracle];
  const data = [le(ASKED, 8), le(MOST_IN, 8), le(0n, 16), le(0, 1), le(isUp ? 0 : 1, 1), le(0, isNew ? 1 : 0)];
  return errorOf(svm, wallet, anchorInstruction(WHIRLPOOL_PROGRAM, name, accounts, ...data));
};

function errorOf(svm: Svm, wallet: Address, swap: ReturnType<typeof anchorInstruction>): string {
  const done = svm.send(wallet, [swap]);
  return done.ok ? "none" : (/Error Code: (\w+)/.exec(done.logs.join("\n"))?.[1] ?? done.error);
}

test.runIf([CLMM, METAPLEX, WHIRLPOOL].every(existsSync))(
  "an exact output that ends at the last of all prices fails: it would be paid for and not be there",
  () => {
    for (const isUp of [true, false]) {
      for (const name of ["swap", "swap_v2"] as const) {
        expect(onClmm(name, isUp), `raydium_clmm ${name} ${isUp}`).toBe("RequireEqViolated");
        expect(onWhirlpool(name, isUp), `orca_whirlpool ${name} ${isUp}`).toBe("PartialFillError");
      }
    }
  },
);
