import { expect, test } from "vitest";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import type { Ask, Market, Quote, Venue } from "../../venues/venue.ts";
import { chooseSamples } from "./sample-sizes.ts";

const [A, B] = [1, 2].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address];
const clock = { slot: 1n, epoch: 0n, unixTimestamp: 0n };

/** Trades of a market that gives two for one until its end, which is sold back without one. */
function samplesOf(end: bigint, supportsExactOut: boolean) {
  const quote = (_: unknown, { mode, inMint, outMint, amount }: Ask): Quote => {
    const inAmount = mode === "exactIn" ? amount : (amount + 1n) / 2n;
    if (inMint === A && inAmount > end)
      throw new TradewireError("INSUFFICIENT_LIQUIDITY", "too much", { details: { mostIn: end.toString() } });
    return { mode, inMint, outMint, inAmount, outAmount: 2n * inAmount, priceImpact: 0, fill: undefined } as Quote;
  };
  const venue = { quote, supports: { exactOut: supportsExactOut, token2022: false } } as unknown as Venue;
  const samples = chooseSamples({ venue, market: { mints: [A, B] } as unknown as Market, state: {}, clock }, 1);
  return samples.filter(({ ask }) => ask.inMint === A).map(({ ask, quote: { inAmount } }) => [ask.mode, inAmount]);
}

test("the trade that ends a curve is among its samples, in both modes", () => {
  for (const end of [1n, 1_000n, 123_456_789_012n, 1n << 61n]) {
    expect(samplesOf(end, true)).toContainEqual(["exactIn", end]);
    expect(samplesOf(end, true)).toContainEqual(["exactOut", end]);
    expect(samplesOf(end, false)).toContainEqual(["exactIn", end]);
  }
});

test("no sample is larger than amounts that wallets hold", () => {
  for (const end of [(1n << 62n) + 1n, (1n << 64n) - 1n])
    for (const [, inAmount] of samplesOf(end, true)) expect(inAmount).toBeLessThanOrEqual(1n << 62n);
});

test("a curve that takes nothing has no samples in that direction", () => {
  expect(samplesOf(0n, true)).toEqual([]);
});
