import { expect, test } from "vitest";
import { refuseUnknownKeys } from "./known-keys.ts";
import { TRADE_KEYS } from "./options.ts";

const refusal = (
  key: string,
  ...rest: [Readonly<Record<string, true>>, string, { keys: Record<string, true>; place: string }?]
) => {
  try {
    refuseUnknownKeys({ [key]: 1 }, ...rest);
  } catch (error) {
    return String(error);
  }
  return undefined;
};

test("a limit with a typing error names the one it resembles", () => {
  expect(refusal("maxPriceImpct", TRADE_KEYS, "the options")).toBe(
    'TypeError: Unknown key "maxPriceImpct" in the options. Did you mean "maxPriceImpact"?',
  );
  expect(refusal("lucky", TRADE_KEYS, "the options")).toBe('TypeError: Unknown key "lucky" in the options.');
});

test("a limit without its unit names it in both units: whole tokens are not base units", () => {
  expect(refusal("minOutput", TRADE_KEYS, "the options")).toBe(
    'TypeError: Unknown key "minOutput" in the options. Did you mean "minOutputAmount" or "minOutputRaw"?',
  );
});

test("a limit in the order says where it belongs", () => {
  const elsewhere = { keys: TRADE_KEYS, place: "the options" };
  expect(refusal("minOutputAmount", { mint: true }, "the order", elsewhere)).toBe(
    'TypeError: Unknown key "minOutputAmount" in the order. It belongs into the options.',
  );
});
