import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GetTradeResponseSchema } from "../../../gen/tradewire/v1/trade_pb.ts";
import { Address } from "../../primitives/address.ts";
import type { SubmittedTrade } from "../../trade/trade.ts";
import { fromSubmitted } from "./answers.ts";

const mint = Address.from(new Uint8Array(32).fill(1));
const trade: SubmittedTrade = {
  inMint: mint,
  outMint: mint,
  inDecimals: 9,
  outDecimals: 6,
  signature: "s",
  status: "confirmed",
  slot: 1n,
  platform: "",
  result: undefined,
  costs: { baseFee: 0n, priorityFee: 0n, tip: 0n, rentPaid: 0n, rentReturned: 0n },
  route: [],
  witnesses: 2,
  pendingReason: undefined,
  diagnosis: undefined,
};
const answerOf = (change: Partial<SubmittedTrade>) =>
  toJson(GetTradeResponseSchema, create(GetTradeResponseSchema, fromSubmitted({ ...trade, ...change })));

test("a late trade's diagnosis is answered; one in time has none", () => {
  const diagnosis = { cause: "contention", sure: true, evidence: "e", remedy: "r", others: ["senders_late"] } as const;
  expect(answerOf({ diagnosis })).toMatchObject({ diagnosis });
  expect(answerOf({})).not.toHaveProperty("diagnosis");
});
