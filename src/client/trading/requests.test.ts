import { expect, test } from "vitest";
import { buyRequest, saleRequest, swapRequest } from "./requests.ts";

const order = { mint: "m", solAmount: 1, slippage: 0.1, priority: "fast" } as const;

test("a priority or a mode that there is not is refused by name, not as if it were missing", () => {
  expect(() => buyRequest({ ...order, priority: "turbo" as never }, {})).toThrow(
    "priority is one of economy, fast, faster, fastest, not turbo.",
  );
  const { mint, solAmount, ...terms } = order;
  const swap = { ...terms, inputMint: "SOL", outputMint: mint, amount: solAmount, swapMode: "exact_out" as never };
  expect(() => swapRequest(swap, {})).toThrow("swapMode is one of exactIn, exactOut, not exact_out.");
});

test("a limit that is written into the order is refused with its place", () => {
  expect(() => buyRequest({ ...order, maxPriorityCost: 0.1 } as never, {})).toThrow("belongs into the options");
});

test("an amount in whole units is a number: no text is sent, which the service could read otherwise", () => {
  for (const text of ["0.1", "0x10", " 1", "1e3", "１"] as never[]) {
    expect(() => buyRequest({ ...order, solAmount: text }, {})).toThrow("solAmount is a number");
    const { solAmount, ...terms } = order;
    expect(() => saleRequest({ ...terms, tokenAmount: text }, {})).toThrow("tokenAmount is a number");
    expect(() => saleRequest({ ...terms, sellPercent: text }, {})).toThrow("sellPercent is a number");
  }
});
