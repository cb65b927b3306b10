import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { minOf, U64_MAX } from "../../../src/primitives/integer.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { AMM_V4_PROGRAM, decodeAmmV4Market } from "../../../src/venues/raydium-amm-v4/layout.ts";
import { raydiumAmmV4 } from "../../../src/venues/raydium-amm-v4/venue.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf, tradesOn } from "./support/builds.ts";
import { asOlderInstruction, writeAmmV4Pool } from "./support/raydium-amm-v4.ts";

const PROGRAM = ".venues/raydium_amm_v4.so";
const present = existsSync(PROGRAM);
if (!present) console.log(`raydium_amm_v4 on the real program: skipped, ${PROGRAM} is not there`);

const POOLS: readonly {
  readonly name: string;
  readonly sol?: boolean;
  readonly decimals: readonly [number, number];
  readonly amounts: readonly [bigint, bigint];
  readonly fee: readonly [bigint, bigint];
  readonly owed?: readonly [bigint, bigint];
  readonly status?: bigint;
}[] = [
  {
    name: "SOL and a token",
    sol: true,
    decimals: [9, 6],
    amounts: [80_000_000_000n, 200_000_000_000_000n],
    fee: [25n, 10_000n],
  },
  {
    name: "profit not taken yet",
    sol: true,
    decimals: [9, 6],
    amounts: [5_000_000_000n, 9_000_000n],
    fee: [25n, 10_000n],
    owed: [777_777n, 1_234n],
  },
  { name: "few units on one side", decimals: [0, 9], amounts: [5_000n, 7_000_000_000_000_000n], fee: [25n, 10_000n] },
  { name: "two large reserves", decimals: [9, 9], amounts: [1n << 61n, 1n << 60n], fee: [25n, 10_000n] },
  { name: "no fee", decimals: [6, 6], amounts: [1n << 40n, 1n << 44n], fee: [0n, 10_000n] },
  { name: "a high fee", decimals: [6, 6], amounts: [1n << 40n, 1n << 36n], fee: [1n, 25n] },
  { name: "waiting, and open", decimals: [6, 9], amounts: [1n << 45n, 1n << 50n], fee: [25n, 10_000n], status: 7n },
];
const TRADES_PER_POOL = 450;
/** Pools whose first trade is made. */
const FIRST_TRADES = 1_000;

/** The venue with its instructions rewritten to the ones the public binary knows. */
const asOf2025: typeof raydiumAmmV4 = {
  ...raydiumAmmV4,
  swap(state, quote, terms) {
    const leg = raydiumAmmV4.swap(state, quote, terms);
    return { ...leg, instructions: leg.instructions.map(asOlderInstruction) };
  },
};

const BUILDS = buildsOf("raydium_amm_v4");

describe.skipIf(!present).each(BUILDS)(
  "raydium_amm_v4 on the real program, by its older instructions ($path)",
  (build) => {
    const count = tradesOn(build, TRADES_PER_POOL);
    const all: TradeOutcome[] = [];

    for (const [index, shape] of POOLS.entries()) {
      it(`is exact: ${shape.name}`, () => {
        const { svm, pool, wallet } = newPool(shape);
        svm.addProgram(AMM_V4_PROGRAM, build.path);
        const { mints, vaults } = decodeAmmV4Market(svm.get(pool)!)!;
        const held = (mint: unknown): bigint => svm.tokens(vaults[mints[0] === mint ? 0 : 1]);
        const outcomes = runTrades({
          svm,
          venue: asOf2025,
          market: pool,
          wallet,
          random: createRandom(index + 1),
          count,
          limit: (mint, mode) => (mode === "exactIn" ? held(mint) * 2n : (held(mint) * 9n) / 10n),
          before: () => {
            for (const mint of mints) svm.setTokens(wallet, mint, minOf(held(mint) * 1_000n, U64_MAX - held(mint)));
          },
        });
        const verdict = judge(outcomes);
        expect(verdict.faults).toEqual([]);
        expect(verdict.trades).toBeGreaterThan(count / 5);
        all.push(...outcomes);
      });
    }

    if (build.isMain)
      it("made at least 2,000 trades, with a tight bound on compute units", () => {
        const verdict = judge(all);
        console.log(`raydium_amm_v4: ${JSON.stringify({ ...verdict, faults: verdict.faults.length })}`);
        expect(verdict.trades).toBeGreaterThanOrEqual(2_000);
        expect(verdict.worstUnitRatio).toBeLessThanOrEqual(1.3);
      });

    it("stays within its units in the trade that ends a pool's waiting, between reserves of any size", () => {
      const svm = new Svm();
      svm.addProgram(AMM_V4_PROGRAM, build.path);
      const wallet = svm.newWallet();
      const mints = [svm.newMint({ decimals: 6 }), svm.newMint({ decimals: 9 })] as const;
      const random = createRandom(7);
      const opened = { mints, fee: [25n, 10_000n], owed: [0n, 0n], status: 7n, openTime: 0n } as const;
      const outcomes = Array.from({ length: tradesOn(build, FIRST_TRADES) }, () => {
        const amounts = [random.magnitude(1n << 61n), random.magnitude(1n << 61n)] as const;
        for (const mint of mints) svm.setTokens(wallet, mint, 1n << 62n);
        return runTrades({
          svm,
          venue: asOf2025,
          market: writeAmmV4Pool(svm, { ...opened, amounts }),
          wallet,
          random,
          count: 1,
          limit: (mint, mode) => (mode === "exactIn" ? 1n << 61n : amounts[mint === mints[0] ? 0 : 1]),
          shadow: false,
          guards: false,
        })[0]!;
      });
      expect(judge(outcomes).faults).toEqual([]);
    });

    it("reads a pool in two rounds", () => {
      const { svm, pool } = newPool(POOLS[0]!);
      expect(readMarket(svm, raydiumAmmV4, pool).rounds).toBe(2);
    });
  },
);

function newPool({ sol, decimals, amounts, fee, owed, status }: (typeof POOLS)[number]) {
  const svm = new Svm();
  svm.addProgram(AMM_V4_PROGRAM, PROGRAM);
  const wallet = svm.newWallet();
  const mints = [
    sol === true ? SOL_MINT : svm.newMint({ decimals: decimals[0] }),
    svm.newMint({ decimals: decimals[1] }),
  ] as const;
  const openTime = svm.clock().unixTimestamp - 5n;
  const pool = writeAmmV4Pool(svm, { mints, amounts, fee, owed: owed ?? [0n, 0n], status: status ?? 6n, openTime });
  return { svm, pool, wallet };
}
