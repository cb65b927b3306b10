import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stableInvariant, stablePrice, stableReserve } from "./stable-swap.ts";

const reserve = fc.bigInt(10n ** 9n, 10n ** 15n);

describe("stable swap", () => {
  it("has the sum as invariant of equal reserves", () => {
    expect(stableInvariant(100n, 10n ** 12n, 10n ** 12n)).toEqual({ value: 2n * 10n ** 12n, rounds: 1 });
    expect(stableInvariant(100n, 0n, 10n).value).toBe(0n);
  });

  it("finds the reserve the invariant came from", () => {
    fc.assert(
      fc.property(reserve, reserve, fc.bigInt(1n, 5_000n), (x, y, amplification) => {
        const found = stableReserve(amplification, x, stableInvariant(amplification, x, y).value);
        expect(Number(found.value) / Number(y)).toBeCloseTo(1, 5);
      }),
    );
  });

  it("prices at the slope of the curve", () => {
    const [x, y, amplification] = [3n * 10n ** 15n, 10n ** 15n, 20n];
    const { value: d } = stableInvariant(amplification, x, y);
    const [numerator, denominator] = stablePrice(amplification, x, y);
    const step = 10n ** 9n;
    const moved = y - stableReserve(amplification, x + step, d).value;
    expect(Number(moved) / Number(step)).toBeCloseTo(Number((numerator * 10n ** 9n) / denominator) / 1e9, 4);
  });
});
