import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";
import { checkReference, type PriceAsk, type PriceReference, referenceOptions } from "./reference.ts";

const mint = Address.from(new Uint8Array(32).fill(2));
const trade = (mode: "exactIn" | "exactOut") =>
  ({ mode, inMint: SOL_MINT, outMint: mint, amount: 7n, decimals: { input: 1, output: 6 } }) as TradeExpectation;

const { signal } = new AbortController();

/** The code that a reference of this answer refuses the estimate with; undefined if it is no worse than by a hundredth. */
async function refusal(mode: "exactIn" | "exactOut", estimated: bigint, answer: unknown): Promise<string | undefined> {
  try {
    await checkReference((() => answer) as PriceReference, 0.01, trade(mode), estimated, signal);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("a price may be worse than the reference's by the tolerance, in either mode, and better by anything", async () => {
  expect(await refusal("exactIn", 9_901n, 10_000n)).toBeUndefined();
  expect(await refusal("exactIn", 9_899n, 10_000n)).toBe("PRICE_CONTRADICTED");
  expect(await refusal("exactIn", 90_000n, "10000")).toBeUndefined();
  expect(await refusal("exactOut", 10_099n, 10_000n)).toBeUndefined();
  expect(await refusal("exactOut", 10_101n, "10000")).toBe("PRICE_CONTRADICTED");
  expect(await refusal("exactOut", 1n, 10_000n)).toBeUndefined();
});

test.each([0n, -1n, "0", "", "-5", "1.5", "1e3", "9".repeat(21), 5, undefined, null])(
  "a reference that answers %o gives no price",
  async (answer) => {
    expect(await refusal("exactIn", 1n, answer)).toBe("REFERENCE_UNAVAILABLE");
  },
);

test("a reference is asked for the exact side, with its decimals", async () => {
  const asked: PriceAsk[] = [];
  const ask: PriceReference = (about) => {
    asked.push(about);
    return 10n;
  };
  for (const mode of ["exactIn", "exactOut"] as const) await checkReference(ask, 0, trade(mode), 10n, signal);
  const common = { inputMint: SOL_MINT.toString(), outputMint: mint.toString(), amountRaw: "7" };
  expect(asked).toEqual([
    { ...common, swapMode: "exactIn", decimals: 9 },
    { ...common, swapMode: "exactOut", decimals: 6 },
  ]);
});

test("a tolerance is a fraction, and a reference is a function or an address", () => {
  const source = () => 1n;
  for (const tolerance of [-0.01, 1, Number.NaN]) {
    expect(() => referenceOptions({ source, tolerance })).toThrow("tolerance is a fraction");
  }
  for (const tolerance of [0, 0.99, undefined]) expect(referenceOptions({ source, tolerance }).source).toBe(source);
  expect(() => referenceOptions({ source: 5 as never })).toThrow("reference is a function");
  expect(() => referenceOptions({ source, margin: 1 } as never)).toThrow('Unknown key "margin"');
});
