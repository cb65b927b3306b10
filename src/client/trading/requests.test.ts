import { expect, test } from "vitest";
import { buyRequest, swapRequest } from "./requests.ts";

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
