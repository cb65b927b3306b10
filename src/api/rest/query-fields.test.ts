import { expect, it } from "vitest";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { createQueryReader } from "./query-fields.ts";
import { restBindingOf } from "./rest-binding.ts";

const { listTrades } = TradeService.method;
const read = createQueryReader(listTrades.input, restBindingOf(listTrades)!);

it("reads the fields of a query, lists by repetition", () => {
  const json = { ...read({ limit: "5", status: "failed", cursor: "" }) };
  expect(json).toEqual({ limit: 5, status: ["failed"], cursor: "" });
  expect({ ...read({ status: ["failed", "expired"] }) }).toEqual({ status: ["failed", "expired"] });
});

it("passes on every field that it does not know, to be refused by its name", () => {
  for (const name of ["__proto__", "constructor", "page"]) {
    const query = Object.assign(Object.create(null), { [name]: "x" });
    expect(Object.keys({ ...read(query) })).toEqual([name]);
  }
});

it("refuses a field given twice", () => {
  expect(() => read({ limit: ["1", "2"] })).toThrow("limit is given twice. Give it once.");
});
