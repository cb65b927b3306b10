import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  buyExactIn,
  buyExactOut,
  type LaunchCurve,
  type LaunchCurveType,
  launchPrice,
  sellExactIn,
  sellExactOut,
} from "./math.ts";

/** The usual launch: 1.073 × 10^15 virtual coins against 30 virtual SOL, one per cent of fees. */
const usual: LaunchCurve = {
  type: 0,
  virtualBase: 1_073_025_605_596_382n,
  virtualQuote: 30_000_852_951n,
  realBase: 0n,
  realQuote: 0n,
  totalBaseSell: 793_100_000_000_000n,
  feeRate: 10_000n,
};
const small: LaunchCurve = {
  type: 0,
  virtualBase: 1_000n,
  virtualQuote: 500n,
  realBase: 200n,
  realQuote: 125n,
  totalBaseSell: 700n,
  feeRate: 10_000n,
};
const fixed: LaunchCurve = {
  ...small,
  type: 1,
  virtualBase: 4_000n,
  virtualQuote: 1_000n,
  realBase: 400n,
  realQuote: 100n,
};
/** Price 2 quote per base for each base sold: slope 2^65, area base². */
const linear: LaunchCurve = {
  ...small,
  type: 2,
  virtualBase: 1n << 65n,
  virtualQuote: 0n,
  realBase: 10n,
  realQuote: 100n,
};

describe("a constant-product curve", () => {
  it("takes the fee from the input, rounded up, and rounds the output down", () => {
    // 100 in: fee 1, net 99; 800 · 99 / (625 + 99) = 109.39.
    expect(buyExactIn(100n, small)).toEqual({ input: 100n, output: 109n, netIn: 99n, grossOut: 109n });
  });

  it("rounds an exact output's input up at each step", () => {
    // 625 · 109 / (800 − 109) = 98.58 → 99; 99 · 10^6 / 990 000 = 100.
    expect(buyExactOut(109n, small)).toEqual({ input: 100n, output: 109n, netIn: 99n, grossOut: 109n });
  });

  it("takes the fee from the proceeds of a sale", () => {
    // 625 · 100 / (800 + 100) = 69.4 → 69, fee ceil(0.69) = 1.
    expect(sellExactIn(100n, small)).toEqual({ input: 100n, output: 68n, netIn: 100n, grossOut: 69n });
    // 68 · 10^6 / 990 000 = 68.7 → 69; 800 · 69 / (625 − 69) = 99.28 → 100.
    expect(sellExactOut(68n, small)).toEqual({ input: 100n, output: 68n, netIn: 100n, grossOut: 69n });
  });

  it("sells its last token and no more", () => {
    expect(buyExactOut(500n, small)?.output).toBe(500n);
    expect(buyExactOut(501n, small)).toBeUndefined();
    const whole = buyExactOut(500n, small)!;
    expect(buyExactIn(whole.input, small)?.output).toBeLessThanOrEqual(500n);
    expect(buyExactIn(whole.input * 2n, small)).toBeUndefined();
  });

  it("raises about 85 SOL over the usual launch", () => {
    const whole = buyExactOut(usual.totalBaseSell, usual)!;
    expect(Number(whole.netIn) / 1e9).toBeCloseTo(85, 1);
    expect(launchPrice(usual)).toEqual([30_000_852_951n, 1_073_025_605_596_382n]);
  });
});

describe("a fixed-price curve", () => {
  it("gives four base tokens for one quote token, whatever was sold", () => {
    expect(buyExactIn(50n, fixed)).toEqual({ input: 50n, output: 196n, netIn: 49n, grossOut: 196n });
    // 99 / 4 = 24.75 → 25; 25 / 0.99 = 25.25 → 26.
    expect(buyExactOut(99n, fixed)).toEqual({ input: 26n, output: 99n, netIn: 25n, grossOut: 99n });
    expect(sellExactIn(99n, fixed)).toEqual({ input: 99n, output: 23n, netIn: 99n, grossOut: 24n });
    expect(sellExactOut(23n, fixed)).toEqual({ input: 96n, output: 23n, netIn: 96n, grossOut: 24n });
  });
});

describe("a linear curve", () => {
  it("has raised the square of the tokens sold", () => {
    // 100 + 125 = 15²: five more; the fee on 127 is 2.
    expect(buyExactIn(127n, linear)).toEqual({ input: 127n, output: 5n, netIn: 125n, grossOut: 5n });
    expect(buyExactOut(5n, linear)).toEqual({ input: 127n, output: 5n, netIn: 125n, grossOut: 5n });
    // Back from 10 to 6: 100 − 36 = 64, fee 1.
    expect(sellExactIn(4n, linear)).toEqual({ input: 4n, output: 63n, netIn: 4n, grossOut: 64n });
    expect(sellExactOut(63n, linear)).toEqual({ input: 4n, output: 63n, netIn: 4n, grossOut: 64n });
    expect(launchPrice(linear)).toEqual([10n << 65n, 1n << 64n]);
  });
});

describe("every curve", () => {
  const anyCurve = fc
    .record({
      type: fc.constantFrom<LaunchCurveType>(0, 1, 2),
      feeRate: fc.bigInt(0n, 200_000n),
      sold: fc.bigInt(0n, 400_000_000_000_000n),
      slope: fc.bigInt(1n << 20n, 1n << 44n),
    })
    .map(({ type, feeRate, sold, slope }): LaunchCurve => {
      const fresh = { ...usual, type, feeRate, ...(type === 2 ? { virtualBase: slope, virtualQuote: 0n } : {}) };
      const start = buyExactOut(sold, fresh);
      return start === undefined ? fresh : { ...fresh, realBase: sold, realQuote: start.netIn };
    });

  it("never pays back more than a purchase cost", () => {
    fc.assert(
      fc.property(anyCurve, fc.bigInt(1n, 10n ** 11n), (curve, spent) => {
        const bought = buyExactIn(spent, curve);
        if (bought === undefined || bought.output === 0n) return;
        const after = {
          ...curve,
          realBase: curve.realBase + bought.output,
          realQuote: curve.realQuote + bought.netIn,
        };
        const back = sellExactIn(bought.output, after)!;
        expect(back.output).toBeLessThanOrEqual(spent);
      }),
    );
  });

  it("charges no more for an exact output than exact input paid for it, and enough to produce it", () => {
    fc.assert(
      fc.property(anyCurve, fc.bigInt(1n, 10n ** 11n), (curve, spent) => {
        const bought = buyExactIn(spent, curve);
        if (bought === undefined || bought.output === 0n) return;
        const exact = buyExactOut(bought.output, curve)!;
        expect(exact.input).toBeLessThanOrEqual(spent);
        const again = buyExactIn(exact.input, curve);
        if (again !== undefined) expect(again.output).toBeGreaterThanOrEqual(bought.output);
      }),
    );
  });
});
