import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { U64_MAX } from "../../primitives/integer.ts";
import type { DammV2Pool } from "./layout.ts";
import { dammV2ExactIn, dammV2ExactOut, dammV2Moment, dammV2Price } from "./math.ts";

const ONE = 1n << 64n;
const pool: DammV2Pool = {
  baseFee: {
    kind: "timeSchedule",
    cliff: 2_500_000n,
    exponential: false,
    reduction: 0n,
    periods: 0n,
    frequency: 0n,
  },
  volatility: undefined,
  volatilityFee: 0n,
  feeCap: 500_000_000n,
  feeSide: "output",
  compounding: false,
  protocolPercent: 20n,
  compoundingBps: 5_000n,
  firstSqrtPrice: ONE,
  liquidity: (10n ** 12n) << 64n,
  minSqrtPrice: ONE / 2n,
  maxSqrtPrice: ONE * 2n,
  sqrtPrice: ONE,
  reserves: [0n, 0n],
  activationPoint: 0n,
  countsSeconds: true,
  enabled: true,
  migrated: true,
};
const compounding: DammV2Pool = {
  ...pool,
  compounding: true,
  feeSide: "tokenB",
  reserves: [10n ** 12n, 4n * 10n ** 12n],
};

describe("DAMM v2 maths", () => {
  it("takes the fee from the output, or from token B only", () => {
    const moment = dammV2Moment(pool, false, 1n);
    const onOutput = dammV2ExactIn(pool, false, 1_000_000n, moment)!;
    expect(onOutput.netIn).toBe(1_000_000n);
    expect(onOutput.output).toBe(onOutput.grossOut - 2_500n);
    const onInput = dammV2ExactIn({ ...pool, feeSide: "tokenB" }, false, 1_000_000n, moment)!;
    expect(onInput.netIn).toBe(997_500n);
    expect(onInput.output).toBe(onInput.grossOut);
  });

  it("charges at least as much for an output as produced it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(pool, compounding),
        fc.boolean(),
        fc.bigInt(1_000n, 10n ** 11n),
        (of, aToB, input) => {
          const moment = dammV2Moment(of, aToB, 1n);
          const forward = dammV2ExactIn(of, aToB, input, moment)!;
          const back = dammV2ExactOut(of, aToB, forward.output, moment)!;
          expect(back.input).toBeLessThanOrEqual(input + 1n);
          expect(dammV2ExactIn(of, aToB, back.input, moment)!.output).toBeGreaterThanOrEqual(forward.output - 1n);
        },
      ),
    );
  });

  it("gives nothing beyond its price range", () => {
    const moment = dammV2Moment(pool, true, 1n);
    expect(dammV2ExactIn(pool, true, U64_MAX, moment)).toBeUndefined();
    expect(dammV2ExactIn(pool, false, U64_MAX, moment)).toBeUndefined();
    expect(dammV2ExactOut(pool, true, 10n ** 12n, moment)).toBeUndefined();
    expect(dammV2ExactOut(compounding, true, 4n * 10n ** 12n, moment)).toBeUndefined();
    expect(dammV2ExactIn({ ...pool, liquidity: 0n }, true, 1n, moment)).toBeUndefined();
  });

  it("caps fees and adds the volatility part", () => {
    const moment = dammV2Moment(pool, true, 1n);
    const volatile = { ...pool, volatilityFee: 900_000_000n };
    const fill = dammV2ExactIn(volatile, true, 1_000_000n, moment)!;
    expect(fill.output).toBe(fill.grossOut - (fill.grossOut + 1n) / 2n);
  });

  it("knows the price before a trade", () => {
    const [numerator, denominator] = dammV2Price(compounding);
    expect(numerator / denominator).toBe(4n);
    expect(dammV2Price(pool)).toEqual([1n << 128n, 1n << 128n]);
  });
});
