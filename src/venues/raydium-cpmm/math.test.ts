import { describe, expect, it } from "vitest";
import { createRandom } from "../../primitives/random.ts";
import { type CpmmDirection, cpmmExactIn, cpmmExactOut } from "./math.ts";

const side = (over: Partial<CpmmDirection> = {}): CpmmDirection => ({
  reserveIn: 1_000_000n,
  reserveOut: 2_000_000n,
  tradeFeeRate: 2_500n,
  creatorFeeRate: 0n,
  creatorFeeOnInput: true,
  ...over,
});

describe("CPMM maths", () => {
  it("rounds the fee up and the output down", () => {
    expect(cpmmExactIn(1_000n, side())).toEqual({ input: 1_000n, output: 1_992n, netIn: 997n, grossOut: 1_992n });
    expect(cpmmExactIn(1n, side())).toMatchObject({ netIn: 0n, output: 0n });
  });

  it("takes trade and creator fee on input as one fee, rounded up once", () => {
    expect(cpmmExactIn(1_000n, side({ creatorFeeRate: 500n }))).toMatchObject({ netIn: 997n });
    expect(cpmmExactIn(1_001n, side({ creatorFeeRate: 500n }))).toMatchObject({ netIn: 997n });
  });

  it("takes the creator fee from the output if the pool does", () => {
    const fill = cpmmExactIn(10_000n, side({ creatorFeeRate: 500n, creatorFeeOnInput: false }));
    expect(fill.netIn).toBe(9_975n);
    expect(fill.output).toBe(fill.grossOut - 10n);
  });

  it("refuses to give the whole reserve", () => {
    expect(cpmmExactOut(2_000_000n, side())).toBeUndefined();
    expect(cpmmExactOut(1_999_999n, side())?.input).toBe(2_005_011_528_823n);
    expect(cpmmExactOut(1_999_900n, side({ creatorFeeRate: 500n, creatorFeeOnInput: false }))).toBeUndefined();
  });

  it("asks for enough: the input of an exact-out trade buys at least that output", () => {
    const random = createRandom(1);
    for (let i = 0; i < 2_000; i++) {
      const pool = side({
        reserveIn: random.magnitude(1n << 60n),
        reserveOut: random.magnitude(1n << 60n) + 10n,
        tradeFeeRate: random.below(50_000n),
        creatorFeeRate: random.below(20_000n),
        creatorFeeOnInput: random.chance(0.5),
      });
      const wanted = random.magnitude(pool.reserveOut - 1n);
      const fill = cpmmExactOut(wanted, pool);
      if (fill !== undefined) expect(cpmmExactIn(fill.input, pool).output).toBeGreaterThanOrEqual(wanted);
    }
  });
});
