import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { BuyRequestSchema, SellRequestSchema } from "../../../../gen/tradewire/v1/trade_pb.ts";
import { Priority } from "../../../../gen/tradewire/v1/types_pb.ts";
import type { TradewireError } from "../../../errors/tradewire-error.ts";
import { checkRequest } from "./validation.ts";

const ORDER = { mint: "1".repeat(32), slippage: 0, priority: Priority.FAST };

/** The faults of a request: fields with what is wrong. */
function faultsOf(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return (error as TradewireError).violations.map(({ message }) => message);
  }
}

const buy = (amount: object) =>
  faultsOf(() => checkRequest(BuyRequestSchema, create(BuyRequestSchema, { ...ORDER, ...amount })));
const sell = (amount: object) =>
  faultsOf(() => checkRequest(SellRequestSchema, create(SellRequestSchema, { ...ORDER, ...amount })));

it("takes an amount in one form, and names the one that is too many", () => {
  expect(buy({ solAmount: 1 })).toEqual([]);
  expect(buy({ solAmountRaw: "1" })).toEqual([]);
  expect(buy({})).toEqual(["solAmount is required, or solAmountRaw in its place."]);
  expect(buy({ solAmount: 1, solAmountRaw: "1" })).toEqual([
    "solAmountRaw stands in place of solAmount: give one of them.",
  ]);
  for (const form of [{ tokenAmount: 1 }, { tokenAmountRaw: "1" }, { sellPercent: 1 }]) expect(sell(form)).toEqual([]);
  for (const form of [{}, { tokenAmount: 1, sellPercent: 1 }, { tokenAmountRaw: "1", sellPercent: 1 }]) {
    expect(sell(form)).toEqual(["tokenAmount or sellPercent is required, but not both."]);
  }
});

it("names a field once", () => {
  const wrong = "solAmountRaw is not base units: a whole number above 0 as a decimal string, without leading zeros.";
  for (const solAmountRaw of ["", "0", "01", "-1", "1.5", "1e3", "\uff11", "1".repeat(21)]) {
    expect(buy({ solAmount: 1, solAmountRaw })).toEqual([wrong]);
  }
});
