import { expect, it } from "vitest";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { swapWhirlpool, type WhirlpoolCurve, type WhirlpoolFill } from "./math.ts";
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
      wideSteps: 0,
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
    const fill = {
      steps: 5,
      crossed: 4,
      wideSteps: 0,
      borderBits: [0, 0],
      searchedBits,
      sqrtPrice: whirlpoolSqrtPrice(65_535),
    };
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
    const fill = { steps, crossed: steps - 1, wideSteps: 0, borderBits: [0, 0], searchedBits, sqrtPrice };
    const bound = stepUnits(false, fill as unknown as WhirlpoolFill, slots, aToB, exactIn);
    expect(bound).toBeGreaterThanOrEqual(used);
    expect(bound).toBeLessThan(1.25 * used);
  },
);

/** A trade on the build of July 2025 through three dynamic arrays: 54,060 units beside `baseUnits`. */
it("bounds closely what crossing ticks of dynamic arrays takes", () => {
  const fill = {
    steps: 7,
    crossed: 6,
    wideSteps: 0,
    borderBits: [0, 0],
    searchedBits: 42,
    sqrtPrice: 34525678981431638035n,
  };
  const boundOf = (isDynamic: boolean) =>
    stepUnits(false, fill as unknown as WhirlpoolFill, 203, false, true, isDynamic);
  expect(boundOf(false)).toBeLessThan(54_060);
  expect(boundOf(true)).toBeGreaterThanOrEqual(54_060);
  expect(boundOf(true)).toBeLessThan(1.25 * 54_060);
});

/** A trade on the build of May 2025 whose fee follows volatility, from tick 18,724 up: 15,145 units beside `baseUnits` and an absent array. */
it("charges for the group of a price at which the amount is used up beyond the groups that differ", () => {
  const fill = {
    steps: 2,
    crossed: 0,
    wideSteps: 0,
    borderBits: [5, 0],
    searchedBits: 4,
    sqrtPrice: 47544108714634728875n,
  };
  const boundOf = (endsInStretch: boolean) =>
    stepUnits(true, { ...fill, endsInStretch } as unknown as WhirlpoolFill, 35.5, false, true);
  expect(boundOf(false)).toBeLessThan(15_145);
  expect(boundOf(true)).toBeGreaterThanOrEqual(15_145);
  expect(boundOf(true)).toBeLessThan(1.35 * 15_145);
});

/** A trade on the build of May 2025 of two Token-2022 mints without extensions, from tick -131,075 up: 68,129 units. */
it("bounds what two Token-2022 mints without extensions take", () => {
  const fill = {
    steps: 1,
    crossed: 0,
    wideSteps: 0,
    borderBits: [0, 0],
    searchedBits: 0,
    sqrtPrice: 26294730532654852n,
  };
  const mint = { ...MINT, program: TOKEN_2022_PROGRAM };
  const base = baseUnits({ adaptive: false, oracleBump: 255 }, { tick: -131_075, rewards: 0 }, [mint, mint], [0, 0]);
  const steps = stepUnits(false, fill as unknown as WhirlpoolFill, 3 / 64, false, false);
  const bound = base + steps + 2 * derivationUnits(false, 255);
  expect(bound).toBeGreaterThanOrEqual(68_129);
  expect(bound).toBeLessThan(1.05 * 68_129);
});

/** Swaps that end beyond the groups that differ, on builds of May and June 2025: the fill, the rest of the bound and the use. */
const ENDED_IN_STRETCHES: readonly (readonly [Partial<WhirlpoolFill>, slots: number, rest: number, used: number])[] = [
  // From tick 131,066 down.
  [
    { steps: 3, crossed: 0, borderBits: [30, 0], searchedBits: 15, sqrtPrice: 12934047201649174450551n },
    28,
    54_120,
    97_488,
  ],
  // From tick 261,876 up.
  [
    { steps: 4, crossed: 1, borderBits: [30, 0], searchedBits: 27, sqrtPrice: 8990478090195625467866638n },
    58,
    56_250,
    111_655,
  ],
];

it.each(ENDED_IN_STRETCHES)(
  "bounds a swap that ends beyond the groups that differ at a tick of many bits: %o",
  (fill, slots, rest, used) => {
    const aToB = used < 100_000;
    const whole = { ...fill, wideSteps: 0, endsInStretch: true } as WhirlpoolFill;
    const bound = rest + derivationUnits(true, aToB ? 255 : 254) + stepUnits(true, whole, slots, aToB, !aToB);
    expect(bound).toBeGreaterThanOrEqual(used);
    expect(bound).toBeLessThan(1.05 * used);
  },
);

const PERIODS = { tradeEnabledAt: 0n, filterPeriod: 30n, decayPeriod: 600n, referenceAt: 0n, majorSwapAt: 0n };
const MEASURE = { reductionFactor: 5_000, groupSize: 1, majorSwapTicks: 1 };

/** On the build of May 2025, up to tick 262,140: the first of six steps leaves a stretch priced at once. 141,821 units. */
it("charges for the group of a border at which a swap leaves a stretch", () => {
  const reference = { volatilityReference: 0, groupReference: 262_141, volatility: 50_000 };
  const curve = {
    ...{ ticks: [], sqrtPrices: [], liquidityNet: [], tick: 262_133, tickSpacing: 1, feeRate: 0n },
    liquidity: 20240145392620n,
    sqrtPrice: 9073791478349346741570517n,
    oracle: { ...PERIODS, ...MEASURE, ...reference, controlFactor: 100n, maximumVolatility: 50_000 },
  } as unknown as WhirlpoolCurve;
  const fill = swapWhirlpool(curve, false, true, 3_494_082_269_292_544n, 1n)!;
  expect(fill).toMatchObject({ steps: 6, crossed: 0, output: 14_431n, leftStretchAt: 262_136 });
  const boundOf = (leftStretchAt: number | undefined) =>
    57_180 + derivationUnits(true, 255) + stepUnits(true, { ...fill, searchedBits: 17, leftStretchAt }, 8, false, true);
  expect(boundOf(undefined)).toBeLessThan(141_821);
  expect(boundOf(fill.leftStretchAt)).toBeGreaterThanOrEqual(141_821);
  expect(boundOf(fill.leftStretchAt)).toBeLessThan(1.1 * 141_821);
});

/** On the build of July 2025, from tick -131,074 down over 36 groups of one tick each: 368,392 units. */
it("charges for much liquidity at prices below 1", () => {
  const reference = { volatilityReference: 5_000, groupReference: -131_074, volatility: 5_000 };
  const curve = {
    ...{ ticks: [], sqrtPrices: [], liquidityNet: [], tick: -131_074, tickSpacing: 8, feeRate: 30_000n },
    liquidity: 112820432174580n,
    sqrtPrice: 26293474919125899n,
    oracle: { ...PERIODS, ...MEASURE, ...reference, controlFactor: 20n, maximumVolatility: 350_000 },
  } as unknown as WhirlpoolCurve;
  const fill = swapWhirlpool(curve, true, true, 175_611_025_481_984n, 1n)!;
  expect(fill).toMatchObject({ steps: 37, crossed: 0, wideSteps: 37, output: 345_339_239n, endsInStretch: true });
  const boundOf = (wideSteps: number) =>
    53_400 + derivationUnits(true, 254) + stepUnits(true, { ...fill, wideSteps }, 166 / 8, true, true);
  expect(boundOf(0)).toBeLessThan(368_392);
  expect(boundOf(fill.wideSteps)).toBeGreaterThanOrEqual(368_392);
  expect(boundOf(fill.wideSteps)).toBeLessThan(1.05 * 368_392);
});

/** On the build of May 2025, from tick 65,530 up, of 62 bits of liquidity: 86,055 units. */
it("bounds a swap below tick 66,000 whose ticks have many bits", () => {
  const base = baseUnits({ adaptive: true, oracleBump: 255 }, { tick: 65_530, rewards: 0 }, [MINT, MINT], [0, 0]);
  const fill = {
    steps: 2,
    crossed: 0,
    wideSteps: 0,
    borderBits: [29, 0],
    searchedBits: 16,
    sqrtPrice: 488489531857134739651n,
  };
  const steps = stepUnits(true, fill as unknown as WhirlpoolFill, 5, false, false);
  const bound = base + derivationUnits(true, 254) + derivationUnits(true, 255) + steps;
  expect(bound).toBeGreaterThanOrEqual(86_055);
  expect(bound).toBeLessThan(1.05 * 86_055);
});
