import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RegisterRequestSchema } from "../../../gen/tradewire/v1/account_pb.ts";
import {
  PriorityLevelSchema,
  SubmitRequestSchema,
  SubmitResponseSchema,
  SwapRequestSchema,
} from "../../../gen/tradewire/v1/trade_pb.ts";
import { Priority, SwapMode, TradeStatus } from "../../../gen/tradewire/v1/types_pb.ts";
import { createJsonDecoder } from "./json-decoder.ts";
import { createJsonEncoder } from "./json-encoder.ts";

describe("the JSON encoder", () => {
  const encode = createJsonEncoder(SubmitResponseSchema);

  it("writes every field, short names of enums, and null for what is absent", () => {
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
      costs: null,
      route: [],
    });
  });

  it("writes a zero that is present as zero", () => {
    expect(JSON.parse(encode(create(SubmitResponseSchema, { slot: 0n })))).toMatchObject({ slot: 0 });
  });

  it("writes 64-bit integers as numbers as long as a double holds them", () => {
    const encodeLevel = createJsonEncoder(PriorityLevelSchema);
    const write = (price: bigint) => encodeLevel(create(PriorityLevelSchema, { microLamportsPerComputeUnit: price }));
    expect(write((1n << 53n) - 1n)).toContain('"microLamportsPerComputeUnit":9007199254740991,');
    expect(write((1n << 64n) - 1n)).toContain('"microLamportsPerComputeUnit":"18446744073709551615",');
  });

  it("escapes text", () => {
    const platform = 'a"b\\c\n\u2028\ud800';
    expect(JSON.parse(encode(create(SubmitResponseSchema, { platform }))).platform).toBe(platform);
  });
});

describe("the JSON decoder", () => {
  const SWAP = { swapMode: "exactOut", priority: "fastest", slippage: 0, amount: 1.5, inputMint: "SOL" };

  it("reads what REST writes", () => {
    expect(createJsonDecoder(SwapRequestSchema, "rest")(SWAP)).toMatchObject({
      swapMode: SwapMode.EXACT_OUT,
      priority: Priority.FASTEST,
      slippage: 0,
      amount: 1.5,
      inputMint: "SOL",
    });
  });

  it("reads ProtoJSON: names and numbers of enums, fields by either name", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "proto");
    expect(decode({ swap_mode: "SWAP_MODE_EXACT_IN", priority: 4, amount: "Infinity" })).toMatchObject({
      swapMode: SwapMode.EXACT_IN,
      priority: Priority.FASTEST,
      amount: Number.POSITIVE_INFINITY,
    });
  });

  it("refuses a field given under both of its names", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "proto");
    for (const json of [
      { swapMode: 1, swap_mode: 2 },
      { swap_mode: 1, swapMode: 2 },
      { swapMode: 1, swap_mode: null },
    ]) {
      expect(() => decode(json)).toThrow(
        expect.objectContaining({ message: "swapMode is given twice: give it once.", facts: { field: "swapMode" } }),
      );
    }
  });

  it("says which values of an enum there are, without the one that says nothing", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "proto");
    expect(() => decode({ swapMode: "exactIn" })).toThrow(
      /^swapMode must be one of SWAP_MODE_EXACT_IN, SWAP_MODE_EXACT_OUT\.$/,
    );
  });

  it("takes null for absent", () => {
    const message = createJsonDecoder(SwapRequestSchema, "rest")({ ...SWAP, maxPriceImpact: null });
    expect(Object.hasOwn(message, "maxPriceImpact")).toBe(false);
  });

  it("reads base64 with and without padding, in both alphabets", () => {
    const decode = createJsonDecoder(SubmitRequestSchema, "rest");
    for (const signedTransaction of ["+/8=", "+/8", "-_8=", "-_8"]) {
      expect(decode({ signedTransaction })).toMatchObject({ signedTransaction: Buffer.from([0xfb, 0xff]) });
    }
  });

  it.each([
    [{ slipage: 0 }, "slipage"],
    [JSON.parse('{"__proto__":1}'), "__proto__"],
    [{ constructor: 1 }, "constructor"],
    [{ swap_mode: "exactIn" }, "swap_mode"],
    [{ swapMode: "unspecified" }, "swapMode"],
    [{ swapMode: 1 }, "swapMode"],
    [{ amount: "1" }, "amount"],
    [{ inputMint: "\ud800" }, "inputMint"],
  ])("refuses %j by name", (json, field) => {
    expect(() => createJsonDecoder(SwapRequestSchema, "rest")(json)).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", facts: { field } }),
    );
  });

  it.each([[null], [[]], ["text"], [1]])("refuses %j as a request", (json) => {
    expect(() => createJsonDecoder(RegisterRequestSchema, "rest")(json)).toThrow("not a JSON object");
  });
});
