import { expect, test } from "vitest";
import type { PriceQuote } from "../answers/answers.ts";
import { ROUTE_KEYS } from "../order/limits.ts";
import { autoSlippage, settleSlippage } from "./auto-slippage.ts";

const OBSERVED = { samples: 300, windowSeconds: 1_500, spanSeconds: 60, quantile: 0.95, movement: 0.00421 };
const said = (change: object) => ({ ...OBSERVED, ...change }) as PriceQuote["priceMovement"];
const ORDER = { mint: "m", solAmount: 1, slippage: "auto", priority: "fast" } as const;
const ASK = { inputMint: "SOL", outputMint: "m", amount: 1, swapMode: "exactIn" } as const;

test("covers what the price has moved, rounded up to a hundredth of a percent, and shows what that rests on", () => {
  expect(autoSlippage(said({}), 0.03)).toEqual({ ...OBSERVED, slippage: 0.0043, maxSlippage: 0.03, isCapped: false });
  expect(autoSlippage(said({ movement: 0.0042 }), 0.03).slippage).toBe(0.0042);
  expect(autoSlippage(said({ movement: 0 }), 0.03).slippage).toBe(0.0001);
});

test.each([0, 0.0001, 0.01, 0.03, 0.5])("never exceeds the cap %d, whatever the service says", (cap) => {
  for (const movement of [0, 0.00001, 0.03, 0.3, 1]) {
    const { slippage, isCapped } = autoSlippage(said({ movement }), cap);
    expect(slippage).toBeLessThanOrEqual(cap);
    expect(isCapped).toBe(Math.max(movement, 0.0001) > cap);
  }
});

test.each([
  ["nothing", undefined],
  ["no movement", said({ movement: undefined })],
  ["a movement of null", said({ movement: null })],
  ["a movement in words", said({ movement: "0.01" })],
  ["no samples", said({ samples: 0 })],
  ["few samples", said({ samples: 19 })],
  ["samples that are no number", said({ samples: Number.NaN })],
  ["infinitely many samples", said({ samples: Number.POSITIVE_INFINITY })],
  ["a movement that is no number", said({ movement: Number.NaN })],
  ["a negative movement", said({ movement: -0.01 })],
  ["a movement of more than everything", said({ movement: 1.01 })],
  ["an infinite movement", said({ movement: Number.POSITIVE_INFINITY })],
  ["a quantile below half", said({ quantile: 0.1 })],
  ["a quantile of everything", said({ quantile: 1 })],
  ["a quantile that is no number", said({ quantile: Number.NaN })],
  ["a span of nothing", said({ spanSeconds: 0 })],
  ["a window that is no number", said({ windowSeconds: Number.NaN })],
])("a service that says %s is not believed, and nothing is guessed", (_, moved) => {
  expect(() => autoSlippage(moved, 0.03)).toThrowError(expect.objectContaining({ code: "SLIPPAGE_UNKNOWN" }));
});

test("the cap is 3 % unless the caller sets another, and must be a fraction", async () => {
  const slippageUnder = async (maxSlippage: number | undefined) => {
    const quote = () => Promise.resolve({ priceMovement: { ...OBSERVED, movement: 0.5 } } as unknown as PriceQuote);
    return (await settleSlippage(ORDER, ASK, { maxSlippage }, quote)).settled.slippage;
  };
  expect(await slippageUnder(undefined)).toBe(0.03);
  expect(await slippageUnder(0)).toBe(0);
  for (const cap of [-0.1, 1, Number.NaN, "0.1" as unknown as number])
    await expect(slippageUnder(cap)).rejects.toThrow(TypeError);
});

test("the service is asked within the cap and the bounds of the route, and not at all for a typed slippage", async () => {
  const asked: unknown[] = [];
  const quote = async (...ask: unknown[]) => {
    asked.push(ask);
    return { priceMovement: OBSERVED } as unknown as PriceQuote;
  };
  const route = {
    directOnly: true,
    maxLegs: 1,
    maxPaths: 1,
    venues: ["pump_fun"],
    excludeVenues: ["pump_swap"],
    requireChecked: true,
  };
  expect(Object.keys(route)).toEqual(Object.keys(ROUTE_KEYS));
  const limits = { maxSlippage: 0.002, ...route };
  const { settled, basis } = await settleSlippage(ORDER, ASK, limits, quote);
  expect(settled.slippage).toBe(0.002);
  expect(basis).toMatchObject({ isCapped: true, movement: 0.00421 });
  expect(asked).toMatchObject([[{ ...ASK, slippage: 0.002 }, route]]);
  const typed = await settleSlippage({ ...ORDER, slippage: 0.5 }, ASK, limits, quote);
  expect(typed).toEqual({ settled: { ...ORDER, slippage: 0.5 } });
  expect(asked).toHaveLength(1);
  const share = { mint: "m", sellPercent: 50, slippage: "auto", priority: "fast" } as const;
  await expect(settleSlippage(share, ASK, {}, quote)).rejects.toThrow(TypeError);
});
