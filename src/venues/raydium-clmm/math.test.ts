import { describe, expect, it } from "vitest";
import { feeRateWithVolatility, MAX_TICK, MIN_TICK, Q64, swapStep } from "../curves/concentrated-liquidity.ts";
import { whirlpoolSqrtPrice } from "../orca-whirlpool/tick-price.ts";
import type { ClmmCurve } from "./curve.ts";
import type { ClmmVolatility } from "./layout.ts";
import { matchOrders } from "./limit-orders.ts";
import { clmmAfter, swapClmm } from "./math.ts";
import { clmmSqrtPrice } from "./ticks/tick-price.ts";

const NOW = 1_800_000_000n;

const volatility = (changes: Partial<ClmmVolatility> = {}): ClmmVolatility => ({
  filterPeriod: 30n,
  decayPeriod: 600n,
  reductionFactor: 5_000,
  control: 4_000n,
  maximum: 350_000,
  groupReference: 0,
  reference: 0,
  accumulated: 0,
  updatedAt: NOW - 10_000n,
  ...changes,
});

const curve = (changes: Partial<ClmmCurve> = {}): ClmmCurve => ({
  feeRate: 2_500n,
  feeOn: 0,
  liquidity: 10n ** 12n,
  sqrtPrice: clmmSqrtPrice(10),
  tick: 10,
  tickSpacing: 60,
  ticks: [-120, 600],
  liquidityNet: [5n * 10n ** 11n, -(10n ** 12n)],
  hasLiquidity: [true, true],
  orders: [0n, 0n],
  sqrtPrices: [-120, 600].map(clmmSqrtPrice),
  volatility: undefined,
  ...changes,
});

describe("clmmSqrtPrice", () => {
  it("gives the program's first and last price", () => {
    expect(clmmSqrtPrice(MIN_TICK)).toBe(4295048016n);
    expect(clmmSqrtPrice(MAX_TICK)).toBe(79226673521066979257578248091n);
    expect(clmmSqrtPrice(0)).toBe(Q64);
  });

  it("differs from Orca's in the last bits", () => {
    expect(clmmSqrtPrice(-3)).not.toBe(whirlpoolSqrtPrice(-3));
    expect(clmmSqrtPrice(10_007)).not.toBe(whirlpoolSqrtPrice(10_007));
  });
});

describe("swapClmm", () => {
  it("trades inside one stretch as one step", () => {
    const { sqrtPrice, liquidity } = curve();
    const step = swapStep(sqrtPrice, clmmSqrtPrice(-120), liquidity, 5_000n, 2_500n, true, true, true)!;
    expect(swapClmm(curve(), true, true, 5_000n, NOW)).toMatchObject({
      input: 5_000n,
      output: step.amountOut,
      searchedTo: -120,
      crossed: 0,
      endsBetween: true,
    });
  });

  it("removes liquidity as it crosses a tick, and refuses amounts beyond the known ticks", () => {
    const wide = curve({
      ticks: [-6_000, -120, 600],
      liquidityNet: [5n * 10n ** 11n, 5n * 10n ** 11n, -(10n ** 12n)],
      hasLiquidity: [true, true, true],
      orders: [0n, 0n, 0n],
      sqrtPrices: [-6_000, -120, 600].map(clmmSqrtPrice),
    });
    const fill = swapClmm(wide, true, true, 10n ** 10n, NOW)!;
    expect(fill).toMatchObject({ crossed: 1, searchedTo: -6_000 });
    expect(swapClmm(wide, true, true, 10n ** 12n, NOW)).toBeUndefined();
  });

  it("charges no more by exact out than exact in took for the same output", () => {
    for (const amount of [1_000n, 77_777n, 4_000_000_000n]) {
      const there = swapClmm(curve(), false, true, amount, NOW)!;
      const back = swapClmm(curve(), false, false, there.output, NOW)!;
      expect(back.input).toBeLessThanOrEqual(amount);
      expect(back.input).toBeGreaterThan(amount - 10n);
    }
  });

  it("takes a fee on a fixed side from that side, in both directions", () => {
    const inFee = swapClmm(curve(), true, true, 1_000_000n, NOW)!;
    expect(swapClmm(curve({ feeOn: 1 }), true, true, 1_000_000n, NOW)).toEqual(inFee);
    const outFee = swapClmm(curve({ feeOn: 2 }), true, true, 1_000_000n, NOW)!;
    expect(outFee.netIn).toBe(1_000_000n);
    // 0.25 % of what the curve gives, rounded up.
    expect(outFee.grossOut - outFee.output).toBe((outFee.grossOut * 2_500n + 999_999n) / 1_000_000n);
    const exact = swapClmm(curve({ feeOn: 2 }), true, false, outFee.output, NOW)!;
    expect(exact.output).toBe(outFee.output);
    expect(exact.input).toBeLessThanOrEqual(1_000_000n);
  });
});

describe("limit orders", () => {
  it("fill at the tick's price, fee on input", () => {
    // Price 4: 1 000 in, fee ceil(2.5) = 3, 997 · 4 = 3 988 out.
    expect(matchOrders(10_000n, 2n * Q64, 1_000n, 2_500n, true, true, true)).toEqual({
      amountIn: 997n,
      amountOut: 3_988n,
      fee: 3n,
    });
  });

  it("fill completely if the amount reaches further: input and fee rounded up", () => {
    // 3 001 / 4 = 750.25 → 751 in, fee ceil(751 · 2 500 / 997 500) = 2.
    expect(matchOrders(3_001n, 2n * Q64, 1_000n, 2_500n, true, true, true)).toEqual({
      amountIn: 751n,
      amountOut: 3_001n,
      fee: 2n,
    });
  });

  it("fill for an exact output, fee on output", () => {
    // ceil(399 · 10^6 / 997 500) = 400 gross, of which 1 is fee; 400 · 4 = 1 600 in.
    expect(matchOrders(5_000n, 2n * Q64, 399n, 2_500n, false, false, false)).toEqual({
      amountIn: 1_600n,
      amountOut: 399n,
      fee: 1n,
    });
  });

  it("come before the liquidity beyond their tick", () => {
    const plain = curve({
      ticks: [-120, 0, 600],
      liquidityNet: [5n * 10n ** 11n, 0n, -(10n ** 12n)],
      hasLiquidity: [true, false, true],
      orders: [0n, 0n, 0n],
      sqrtPrices: [-120, 0, 600].map(clmmSqrtPrice),
    });
    const selling = { ...plain, orders: [0n, 10n ** 6n, 0n] };
    const amount = 600_000_000n;
    const without = swapClmm(plain, true, true, amount, NOW)!;
    const withOrders = swapClmm(selling, true, true, amount, NOW)!;
    expect(withOrders.matched).toBe(1);
    expect(withOrders.output).toBeGreaterThan(without.output);
    // All of the order is taken: one million of token 1 at price 1, before the price moves on.
    expect(withOrders.endsBetween).toBe(true);
  });

  it("stop the price if they outlast the amount", () => {
    const wall = curve({
      ticks: [0],
      liquidityNet: [0n],
      hasLiquidity: [false],
      orders: [10n ** 15n],
      sqrtPrices: [Q64],
    });
    const fill = swapClmm(wall, true, true, 10n ** 10n, NOW)!;
    expect(fill.endsBetween).toBe(false);
    expect(swapClmm({ ...wall, sqrtPrice: Q64, tick: 0 }, true, true, 1_000n, NOW)).toMatchObject({
      output: 997n,
      touched: 1,
      matched: 1,
    });
  });
});

describe("a fee that follows volatility", () => {
  it("is the base fee inside the tick spacing the trade begins in", () => {
    const plain = swapClmm(curve(), false, true, 10_000n, NOW);
    expect(swapClmm(curve({ volatility: volatility() }), false, true, 10_000n, NOW)).toEqual(plain);
  });

  it("rises tick spacing by tick spacing as the price moves away", () => {
    const pool = curve({ volatility: volatility() });
    const fill = swapClmm(pool, false, true, 10n ** 10n, NOW)!;
    // The same walk by hand: tick 10 lies in spacing 0, whose upper border is tick 60.
    let { sqrtPrice } = pool;
    let remaining = 10n ** 10n;
    let output = 0n;
    for (let group = 0; remaining > 0n; group++) {
      const rate = feeRateWithVolatility(2_500n, group * 10_000, 60, 4_000n);
      const step = swapStep(
        sqrtPrice,
        clmmSqrtPrice((group + 1) * 60),
        pool.liquidity,
        remaining,
        rate,
        true,
        false,
        true,
      )!;
      remaining -= step.amountIn + step.fee;
      output += step.amountOut;
      sqrtPrice = step.sqrtPrice;
    }
    expect(fill.output).toBe(output);
    expect(fill.steps).toBeGreaterThan(2);
  });

  it("is priced through no more stretches than a transaction has units for", () => {
    let asked = 0;
    const ends = [MIN_TICK, MAX_TICK];
    const endless = curve({
      tickSpacing: 1,
      ticks: ends,
      liquidityNet: [10n ** 12n, -(10n ** 12n)],
      sqrtPrices: ends.map(clmmSqrtPrice),
      volatility: volatility({ maximum: 2 ** 32 - 1 }),
    });
    const counted = new Proxy(endless, {
      get(target, key) {
        if (key === "feeRate") asked++;
        return Reflect.get(target, key);
      },
    });
    for (const down of [true, false]) expect(swapClmm(counted, down, true, 10n ** 30n, NOW)).toBeUndefined();
    expect(asked).toBeLessThan(600);
  });

  it("is priced in one step once volatility reaches its maximum", () => {
    const capped = curve({ volatility: volatility({ maximum: 10_000 }) });
    // Spacing 0, then one step to wherever it ends.
    expect(swapClmm(capped, false, true, 10n ** 10n, NOW)?.steps).toBe(2);
  });

  it("keeps volatility within the filter period, half of it within the decay period, none after", () => {
    const at = (age: bigint): bigint =>
      swapClmm(
        curve({ volatility: volatility({ updatedAt: NOW - age, accumulated: 200_000, reference: 100_000 }) }),
        false,
        true,
        1_000_000n,
        NOW,
      )!.output;
    expect(at(29n)).toBe(at(30n));
    expect(at(599n)).toBeLessThan(at(600n));
    expect(at(600n)).toBe(swapClmm(curve(), false, true, 1_000_000n, NOW)!.output);
  });
});

describe("clmmAfter", () => {
  it("leaves the tick to a trade that does not move the price, below a tick that was crossed", () => {
    const ticks = [-600, -120];
    const crossed = curve({ ticks, sqrtPrices: ticks.map(clmmSqrtPrice), tick: -121, sqrtPrice: clmmSqrtPrice(-120) });
    expect(clmmAfter(crossed, true, true, 1n, NOW)!.curve).toMatchObject({
      tick: -121,
      sqrtPrice: clmmSqrtPrice(-120),
    });
    expect(clmmAfter(crossed, true, true, 10n ** 8n, NOW)!.curve.tick).toBeLessThan(-121);
  });
});
