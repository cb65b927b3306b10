import { expect, test } from "vitest";
import type { TradeExpectation } from "../verify/trade-expectation.ts";
import { quoteReference } from "./quote-reference.ts";
import { checkReference } from "./reference.ts";

const TRADE = { mode: "exactIn", inMint: "in", outMint: "out", amount: 10n } as unknown as TradeExpectation;

test("a trade that is given up ends at once, and not the registration that another trade waits for", async () => {
  const { promise: registering, resolve: registered } = Promise.withResolvers<void>();
  const registrations: (AbortSignal | undefined)[] = [];
  const other = {
    apiKey: undefined as string | undefined,
    register: ({ signal }: { readonly label: string; readonly signal?: AbortSignal }) => {
      registrations.push(signal);
      return new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        void registering.then(() => {
          other.apiKey = "key";
          resolve(undefined);
        });
      });
    },
    quote: async () => ({ estimates: { inputAmountRaw: "10", outputAmountRaw: "20" } }),
  };
  const ask = quoteReference(other);
  const [first, second] = [new AbortController(), new AbortController()];
  const givenUp = checkReference(ask, 0, TRADE, 20n, first.signal);
  const waiting = checkReference(ask, 0, TRADE, 20n, second.signal);
  first.abort();
  await expect(givenUp).rejects.toMatchObject({ code: "ABORTED" });
  registered();
  await waiting;
  await expect(checkReference(ask, 0, TRADE, 19n, second.signal)).rejects.toMatchObject({ code: "PRICE_CONTRADICTED" });
  expect(registrations).toHaveLength(1);
});

test("a registration that failed is tried again for the next trade", async () => {
  let tries = 0;
  const register = () => Promise.reject(new Error(`refused ${++tries}`));
  const ask = quoteReference({ apiKey: undefined, register, quote: () => Promise.reject(new Error("not asked")) });
  const { signal } = new AbortController();
  const fails = [1, 1, 2].map((count) => `The reference failed: refused ${count}. Nothing was signed.`);
  const both = [checkReference(ask, 0, TRADE, 1n, signal), checkReference(ask, 0, TRADE, 1n, signal)];
  for (const one of both) await expect(one).rejects.toThrow(fails.shift());
  await expect(checkReference(ask, 0, TRADE, 1n, signal)).rejects.toThrow(fails.shift());
});

test("another Tradewire's quote counts only if it is for the amount that was asked about", async () => {
  const quoteOf = (inputAmountRaw: string, outputAmountRaw: string) =>
    quoteReference({
      apiKey: "api_key",
      register: () => Promise.reject(new Error("has a key")),
      quote: async () => ({ estimates: { inputAmountRaw, outputAmountRaw } }),
    });
  const ask = { inputMint: "a", outputMint: "b", amountRaw: "10000", decimals: undefined };
  expect(await quoteOf("9991", "5")({ ...ask, swapMode: "exactIn" })).toBe("5");
  expect(await quoteOf("5", "10009")({ ...ask, swapMode: "exactOut" })).toBe("5");
  await expect(quoteOf("9989", "5")({ ...ask, swapMode: "exactIn" })).rejects.toThrow("instead of 10000");
  await expect(quoteOf("5", "10011")({ ...ask, swapMode: "exactOut" })).rejects.toThrow("instead of 10000");
});
