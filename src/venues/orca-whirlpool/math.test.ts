import { describe, expect, it } from "vitest";
import { feeRateWithVolatility, MAX_TICK, MIN_TICK, swapStep } from "../curves/concentrated-liquidity.ts";
import type { WhirlpoolOracle } from "./layout.ts";
import { lastTickOf, swapArrayStarts, swapWhirlpool, type WhirlpoolCurve } from "./math.ts";
import { whirlpoolSqrtPrice } from "./tick-price.ts";
import { tickBits } from "./volatility.ts";

const NOW = 1_800_000_000n;

const oracle = (changes: Partial<WhirlpoolOracle> = {}): WhirlpoolOracle => ({
  tradeEnabledAt: 0n,
  filterPeriod: 30n,
  decayPeriod: 600n,
  reductionFactor: 5_000,
  controlFactor: 4_000n,
  maximumVolatility: 350_000,
  groupSize: 64,
  majorSwapTicks: 64,
  referenceAt: NOW - 10_000n,
  majorSwapAt: 0n,
  volatilityReference: 0,
  groupReference: 0,
  volatility: 0,
  ...changes,
});

const curve = (changes: Partial<WhirlpoolCurve> = {}): WhirlpoolCurve => ({
  feeRate: 3_000n,
  liquidity: 10n ** 12n,
  sqrtPrice: whirlpoolSqrtPrice(10),
  tick: 10,
  tickSpacing: 64,
  ticks: [-128, 6_400],
  liquidityNet: [10n ** 12n - 5n, -(10n ** 12n)],
  sqrtPrices: [-128, 6_400].map(whirlpoolSqrtPrice),
  oracle: undefined,
  ...changes,
});

describe("whirlpoolSqrtPrice", () => {
  it("gives the published prices", () => {
    expect([100, 1, 0, -1, -100].map(whirlpoolSqrtPrice)).toEqual([
      18539204128674405812n,
      18447666387855959850n,
      18446744073709551616n,
      18445821805675392311n,
      18354745142194483561n,
    ]);
    expect(whirlpoolSqrtPrice(MIN_TICK)).toBe(4295048016n);
    expect(whirlpoolSqrtPrice(MAX_TICK)).toBe(79226673515401279992447579055n);
  });
});

describe("arrays of a swap", () => {
  it("go down from the tick's own, and up from that of one spacing on", () => {
    expect(swapArrayStarts(10, 1, true)).toEqual([0, -88, -176]);
    expect(swapArrayStarts(86, 1, false)).toEqual([0, 88, 176]);
    expect(swapArrayStarts(87, 1, false)).toEqual([88, 176, 264]);
  });

  it("end where prices end", () => {
    expect(swapArrayStarts(MIN_TICK, 64, true)).toEqual([-444_928]);
    expect(lastTickOf(-444_928, 64, true)).toBe(MIN_TICK);
    expect(lastTickOf(443_520, 1, false)).toBe(443_607);
    expect(lastTickOf(443_608, 1, false)).toBe(MAX_TICK);
    expect(lastTickOf(0, 64, false)).toBe(5_631);
  });
});

describe("swapWhirlpool", () => {
  it("trades inside one stretch as one step", () => {
    const { sqrtPrice, liquidity } = curve();
    const step = swapStep(sqrtPrice, whirlpoolSqrtPrice(-128), liquidity, 5_000n, 3_000n, true, true, true)!;
    expect(swapWhirlpool(curve(), true, true, 5_000n, NOW)).toMatchObject({
      input: 5_000n,
      output: step.amountOut,
      crossed: 0,
      steps: 1,
    });
  });

  it("removes liquidity as it crosses a tick downward", () => {
    // Five units of liquidity are left below the tick: the price falls through all arrays and the amount is not used up.
    expect(swapWhirlpool(curve(), true, true, 10n ** 11n, NOW)).toBeUndefined();
    const half = curve({ liquidityNet: [5n * 10n ** 11n, -(10n ** 12n)] });
    const fill = swapWhirlpool(half, true, true, 10n ** 10n, NOW)!;
    expect(fill.crossed).toBe(1);
    expect(fill.output).toBeLessThan(swapWhirlpool(curve({ ticks: [] }), true, true, 10n ** 10n, NOW)!.output);
  });

  it("charges no more by exact out than exact in took for the same output", () => {
    for (const amount of [1_000n, 77_777n, 4_000_000_000n]) {
      const there = swapWhirlpool(curve(), false, true, amount, NOW)!;
      const back = swapWhirlpool(curve(), false, false, there.output, NOW)!;
      expect(back.input).toBeLessThanOrEqual(amount);
      expect(back.input).toBeGreaterThan(amount - 10n);
    }
  });

  it("refuses what its arrays cannot give", () => {
    expect(swapWhirlpool(curve(), false, false, 10n ** 15n, NOW)).toBeUndefined();
  });
});

it("counts the set bits of the ticks above 0 that it looks for", () => {
  const bits = (amount: bigint) => swapWhirlpool(curve(), false, true, amount, NOW)!.searchedBits;
  const found = swapWhirlpool(curve(), false, true, 10_000n, NOW)!;
  expect(bits(10_000n)).toBe(tickBits(found.searchedTo));
  expect(swapWhirlpool(curve(), true, true, 10_000n, NOW)!.searchedTo).toBeLessThan(0);
  expect(swapWhirlpool(curve(), true, true, 10_000n, NOW)!.searchedBits).toBe(0);
});

describe("a fee that follows volatility", () => {
  it("is the base fee inside the group the trade begins in", () => {
    const plain = swapWhirlpool(curve(), false, true, 10_000n, NOW);
    // Tick 64, the border of the group, has one bit.
    expect(swapWhirlpool(curve({ oracle: oracle() }), false, true, 10_000n, NOW)).toEqual({
      ...plain,
      meter: expect.anything(),
      borderBits: [1, 0],
    });
  });

  it("rises group by group as the price moves away", () => {
    const pool = curve({ oracle: oracle() });
    const fill = swapWhirlpool(pool, false, true, 10n ** 10n, NOW)!;
    // The same walk by hand: tick 10 lies in group 0, whose upper border is tick 64.
    let { sqrtPrice } = pool;
    let remaining = 10n ** 10n;
    let output = 0n;
    for (let group = 0; remaining > 0n; group++) {
      const rate = feeRateWithVolatility(3_000n, group * 10_000, 64, 4_000n);
      const border = whirlpoolSqrtPrice((group + 1) * 64);
      const step = swapStep(sqrtPrice, border, pool.liquidity, remaining, rate, true, false, true)!;
      remaining -= step.amountIn + step.fee;
      output += step.amountOut;
      sqrtPrice = step.sqrtPrice;
    }
    expect(fill).toMatchObject({ output, sqrtPrice });
    expect(fill.steps).toBeGreaterThan(2);
  });

  it("prices whole stretches at once while volatility is at its maximum", () => {
    const capped = swapWhirlpool(
      curve({ oracle: oracle({ maximumVolatility: 20_000 }) }),
      false,
      true,
      10n ** 11n,
      NOW,
    )!;
    // Groups 0, 1 and 2, then one step to wherever it ends.
    expect(capped.steps).toBe(4);
  });

  it("keeps volatility within the filter period, half of it within the decay period, none after", () => {
    const at = (age: bigint): bigint =>
      swapWhirlpool(
        curve({
          oracle: oracle({
            referenceAt: NOW - age,
            volatility: 200_000,
            volatilityReference: 100_000,
            groupReference: 0,
          }),
        }),
        false,
        true,
        1_000_000n,
        NOW,
      )!.output;
    expect(at(29n)).toBe(at(30n));
    expect(at(599n)).toBeLessThan(at(600n));
    expect(at(600n)).toBe(swapWhirlpool(curve(), false, true, 1_000_000n, NOW)!.output);
  });

  it("refuses a trade through more groups than a transaction has units for, and prices no more of them", () => {
    // Groups of one tick over the whole curve: before the bound, a quote priced 443,000 of them.
    let asked = 0;
    const endless = curve({
      tickSpacing: 32_896,
      ticks: [],
      liquidityNet: [],
      sqrtPrices: [],
      oracle: { ...oracle({ maximumVolatility: 2 ** 32 - 1, groupSize: 1 }) },
    });
    const counted = new Proxy(endless, {
      get(target, key) {
        if (key === "feeRate") asked++;
        return Reflect.get(target, key);
      },
    });
    for (const aToB of [true, false]) expect(swapWhirlpool(counted, aToB, true, 10n ** 30n, NOW)).toBeUndefined();
    expect(asked).toBeLessThan(600);
    expect(swapWhirlpool(endless, false, true, 10n ** 8n, NOW)!.steps).toBeLessThan(100);
  });

  it("is the base fee if its control is zero", () => {
    const still = curve({ oracle: oracle({ controlFactor: 0n, volatilityReference: 300_000, referenceAt: NOW }) });
    expect(swapWhirlpool(still, true, true, 10n ** 9n, NOW)?.output).toBe(
      swapWhirlpool(curve(), true, true, 10n ** 9n, NOW)?.output,
    );
  });
});
