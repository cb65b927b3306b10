import { describe, expect, it } from "vitest";
import { createRandom } from "../../primitives/random.ts";
import { buyTokens } from "../pump-fun/math.ts";
import { buyWithBudget, type PumpSide, sellForQuote, sellTokens } from "./pump.ts";

const fresh: PumpSide = {
  tokens: 1_073_000_000_000_000n,
  quote: 30_000_000_000n,
  fees: { lp: 0n, protocol: 95n, creator: 30n },
};

describe("maths of Pump coins", () => {
  it("prices a purchase as cost plus one, fees rounded up each", () => {
    expect(buyTokens(1n, fresh)).toEqual({ tokens: 1n, net: 1n, feeBase: 1n, quote: 3n });
    const whole = buyTokens(793_100_000_000_000n, { ...fresh, fees: { lp: 0n, protocol: 100n, creator: 50n } });
    expect(whole).toMatchObject({ net: 85_005_359_057n, quote: 85_005_359_057n + 850_053_591n + 425_026_796n });
  });

  it("spends a budget as the program does: fees before rounding, at most one unit left", () => {
    const side = { ...fresh, fees: { lp: 0n, protocol: 93n, creator: 30n } };
    expect(buyWithBudget(80_985n, side)).toMatchObject({ net: 80_000n, quote: 80_984n });
    expect(buyWithBudget(80_986n, side)).toMatchObject({ net: 80_000n, quote: 80_986n });
    expect(buyWithBudget(102_687_713n, side).quote).toBe(102_687_712n);
  });

  it("buys nothing for a budget that fees eat up", () => {
    for (const budget of [1n, 2n, 3n]) expect(buyWithBudget(budget, fresh).tokens).toBe(0n);
  });

  it("never spends more than the budget, which would not buy one token more", () => {
    const random = createRandom(5);
    for (let i = 0; i < 2_000; i++) {
      const side = { ...fresh, fees: { lp: 0n, protocol: random.below(300n), creator: random.below(500n) } };
      const budget = random.magnitude(90_000_000_000n) + 4n;
      const trade = buyWithBudget(budget, side);
      expect(trade.quote).toBeLessThanOrEqual(budget);
      if (trade.tokens > 0n) expect(buyTokens(trade.tokens, side).quote).toBeLessThanOrEqual(budget);
    }
  });

  it("finds the least tokens that pay at least the amount", () => {
    const random = createRandom(6);
    for (let i = 0; i < 2_000; i++) {
      const side: PumpSide = {
        tokens: random.magnitude(1n << 30n) + 10n,
        quote: random.magnitude(1n << 30n) + 10n,
        fees: { lp: random.below(30n), protocol: random.below(300n), creator: random.below(500n) },
      };
      const wanted = random.magnitude(side.quote / 2n + 1n);
      const trade = sellForQuote(wanted, side);
      if (trade === undefined) continue;
      expect(trade.quote).toBeGreaterThanOrEqual(wanted);
      expect(trade).toEqual(sellTokens(trade.tokens, side));
      for (let less = trade.tokens - 1n; less > 0n && less > trade.tokens - 50n; less--) {
        expect(sellTokens(less, side).quote).toBeLessThan(wanted);
      }
    }
  });

  it("cannot pay out more than the curve prices", () => {
    expect(sellForQuote(fresh.quote, fresh)).toBeUndefined();
  });
});
