import { expect, it } from "vitest";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { WhirlpoolFill } from "./math.ts";
import { whirlpoolSqrtPrice } from "./tick-price.ts";
import { baseUnits, derivationUnits, stepUnits } from "./units.ts";

const MINT = { program: TOKEN_PROGRAM, transferFees: undefined } as Mint;

it("charges each attempt at the oracle's address, whether or not there is an oracle", () => {
  const units = (adaptive: boolean, oracleBump: number) =>
    baseUnits({ adaptive, oracleBump }, { tick: 0, rewards: 0 }, [MINT, MINT], [0, 0]);
  for (const adaptive of [true, false]) expect(units(adaptive, 252) - units(adaptive, 255)).toBe(3 * 1_530);
});

it("charges each character of the memo about a token's fee, the longer one if the fee changes", () => {
  const fee = (bps: bigint) => ({ epoch: 0n, bps, maximumFee: 7n });
  const units = (older: bigint, newer: bigint) => {
    const transferFees = { older: fee(older), newer: fee(newer) };
    const mint = { ...MINT, program: TOKEN_2022_PROGRAM, transferFees };
    return baseUnits({ adaptive: false, oracleBump: 255 }, { tick: 0, rewards: 0 }, [mint, MINT], [1, 0]);
  };
  expect(units(150n, 150n) - units(1n, 1n)).toBe(2 * 363);
  expect(units(150n, 1n)).toBe(units(1n, 150n));
  expect(units(150n, 1n)).toBe(units(150n, 150n));
});

it("charges the set bits of the tick that a swap ends at, the lowest as if all were set, and none at an initialised tick", () => {
  const units = (tick: number, crossed = 0) => {
    const fill = {
      input: 1n,
      output: 1n,
      netIn: 1n,
      sqrtPrice: whirlpoolSqrtPrice(tick) + 1n,
      searchedTo: tick,
      steps: 1,
      crossed,
      borderBits: [0, 0],
      searchedBits: 0,
    };
    return stepUnits(false, fill as unknown as WhirlpoolFill, 0, false, true);
  };
  expect(units(0)).toBe(0);
  expect(units(65_535)).toBe(16 * 285);
  expect(units(65_536)).toBe(7 * 285);
  expect(units(-65_536)).toBe(7 * 165);
  expect(units(65_535, 1)).toBe(7_550 - 3_000);
});

it("charges the set bits of the ticks that a swap looks for, whether or not its fee follows volatility", () => {
  const units = (adaptive: boolean, searchedBits: number) => {
    const fill = { steps: 5, crossed: 4, borderBits: [0, 0], searchedBits, sqrtPrice: whirlpoolSqrtPrice(65_535) };
    return stepUnits(adaptive, fill as unknown as WhirlpoolFill, 0, true, true);
  };
  for (const adaptive of [true, false]) expect(units(adaptive, 64) - units(adaptive, 0)).toBe(60 * 285 - 4 * 2_150);
});

/** Trades on the build of October 2024 over a tick apart: all steps, and the units that they used beside `baseUnits`. */
type Measured = readonly [
  aToB: boolean,
  exactIn: boolean,
  steps: number,
  bits: number,
  slots: number,
  bigint,
  used: number,
];
const MEASURED: readonly Measured[] = [
  [false, false, 15, 227, 40, 12939862324008450313121n, 135_924],
  [false, true, 11, 163, 67, 12937619511673508697220n, 96_476],
  [true, true, 10, 153, 9, 12934582190920808206185n, 91_394],
  [true, true, 7, 117, 6, 9075792305291696922022227n, 66_275],
  [true, false, 5, 80, 4, 9075068234347809440948049n, 41_106],
  [true, false, 12, 160, 11, 488322188322623715089n, 94_715],
  [false, true, 4, 53, 4, 9078220338130271410102868n, 30_209],
];

it.each(MEASURED)(
  "bounds closely what prices of ticks with many bits take: A goes in: %s, exact in: %s, %i steps",
  (...measured) => {
    const [aToB, exactIn, steps, searchedBits, slots, sqrtPrice, used] = measured;
    const fill = { steps, crossed: steps - 1, borderBits: [0, 0], searchedBits, sqrtPrice };
    const bound = stepUnits(false, fill as unknown as WhirlpoolFill, slots, aToB, exactIn);
    expect(bound).toBeGreaterThanOrEqual(used);
    expect(bound).toBeLessThan(1.25 * used);
  },
);

/** A trade on the build of July 2025 through three dynamic arrays: 54,060 units beside `baseUnits`. */
it("bounds closely what crossing ticks of dynamic arrays takes", () => {
  const fill = { steps: 7, crossed: 6, borderBits: [0, 0], searchedBits: 42, sqrtPrice: 34525678981431638035n };
  const boundOf = (isDynamic: boolean) =>
    stepUnits(false, fill as unknown as WhirlpoolFill, 203, false, true, isDynamic);
  expect(boundOf(false)).toBeLessThan(54_060);
  expect(boundOf(true)).toBeGreaterThanOrEqual(54_060);
  expect(boundOf(true)).toBeLessThan(1.25 * 54_060);
});

/** A trade on the build of May 2025 whose fee follows volatility, from tick 18,724 up: 15,145 units beside `baseUnits` and an absent array. */
it("charges for the group of a price at which the amount is used up beyond the groups that differ", () => {
  const fill = { steps: 2, crossed: 0, borderBits: [5, 0], searchedBits: 4, sqrtPrice: 47544108714634728875n };
  const boundOf = (endsInStretch: boolean) =>
    stepUnits(true, { ...fill, endsInStretch } as unknown as WhirlpoolFill, 35.5, false, true);
  expect(boundOf(false)).toBeLessThan(15_145);
  expect(boundOf(true)).toBeGreaterThanOrEqual(15_145);
  expect(boundOf(true)).toBeLessThan(1.35 * 15_145);
});

/** A trade on the build of May 2025 of two Token-2022 mints without extensions, from tick -131,075 up: 68,129 units. */
it("bounds what two Token-2022 mints without extensions take", () => {
  const fill = { steps: 1, crossed: 0, borderBits: [0, 0], searchedBits: 0, sqrtPrice: 26294730532654852n };
  const mint = { ...MINT, program: TOKEN_2022_PROGRAM };
  const base = baseUnits({ adaptive: false, oracleBump: 255 }, { tick: -131_075, rewards: 0 }, [mint, mint], [0, 0]);
  const steps = stepUnits(false, fill as unknown as WhirlpoolFill, 3 / 64, false, false);
  const bound = base + steps + 2 * derivationUnits(false, 255);
  expect(bound).toBeGreaterThanOrEqual(68_129);
  expect(bound).toBeLessThan(1.05 * 68_129);
});
