import { describe, expect, it } from "vitest";
import { RegisterRequestSchema } from "../../../gen/tradewire/v1/account_pb.ts";
import { SellRequestSchema, SubmitRequestSchema, SwapRequestSchema } from "../../../gen/tradewire/v1/trade_pb.ts";
import { Priority, SwapMode } from "../../../gen/tradewire/v1/types_pb.ts";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import { createJsonDecoder } from "./json-decoder.ts";

describe("the JSON decoder", () => {
  const SWAP = { swapMode: "exactOut", priority: "fastest", slippage: 0, amount: 1.5, inputMint: "SOL" };

  it("reads the REST form", () => {
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

  it("reads numbers in quotes as ProtoJSON does, and only where it does", () => {
    const [proto, rest] = (["proto", "rest"] as const).map((dialect) => createJsonDecoder(SwapRequestSchema, dialect));
    expect(proto!({ amount: "1.5e-1", maxPaths: "2.0", swapMode: 9 })).toMatchObject({
      amount: 0.15,
      maxPaths: 2,
      swapMode: 9,
    });
    for (const text of ["", " 1", "1 ", "+1", "01", "1.", ".5", "0x10", "1_0", "\uff11", "one"]) {
      expect(() => proto!({ amount: text }), text).toThrow("amount must be a number.");
      expect(() => proto!({ maxPaths: text }), text).toThrow("maxPaths must be a whole number.");
    }
    for (const text of ["-1", "0.5", "4294967296", "NaN"]) {
      expect(() => proto!({ maxPaths: text }), text).toThrow("maxPaths must be a whole number.");
    }
    expect(() => rest!({ amount: "1" })).toThrow("amount must be a number.");
    expect(() => rest!({ maxPaths: "1" })).toThrow("maxPaths must be a whole number.");
    expect(() => rest!({ swapMode: 9 })).toThrow("swapMode must be one of exactIn, exactOut.");
  });

  it("refuses base64 that ends within a byte", () => {
    const decode = createJsonDecoder(SubmitRequestSchema, "rest");
    for (const signedTransaction of ["A", "AAAAA", "A==", "AAAAA==", "AQ=ID"]) {
      expect(() => decode({ signedTransaction }), signedTransaction).toThrow(
        "signedTransaction must be a base64 string.",
      );
    }
  });

  it("shows an unknown name as a short text", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "rest");
    expect(() => decode({ "\ud800": 1 })).toThrow(/^\ufffd is not a field/);
    expect(() => decode({ "": 1 })).toThrow(/^"" is not a field/);
    expect(() => decode({ ["n".repeat(5_000)]: 1 })).toThrow(/^n{64}… is not a field/);
  });

  it("refuses a field given under both of its names", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "proto");
    for (const json of [
      { swapMode: 1, swap_mode: 2 },
      { swap_mode: 1, swapMode: 2 },
      { swapMode: 1, swap_mode: null },
    ]) {
      expect(() => decode(json)).toThrow(
        expect.objectContaining({
          message: "swapMode is given twice. Give it once.",
          facts: expect.objectContaining({ field: "swapMode" }),
        }),
      );
    }
  });

  it("lists the values of an enum, except the unspecified one", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "proto");
    expect(() => decode({ swapMode: "exactIn" })).toThrow(
      /^swapMode must be one of SWAP_MODE_EXACT_IN, SWAP_MODE_EXACT_OUT\.$/,
    );
  });

  it("reads null as absent", () => {
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
      expect.objectContaining({ code: "VALIDATION_ERROR", facts: expect.objectContaining({ field }) }),
    );
  });

  it("names the first of very many unknown fields, and every field of its own that is at fault", () => {
    const unknown = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, i]));
    const decode = createJsonDecoder(SwapRequestSchema, "rest");
    const fail = () => decode({ ...unknown, ...SWAP, amount: "1", outputMint: "SOL" });
    expect(fail).toThrow(expect.objectContaining({ facts: expect.objectContaining({ field: "field0" }) }));
    let fields: string[] = [];
    try {
      fail();
    } catch (error) {
      fields = (error as TradewireError).violations.map(({ field }) => field);
    }
    expect(fields.slice(0, 2)).toEqual(["field0", "field1"]);
    expect(fields).toHaveLength(17);
    expect(fields.at(-1)).toBe("amount");
  });

  it("names fields at fault in one order, whatever order they are sent in", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "rest");
    const sent = Object.entries({ ...SWAP, zzz: 1, swapMode: "exact", amount: "1", aaa: 2, venues: [1] });
    const failed = [sent, sent.toReversed()].map((entries) => {
      try {
        return decode(Object.fromEntries(entries));
      } catch (error) {
        const { message, facts, violations } = error as TradewireError;
        return { message, field: facts.field, fields: violations.map(({ field }) => field) };
      }
    });
    expect(failed[0]).toMatchObject({
      field: "aaa",
      fields: ["aaa", "zzz", "amount", "swapMode", "venues[0]", "outputMint"],
    });
    expect(failed[1]).toEqual(failed[0]);
  });

  it("says first of a field that is given twice that it is, whatever else is wrong with it", () => {
    const decode = createJsonDecoder(SwapRequestSchema, "proto");
    const reason = "swapMode is given twice. Give it once.";
    for (const json of [
      { swapMode: "exact", swap_mode: 1 },
      { swap_mode: 1, swapMode: "exact" },
    ]) {
      expect(() => decode(json)).toThrow(
        expect.objectContaining({ message: reason, facts: expect.objectContaining({ field: "swapMode" }) }),
      );
    }
  });

  it("says nothing across fields while one of them cannot be decoded", () => {
    const decode = createJsonDecoder(SellRequestSchema, "rest");
    const sell = { mint: "1".repeat(32), slippage: 0, priority: "fast", tokenAmountRaw: 5 };
    expect(() => decode(sell)).toThrow(
      expect.objectContaining({
        violations: [{ field: "tokenAmountRaw", message: "tokenAmountRaw must be a string." }],
      }),
    );
  });

  it.each([[null], [[]], ["text"], [1]])("refuses %j as a request", (json) => {
    expect(() => createJsonDecoder(RegisterRequestSchema, "rest")(json)).toThrow("not a JSON object");
  });
});
