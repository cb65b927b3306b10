import { create, equals, isMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { type BuyRequest, TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { messageMaker } from "./new-message.ts";

const inputs = [TradeService, AccountService].flatMap(({ methods }) => methods.map(({ input }) => input));

test.each(inputs)("$typeName is made as the library makes it", (desc) => {
  const make = messageMaker(desc);
  const [made, zero] = [make(), create(desc)];
  expect(isMessage(made, desc)).toBe(true);
  expect(equals(desc, made, zero)).toBe(true);
  expect(Object.keys(made)).toEqual(Object.keys(zero));
  expect(Object.getPrototypeOf(made)).toBe(Object.getPrototypeOf(zero));
});

test("no two messages share a list", () => {
  const make = messageMaker(TradeService.method.buy.input) as () => BuyRequest;
  make().venues.push("orca_whirlpool");
  expect(make().venues).toEqual([]);
});
