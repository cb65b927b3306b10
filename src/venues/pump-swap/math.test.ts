import { describe, expect, it } from "vitest";
import { createRandom } from "../../primitives/random.ts";
import { buyWithBudget } from "../curves/pump.ts";
import { buyFromPool, heldByVault, paidByVault } from "./math.ts";

const side = { tokens: 200_000_000n, quote: 85_000_000n, fees: { lp: 20n, protocol: 5n, creator: 95n } };

describe("PumpSwap maths", () => {
  it("charges cost and fees, all rounded up", () => {
    expect(buyFromPool(1_000_000n, side)).toEqual({
      tokens: 1_000_000n,
      net: 427_136n,
      feeBase: 427_136n,
      quote: 427_136n + 855n + 214n + 4_058n,
    });
    expect(buyFromPool(1n, side)).toEqual({ tokens: 1n, net: 1n, feeBase: 1n, quote: 4n });
  });

  it("never sells the last token", () => {
    expect(buyFromPool(200_000_000n, side)).toBeUndefined();
    expect(buyFromPool(199_999_999n, side)).toBeDefined();
  });

  it("leaves the liquidity's fee in the vault", () => {
    expect(paidByVault({ tokens: 1n, net: 10_001n, feeBase: 10_001n, quote: 0n }, side)).toBe(10_001n - 21n);
  });

  it("leaves the fee of a budget's net in the vault as charged, before rounding takes units off that net", () => {
    // 50,501 of 51,108 are net, the fees on it 102 + 26 + 480: one unit too many, which comes off the net.
    const trade = buyWithBudget(51_108n, side);
    expect(trade).toMatchObject({ net: 50_500n, feeBase: 50_501n, quote: 51_108n });
    expect(heldByVault(trade, side)).toBe(50_500n + 102n);
  });

  it("a budget never buys what costs more", () => {
    const random = createRandom(3);
    for (let i = 0; i < 1_000; i++) {
      const budget = random.magnitude(80_000_000n);
      const { tokens } = buyWithBudget(budget, side);
      if (tokens > 0n) expect(buyFromPool(tokens, side)!.quote).toBeLessThanOrEqual(budget);
    }
  });
});
