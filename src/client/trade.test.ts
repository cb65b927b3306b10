import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { checkTrade, type Trade } from "./trade.ts";
import { expectTrade } from "./verify/trade-expectation.ts";

const wallet = Address.from(new Uint8Array(32).fill(7));
const mint = Address.from(new Uint8Array(32).fill(8)).toString();
const market = Address.from(new Uint8Array(32).fill(9)).toString();
const mints = { inputMint: "SOL", outputMint: mint };
const amounts = { inputAmountRaw: "1000", outputAmountRaw: "2000" };

const expected = expectTrade(
  wallet,
  { ...mints, swapMode: "exactIn", amountRaw: "1000", slippage: 0.1 },
  {
    ...mints,
    platform: "raydium_cpmm",
    priorityCost: 0.001,
    costs: { baseFee: "5000", priorityFee: "1000000", tip: "0", rentPaid: "0", rentReturned: "0" },
    estimates: { inputAmount: 0.000001, outputAmount: 0.002, priceImpact: 0, ...amounts },
    route: [{ venue: "raydium_cpmm", market, ...mints, ...amounts }],
  },
);
const trade = { ...mints, signature: "s", status: "confirmed", platform: "raydium_cpmm", priorityCost: 0.001 } as Trade;

test("a cost of priority that is not the transaction's, or no number, contradicts it", () => {
  expect(checkTrade(trade, "s", expected)).toMatchObject({ status: "confirmed", priorityCost: 0.001 });
  for (const priorityCost of [0.002, Number.NaN, Number.POSITIVE_INFINITY, 1e300])
    expect(() => checkTrade({ ...trade, priorityCost }, "s", expected), `${priorityCost}`).toThrow(
      expect.objectContaining({ code: "UNEXPECTED_ANSWER", signature: "s" }),
    );
});
