import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AmmV4Side, ammV4ExactIn, ammV4ExactOut, feeRoundsToNothing, inputRoundsToNothing } from "./math.ts";

const side: AmmV4Side = { reserveIn: 1_000_000n, reserveOut: 4_000_000n, feeNumerator: 25n, feeDenominator: 10_000n };

describe("ammV4ExactIn", () => {
  it("takes the fee rounded up, then follows the curve rounded down", () => {
    // Fee ceil(2.5025) = 3, then 998 · 4 000 000 / 1 000 998 = 3 988.02.
    expect(ammV4ExactIn(1_001n, side)).toEqual({ input: 1_001n, output: 3_988n, netIn: 998n });
  });
});

describe("ammV4ExactOut", () => {
  it("rounds every step up", () => {
    // 1 000 000 · 3 988 / 3 996 012 = 997.99 → 998, and 998 · 10 000 / 9 975 = 1 000.5 → 1 001.
    expect(ammV4ExactOut(3_988n, side)).toEqual({ input: 1_001n, output: 3_988n, netIn: 998n });
  });

  it("never gives the last unit", () => {
    expect(ammV4ExactOut(4_000_000n, side)).toBeUndefined();
  });

  it("never asks more than what exact in would take for the same output", () => {
    fc.assert(
      fc.property(
        fc.bigInt(1_000n, 10n ** 15n),
        fc.bigInt(10n ** 6n, 10n ** 15n),
        fc.bigInt(10n ** 6n, 10n ** 15n),
        (input, reserveIn, reserveOut) => {
          const pool = { ...side, reserveIn, reserveOut };
          const there = ammV4ExactIn(input, pool);
          if (there.output === 0n) return;
          const back = ammV4ExactOut(there.output, pool)!;
          expect(back.input).toBeLessThanOrEqual(input);
          expect(ammV4ExactIn(back.input, pool).output).toBeGreaterThanOrEqual(there.output);
        },
      ),
    );
  });
});

describe("dust", () => {
  it("is an amount whose fee or input builds round differently", () => {
    expect(feeRoundsToNothing(199n, side)).toBe(true);
    expect(feeRoundsToNothing(200n, side)).toBe(false);
    expect(feeRoundsToNothing(1n, { ...side, feeNumerator: 0n })).toBe(false);
    expect(inputRoundsToNothing(1n, side)).toBe(true);
    expect(inputRoundsToNothing(2n, side)).toBe(false);
  });
});
