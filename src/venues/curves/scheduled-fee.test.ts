import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addFee,
  type BaseFee,
  baseFeeOnGross,
  baseFeeOnNet,
  baseFeeWork,
  type FeeMoment,
  isLimiting,
  partsOfBps,
  takeFee,
  volatilityFee,
} from "./scheduled-fee.ts";

const ONE = 1n << 64n;
const start: FeeMoment = { point: 1000n, activationPoint: 1000n, buying: true, sqrtPrice: ONE, firstSqrtPrice: ONE };
const at = (seconds: bigint): FeeMoment => ({ ...start, point: 1000n + seconds });

const schedule: BaseFee = {
  kind: "timeSchedule",
  cliff: 500_000_000n,
  exponential: false,
  reduction: 4_900_000n,
  periods: 100n,
  frequency: 60n,
};
const limiter: BaseFee = {
  kind: "rateLimiter",
  cliff: partsOfBps(100),
  increment: partsOfBps(100),
  maximum: partsOfBps(5000),
  reference: 1_000_000_000n,
  duration: 600n,
};

describe("fees by time", () => {
  it("fall a step each period, to the last", () => {
    expect(baseFeeOnGross(schedule, 1n, at(0n))).toBe(500_000_000n);
    expect(baseFeeOnGross(schedule, 1n, at(59n))).toBe(500_000_000n);
    expect(baseFeeOnGross(schedule, 1n, at(180n))).toBe(485_300_000n);
    expect(baseFeeOnGross(schedule, 1n, at(1_000_000n))).toBe(10_000_000n);
  });

  it("take a share of what is left each period when exponential", () => {
    const fee: BaseFee = { ...schedule, exponential: true, reduction: 1000n };
    expect(baseFeeOnGross(fee, 1n, at(0n))).toBe(500_000_000n);
    expect(baseFeeOnGross(fee, 1n, at(120n))).toBe(405_000_000n);
  });

  it("stay where they are at a frequency of zero", () => {
    expect(baseFeeOnGross({ ...schedule, frequency: 0n }, 1n, at(99_999n))).toBe(500_000_000n);
  });
});

describe("fees by market cap", () => {
  const fee: BaseFee = {
    kind: "marketCapSchedule",
    cliff: 300_000_000n,
    exponential: false,
    reduction: 5_000_000n,
    periods: 50n,
    stepBps: 100n,
    duration: 3600n,
  };

  it("fall as the price rises, not as it falls, and end when they expire", () => {
    expect(baseFeeOnGross(fee, 1n, { ...start, sqrtPrice: (ONE * 103n) / 100n + 1n })).toBe(285_000_000n);
    expect(baseFeeOnGross(fee, 1n, { ...start, sqrtPrice: ONE / 2n })).toBe(300_000_000n);
    expect(baseFeeOnGross(fee, 1n, { ...start, sqrtPrice: ONE * 9n })).toBe(50_000_000n);
    expect(baseFeeOnGross(fee, 1n, at(3601n))).toBe(50_000_000n);
  });

  it("are counted above the first price, may be below it, and are not once they have expired", () => {
    const work = (moment: typeof start) => {
      const { counts, mayCount } = baseFeeWork(fee, 1n, false, moment);
      return [counts, mayCount];
    };
    expect(work({ ...start, sqrtPrice: ONE + 1n })).toEqual([true, false]);
    expect(work(start)).toEqual([false, true]);
    expect(work({ ...at(3601n), sqrtPrice: ONE * 2n })).toEqual([false, false]);
  });
});

it("counts a power from the first period on: the first step may fall before the trade lands", () => {
  const fee = { kind: "timeSchedule", cliff: 500_000_000n, exponential: true, reduction: 250n } as const;
  const work = (periods: bigint, frequency: bigint) =>
    baseFeeWork({ ...fee, periods, frequency }, 1n, false, start).powers;
  expect([work(120n, 30n), work(0n, 30n), work(120n, 0n)]).toEqual([true, false, false]);
});

describe("rate limiter", () => {
  it("charges the cliff up to the reference amount and more above it", () => {
    expect(baseFeeOnGross(limiter, 1_000_000_000n, start)).toBe(10_000_000n);
    expect(baseFeeOnGross(limiter, 2_000_000_000n, start)).toBe(15_000_000n);
    expect(baseFeeOnGross(limiter, 10n ** 15n, start)).toBeGreaterThan(499_000_000n);
  });

  it("watches buys only, and only for its duration", () => {
    expect(isLimiting(limiter, start)).toBe(true);
    expect(isLimiting(limiter, { ...start, buying: false })).toBe(false);
    expect(isLimiting(limiter, at(601n))).toBe(false);
    expect(baseFeeOnGross(limiter, 10n ** 15n, at(601n))).toBe(10_000_000n);
  });

  it("has an inverse that charges no less than the forward fee, to a rounding", () => {
    fc.assert(
      fc.property(fc.bigInt(1_000_000n, 10n ** 14n), (gross) => {
        const net = takeFee(gross, baseFeeOnGross(limiter, gross, start));
        const rate = baseFeeOnNet(limiter, net, start)!;
        const again = addFee(net, rate);
        expect(Number(again) / Number(gross)).toBeCloseTo(1, 1);
        expect(rate).toBeGreaterThanOrEqual(10_000_000n);
      }),
    );
  });

  it("names the steps the program takes", () => {
    expect(baseFeeWork(limiter, 1n, false, start)).toEqual({ counts: false, powers: false, roots: false });
    expect(baseFeeWork(limiter, 2_000_000_000n, false, start)).toEqual({ counts: true, powers: false, roots: false });
    expect(baseFeeWork(limiter, 2_000_000_000n, true, start)).toEqual({ counts: true, powers: false, roots: true });
    expect(baseFeeWork(limiter, 10n ** 15n, true, start)).toEqual({ counts: true, powers: false, roots: false });
  });
});

describe("fee arithmetic", () => {
  it("rounds in the pool's favour both ways", () => {
    expect(takeFee(1n, 1n)).toBe(0n);
    expect(takeFee(1_000_000_000n, 2_500_000n)).toBe(997_500_000n);
    expect(addFee(997_500_000n, 2_500_000n)).toBe(1_000_000_000n);
    expect(addFee(1n, 2_500_000n)).toBe(2n);
  });

  it("grows with the square of volatility, rounded up", () => {
    expect(volatilityFee(0n, 10n, 1000n)).toBe(0n);
    expect(volatilityFee(1n, 1n, 1n)).toBe(1n);
    expect(volatilityFee(1_000_000n, 10n, 1000n)).toBe(1_000_000n);
  });
});
