import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { PriorityLevelSchema, SubmitResponseSchema } from "../../../gen/tradewire/v1/trade_pb.ts";
import { TradeStatus } from "../../../gen/tradewire/v1/types_pb.ts";
import { writtenText } from "../../../test/support/written-text.ts";
import { createJsonEncoder } from "./json-encoder.ts";

describe("the JSON encoder", () => {
  const encode = (message: object) => writtenText(createJsonEncoder(SubmitResponseSchema), message);

  it("writes every field, short enum names, and null for absent values", () => {
    const json = encode(create(SubmitResponseSchema, { status: TradeStatus.PENDING }));
    expect(JSON.parse(json)).toEqual({
      signature: "",
      status: "pending",
      slot: null,
      platform: "",
      inputMint: "",
      outputMint: "",
      tradeResult: null,
      priorityCost: 0,
      witnesses: null,
      pendingReason: null,
      diagnosis: null,
      costs: null,
      route: [],
    });
  });

  it("writes a present zero as zero", () => {
    expect(JSON.parse(encode(create(SubmitResponseSchema, { slot: 0n })))).toMatchObject({ slot: 0 });
  });

  it("writes 64-bit integers that fit a double as numbers", () => {
    const encodeLevel = createJsonEncoder(PriorityLevelSchema);
    const write = (price: bigint) =>
      writtenText(encodeLevel, create(PriorityLevelSchema, { microLamportsPerComputeUnit: price }));
    expect(write((1n << 53n) - 1n)).toContain('"microLamportsPerComputeUnit":9007199254740991,');
    expect(write((1n << 64n) - 1n)).toContain('"microLamportsPerComputeUnit":"18446744073709551615",');
  });

  it("escapes strings", () => {
    const platform = 'a"b\\c\n\u2028\ud800';
    expect(JSON.parse(encode(create(SubmitResponseSchema, { platform }))).platform).toBe(platform);
  });
});
