import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  amountAIn,
  amountAOut,
  amountBIn,
  amountBOut,
  priceAfterAIn,
  priceAfterAOut,
  priceAfterBIn,
  priceAfterBOut,
} from "./constant-liquidity.ts";

const ONE = 1n << 64n;
const price = fc.bigInt(ONE / 1000n, ONE * 1000n);
const liquidity = fc.bigInt(1_000_000n << 64n, 1_000_000_000_000n << 64n);

describe("constant liquidity", () => {
  it("rounds what comes out down and what goes in up, at most one unit apart", () => {
    fc.assert(
      fc.property(price, price, liquidity, (a, b, held) => {
        const [lower, upper] = a < b ? [a, b] : [b, a];
        expect(amountAIn(lower, upper, held) - amountAOut(lower, upper, held)).toBeOneOf([0n, 1n]);
        expect(amountBIn(lower, upper, held) - amountBOut(lower, upper, held)).toBeOneOf([0n, 1n]);
      }),
    );
  });

  it("never pays more for an amount than the price reached allows", () => {
    fc.assert(
      fc.property(price, liquidity, fc.bigInt(1n, 1_000n), (now, held, amount) => {
        const down = priceAfterAIn(now, held, amount);
        expect(amountAIn(down, now, held)).toBeLessThanOrEqual(amount);
        const up = priceAfterBIn(now, held, amount);
        expect(amountBIn(now, up, held)).toBeLessThanOrEqual(amount);
        const out = priceAfterAOut(now, held, amount);
        if (out !== undefined) expect(amountAOut(now, out, held)).toBeGreaterThanOrEqual(amount);
        const outB = priceAfterBOut(now, held, amount);
        if (outB !== undefined) expect(amountBOut(outB, now, held)).toBeGreaterThanOrEqual(amount);
      }),
    );
  });

  it("has no price for more than it holds", () => {
    expect(priceAfterAOut(ONE, ONE, 1n)).toBeUndefined();
    expect(priceAfterBOut(ONE, ONE, 1n)).toBeUndefined();
  });
});
