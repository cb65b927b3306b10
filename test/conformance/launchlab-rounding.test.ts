import { expect, test } from "vitest";
import type { WorldToken } from "../../src/sandbox/world/tokens/token.ts";
import type { LaunchCurve } from "../../src/venues/raydium-launchlab/math.ts";
import { venues } from "../../src/venues/registry.ts";
import { feeOn } from "../../src/venues/shared/raydium-fee.ts";
import type { Ask, Quote, SwapMode, Venue } from "../../src/venues/venue.ts";
import { checkOnSvm } from "../support/shadow-check.ts";
import { worldOnSvm } from "../support/world.ts";

const launchlab = venues.find(({ id }) => id === "raydium_launchlab")!;
const isLinear = (state: unknown) => (state as { curve: { type: number } }).curve.type === 2;

/** The smallest mistakes in the rounding of a linear curve: one form of trade in one direction, by one unit or only now and then. */
const ROUNDINGS: readonly (readonly [
  name: string,
  mode: SwapMode,
  isBuy: boolean,
  mistake: (quote: Quote) => Quote,
])[] = [
  ["the root of a buy rounded up", "exactIn", true, (quote) => ({ ...quote, outAmount: quote.outAmount + 1n })],
  ["the price of a buy rounded down", "exactOut", true, (quote) => ({ ...quote, inAmount: quote.inAmount - 1n })],
  ["the price of a sale rounded up", "exactIn", false, (quote) => ({ ...quote, outAmount: quote.outAmount + 1n })],
  ["the root of a sale rounded up", "exactOut", false, (quote) => ({ ...quote, inAmount: quote.inAmount - 1n })],
];

test("one wrong rounding in one form of trade on a linear curve is enough, also one that is wrong only half the time", () => {
  const { world, svm } = worldOnSvm(1);
  const all = world.tokens.filter(({ venue }) => venue === launchlab.id);
  const isOnLinear = ({ market, mint, quoteMint }: WorldToken) =>
    isLinear(launchlab.read(launchlab.decode(svm.get(market)!, { a: mint, b: quoteMint })!, svm));
  const coins = [...all.filter(isOnLinear), ...all.filter((token) => !isOnLinear(token)).slice(0, 1)];
  const linear = all.filter(isOnLinear).map(({ market }) => market);
  const differing = (mistake: (state: { curve: LaunchCurve }, ask: Ask, quote: Quote) => Quote, turn: number) => {
    const venue: Venue = {
      ...launchlab,
      quote(state, ask) {
        const quote = launchlab.quote(state, ask);
        return isLinear(state) ? mistake(state as { curve: LaunchCurve }, ask, quote) : quote;
      },
    };
    return coins.flatMap(({ market, mint, quoteMint }) => {
      const answer = checkOnSvm({ svm, venue, market, pair: { a: mint, b: quoteMint }, turn });
      expect(answer.kind).toBe("checked");
      return answer.kind === "checked" && answer.differences.length > 0 ? [market] : [];
    });
  };
  const quoteMints = new Set(coins.map(({ quoteMint }) => quoteMint));
  expect(differing((_, __, quote) => quote, 1)).toEqual([]);
  for (const [name, mode, isBuy, mistake] of ROUNDINGS) {
    const found = differing(
      (_, ask, quote) => (ask.mode === mode && quoteMints.has(ask.inMint) === isBuy ? mistake(quote) : quote),
      1,
    );
    expect(found, name).toEqual(linear);
  }
  /** The root rounded to the nearest in place of down. */
  const nearest = ({ curve }: { curve: LaunchCurve }, ask: Ask, quote: Quote): Quote => {
    if (ask.mode !== "exactIn" || !quoteMints.has(ask.inMint)) return quote;
    const raised = curve.realQuote + ask.amount - feeOn(ask.amount, curve.feeRate);
    const doubled = 2n * (curve.realBase + quote.outAmount) + 1n;
    const isNearerUp = raised << 67n > doubled * doubled * curve.virtualBase;
    return isNearerUp ? { ...quote, outAmount: quote.outAmount + 1n } : quote;
  };
  const found = new Set([1, 2, 3, 4, 5, 6].flatMap((turn) => differing(nearest, turn)));
  expect([...found].sort()).toEqual([...linear].sort());
});
