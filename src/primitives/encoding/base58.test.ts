import bs58 from "bs58";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase58, encodeBase58 } from "./base58.ts";

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 70 }),
  fc.uint8Array({ minLength: 64, maxLength: 64 }),
  // Zeros in front, in the middle and all over.
  fc
    .tuple(fc.nat(40), fc.uint8Array({ maxLength: 30 }), fc.nat(10))
    .map(([before, some, after]) => Uint8Array.from([...Array(before).fill(0), ...some, ...Array(after).fill(0)])),
);

test("it encodes and decodes as bs58 does", () => {
  fc.assert(
    fc.property(bytes, (some) => {
      const text = bs58.encode(some);
      expect(encodeBase58(some)).toBe(text);
      expect(decodeBase58(text, some.length)).toEqual(Uint8Array.from(some));
      if (some.length > 0) expect(decodeBase58(text, some.length - 1)).toBeUndefined();
    }),
    { numRuns: 3_000 },
  );
});

test("the largest bytes are encoded exactly, and longer ones are refused", () => {
  for (let length = 0; length <= 128; length++) {
    for (const value of [0, 1, 255]) {
      const all = new Uint8Array(length).fill(value);
      expect(encodeBase58(all)).toBe(bs58.encode(all));
    }
  }
  expect(() => encodeBase58(new Uint8Array(129))).toThrow(RangeError);
});

test("other text has no bytes, as for bs58", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 50 }), fc.base64String({ maxLength: 50 })), (text) => {
      const expected = bs58.decodeUnsafe(text);
      const decoded = decodeBase58(text, 32);
      expect(decoded).toEqual(expected === undefined || expected.length > 32 ? undefined : Uint8Array.from(expected));
    }),
    { numRuns: 3_000 },
  );
});
