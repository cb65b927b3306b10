import { describe, expect, it } from "vitest";
import { buyTokens } from "./math.ts";

describe("bonding curve maths", () => {
  const side = {
    tokens: 1_073_000_000_000_000n,
    quote: 30_000_000_000n,
    fees: { lp: 0n, protocol: 100n, creator: 50n },
  };

  it("charges cost plus one, then each fee rounded up", () => {
    expect(buyTokens(1n, side)).toEqual({ tokens: 1n, net: 1n, feeBase: 1n, quote: 3n });
    expect(buyTokens(793_100_000_000_000n, side)).toMatchObject({
      net: 85_005_359_057n,
      quote: 85_005_359_057n + 850_053_591n + 425_026_796n,
    });
  });
});
