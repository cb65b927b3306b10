import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  amount0Between,
  amount1Between,
  createPowerLadder,
  feeRateWithVolatility,
  lastTickAtOrBelow,
  midPrice,
  Q64,
  swapStep,
  volatilityAt,
} from "./concentrated-liquidity.ts";

const price = fc.bigInt(Q64 / 1_000n, Q64 * 1_000n);
const liquidity = fc.bigInt(1n, 1n << 70n);
const amount = fc.bigInt(1n, 1n << 60n);
const rate = fc.bigInt(0n, 100_000n);

describe("swapStep", () => {
  it("inside one stretch is the curve x · y = k with the fee on input", () => {
    const step = swapStep(Q64, Q64 / 2n, 10n ** 12n, 1_000_000n, 3_000n, true, true, true)!;
    // 997 000 · 10^12 / (10^12 + 997 000) = 996 999.006…
    expect(step.amountOut).toBe(996_999n);
    expect(step.amountIn + step.fee).toBe(1_000_000n);
  });

  it("takes the whole stretch when the amount reaches past it", () => {
    const step = swapStep(Q64, 2n * Q64, 1_000n, 10_000n, 10_000n, true, false, true)!;
    expect(step).toEqual({ sqrtPrice: 2n * Q64, amountIn: 1_000n, amountOut: 500n, fee: 11n });
  });

  it("passes where there is no liquidity, for nothing", () => {
    expect(swapStep(Q64, 5n, 0n, 7n, 100n, true, true, true)).toEqual({
      sqrtPrice: 5n,
      amountIn: 0n,
      amountOut: 0n,
      fee: 0n,
    });
  });

  it("takes a fee on output from what leaves", () => {
    const step = swapStep(Q64, 2n * Q64, 1_000n, 10_000n, 10_000n, true, false, false)!;
    expect(step).toEqual({ sqrtPrice: 2n * Q64, amountIn: 1_000n, amountOut: 495n, fee: 5n });
  });

  it("never gives more than asked, never takes more than given, and stays between the prices", () => {
    fc.assert(
      fc.property(
        price,
        price,
        liquidity,
        amount,
        rate,
        fc.boolean(),
        fc.boolean(),
        (a, b, held, asked, fee, exactIn, feeOnInput) => {
          const zeroForOne = b < a;
          const step = swapStep(a, b, held, asked, fee, exactIn, zeroForOne, feeOnInput);
          if (step === undefined) return;
          const [low, high] = zeroForOne ? [b, a] : [a, b];
          expect(step.sqrtPrice >= low && step.sqrtPrice <= high).toBe(true);
          expect(step.amountOut).toBeGreaterThanOrEqual(0n);
          if (exactIn) expect(step.amountIn + (feeOnInput ? step.fee : 0n)).toBeLessThanOrEqual(asked);
          else expect(step.amountOut).toBeLessThanOrEqual(asked);
        },
      ),
    );
  });
});

describe("amounts between prices", () => {
  it("round up at most one unit above rounding down", () => {
    fc.assert(
      fc.property(price, price, liquidity, (a, b, held) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        expect(amount0Between(low, high, held, true) - amount0Between(low, high, held, false)).toBeOneOf([0n, 1n]);
        expect(amount1Between(low, high, held, true) - amount1Between(low, high, held, false)).toBeOneOf([0n, 1n]);
      }),
    );
  });
});

describe("createPowerLadder", () => {
  it("is the product of the factors of the set bits, floored from the lowest up", () => {
    const factors = Array.from({ length: 12 }, (_, i) => Q64 - BigInt(i + 1) * 1_000_003n ** 2n);
    const ladder = createPowerLadder(Q64, 64n, factors);
    for (const n of [0, 1, 2, 3, 511, 512, 513, 2_048, 4_095]) {
      let expected = Q64;
      for (let bit = 0; bit < 12; bit++) if ((n >> bit) & 1) expected = (expected * factors[bit]!) >> 64n;
      expect(ladder(n)).toBe(expected);
    }
  });
});

describe("lastTickAtOrBelow", () => {
  it("finds the place in an ascending list", () => {
    const ticks = [-20, -4, 0, 8];
    expect([-21, -20, -5, -4, 7, 8, 99].map((tick) => lastTickAtOrBelow(ticks, tick))).toEqual([-1, 0, 0, 1, 2, 3, 3]);
    expect(lastTickAtOrBelow([], 3)).toBe(-1);
  });
});

describe("fees that follow volatility", () => {
  it("grow with the square of the groups crossed, rounded up", () => {
    // 4 000 · (3 · 10 000 · 64)² / 10^13 = 1 474.56
    expect(feeRateWithVolatility(3_000n, 30_000, 64, 4_000n)).toBe(3_000n + 1_475n);
    expect(feeRateWithVolatility(3_000n, 0, 64, 4_000n)).toBe(3_000n);
  });

  it("stop at ten per cent", () => {
    expect(feeRateWithVolatility(3_000n, 350_000, 128, 50_000n)).toBe(100_000n);
  });

  it("count groups from the reference, up to the maximum", () => {
    expect(volatilityAt(500, 10, 7, 350_000)).toBe(30_500);
    expect(volatilityAt(0, 0, 99, 350_000)).toBe(350_000);
  });
});

describe("midPrice", () => {
  it("is output per input in either direction", () => {
    expect(midPrice(2n * Q64, true)).toEqual([4n << 128n, 1n << 128n]);
    expect(midPrice(2n * Q64, false)).toEqual([1n << 128n, 4n << 128n]);
  });
});
