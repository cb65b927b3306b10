import { expect, test } from "vitest";
import { buyRequest, quoteRequest } from "../trading/requests.ts";
import { checkLimitForms } from "./limit-forms.ts";

const mint = "So11111111111111111111111111111111111111112";
const malformed: readonly (readonly [object, RegExp])[] = [
  [{ middleMints: "x" }, /^middleMints is a list of addresses\.$/],
  [{ middleMints: [1] }, /^middleMints is a list of addresses\.$/],
  [{ tipAccounts: "x" }, /^tipAccounts is a list of addresses, or "any"\.$/],
  [{ tipAccounts: {} }, /^tipAccounts is a list of addresses, or "any"\.$/],
  [{ maxLegs: Number.NaN }, /^maxLegs is a whole number from 1 /],
  [{ maxPriorityCost: null }, /^maxPriorityCost is a number, not null\.$/],
  [{ maxMiddleRent: "0.01" }, /^maxMiddleRent is a number, not 0\.01\.$/],
  [{ maxPriceImpact: "0.1" }, /^maxPriceImpact is a number, not 0\.1\.$/],
  [{ maxPriceImpact: 5 }, /^maxPriceImpact is a fraction: 0\.05 is 5 %, not 5\.$/],
  [{ maxPriceImpact: Number.POSITIVE_INFINITY }, /^maxPriceImpact is a fraction/],
  [{ minOutputAmount: [5] }, /^minOutputAmount is a number, not 5\.$/],
  [{ minOutputRaw: 5 }, /^minOutputRaw is a decimal string, not 5\.$/],
  [{ decimals: 6 }, /^decimals is an object/],
  [{ decimals: null }, /^decimals is an object/],
  [{ decimals: { output: Number.NaN } }, /^decimals\.output is a number, not NaN\.$/],
  [{ decimals: { output: 6.5 } }, /^decimals\.output is a whole number from 0 to 255, not 6\.5\.$/],
  [{ decimals: { input: -3 } }, /^decimals\.input is a whole number/],
  [{ decimals: { output: 1e21 } }, /^decimals\.output is a whole number/],
  [{ decimals: { outputs: 6 } }, /^Unknown key "outputs" in decimals.* Did you mean "output"\?$/],
  [{ decimals: { [mint]: 9 } }, /^Unknown key "So1+2" in decimals, .*"input" and "output" here; by mint .* connect\.$/],
];

test("a limit of a form that limits nothing is refused by its name", () => {
  for (const [limits, message] of malformed) {
    expect(() => checkLimitForms(limits as never), JSON.stringify(limits)).toThrow(message);
  }
  checkLimitForms({ tipAccounts: "any", middleMints: [mint], decimals: { output: 6 }, maxLegs: undefined });
  checkLimitForms({ maxPriceImpact: 1, decimals: { input: 0, output: 255 } });
});

test("it is refused before the service is asked", () => {
  const order = { mint, solAmount: 1, slippage: 0.01, priority: "fast" } as const;
  for (const [limits, message] of malformed) {
    expect(() => buyRequest(order, limits as never), JSON.stringify(limits)).toThrow(message);
  }
  const swap = { inputMint: "SOL", outputMint: "USDC", amount: 1, slippage: 0.01, swapMode: "exactIn" } as const;
  expect(() => quoteRequest(swap, { maxLegs: Number.NaN })).toThrow(/^maxLegs is a whole number/);
});
