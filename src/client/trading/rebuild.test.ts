import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { BuiltResponse } from "../answers/answers.ts";
import type { TradeNode } from "../proof/trade-node.ts";
import type { TradeOrder } from "../verify/trade-expectation.ts";
import { awaitExpiry, checkPriceMove, checkRebuild } from "./rebuild.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const built = (inputAmountRaw: string, outputAmountRaw: string) =>
  ({ estimates: { inputAmountRaw, outputAmountRaw } }) as unknown as BuiltResponse;
const typed = { inputMint: "SOL", outputMint: "MINT", amount: 1, slippage: 0 };
const exactIn: TradeOrder = { ...typed, swapMode: "exactIn" };
const exactOut: TradeOrder = { ...typed, swapMode: "exactOut" };
const share: TradeOrder = { ...exactIn, amount: undefined, sellPercent: 50 };

const first = built("1000", "1000");
/** Whether a rebuild of a trade of 1,000 for 1,000 is refused if it may be worse by a tenth. */
const isRefused = (order: TradeOrder | undefined, next: BuiltResponse): boolean => {
  try {
    checkPriceMove(order, first, next, 0.1, "signature");
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: "PRICE_MOVED", safeToRebuild: true, signature: "signature" });
    return true;
  }
};

test("a rebuild may be worse by the fraction that the caller allows, and by no more", () => {
  expect(isRefused(exactIn, built("1000", "900"))).toBe(false);
  expect(isRefused(exactIn, built("1000", "899"))).toBe(true);
  expect(isRefused(exactOut, built("1111", "1000"))).toBe(false);
  expect(isRefused(exactOut, built("1112", "1000"))).toBe(true);
  expect(isRefused(share, built("2000", "1800"))).toBe(false);
  expect(isRefused(share, built("2000", "1799"))).toBe(true);
  expect(isRefused(undefined, built("500", "450"))).toBe(false);
  expect(isRefused(undefined, built("500", "449"))).toBe(true);
});

test("the exact side of a typed order is the order's: a rebuild that shows less of it is no better", () => {
  expect(isRefused(exactIn, built("1", "899"))).toBe(true);
  expect(isRefused(exactOut, built("1112", "1000000"))).toBe(true);
  expect(isRefused(exactIn, {} as BuiltResponse)).toBe(true);
});

test.each([1, 1.5, Number.NaN, "0.1", undefined])("a bound of %o on the price is none", (maxPriceMove) => {
  expect(() => checkRebuild({ times: 1, maxPriceMove } as never)).toThrow("a fraction below 1");
});

test("a policy of known keys, or none, is taken", () => {
  checkRebuild(undefined);
  checkRebuild({ times: 1, maxPriceMove: 0.99 } as never);
  expect(() => checkRebuild({ times: 1, maxPriceMove: 0.1, maxPrice: 1 } as never)).toThrow("maxPrice");
});

/** Waits for an expiry that the node sees after these verdicts. @returns how long that takes in milliseconds, or its failure */
async function wait(...verdicts: string[]): Promise<unknown> {
  const node = {
    verdict: async (_signed: Uint8Array, _signature: string, sinceSlot: number) => {
      expect(sinceSlot).toBe(7);
      return verdicts.shift() ?? "open";
    },
  } as unknown as TradeNode;
  const fromMs = Date.now();
  const { signal } = new AbortController();
  const waiting = awaitExpiry(node, new Uint8Array(), "signature", 7, signal, Date.now).then(
    () => Date.now() - fromMs,
    (error: unknown) => error,
  );
  await vi.runAllTimersAsync();
  return waiting;
}

test("nothing is built again until the caller's node has seen the expiry, for a minute at most", async () => {
  expect(await wait("expired")).toBe(0);
  expect(await wait("open", "expired")).toBe(500);
  expect(await wait(...Array.from({ length: 120 }, () => "open"), "expired")).toBe(60_000);
  expect(await wait("open", "landed")).toMatchObject({ code: "UNEXPECTED_ANSWER", signature: "signature" });
  expect(await wait()).toMatchObject({ message: expect.stringContaining("has not seen it expire") });
});
