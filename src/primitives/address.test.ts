import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Address, compareAddresses } from "./address.ts";

const SOL = "So11111111111111111111111111111111111111112";

test("one instance per value", () => {
  expect(Address.of(SOL)).toBe(Address.of(SOL));
  expect(Address.from(Address.of(SOL).bytes)).toBe(Address.of(SOL));
  expect(Address.of(SOL).toString()).toBe(SOL);
  expect(JSON.stringify({ mint: Address.of(SOL) })).toBe(`{"mint":"${SOL}"}`);
});

test.each(["", "SOL", "0OIl", `${SOL}1`, `${SOL.slice(0, -1)}`, "z".repeat(44), "11111111111111111111111111111111111"])(
  "%s is not an address",
  (text) => {
    expect(Address.parse(text)).toBeUndefined();
  },
);

test("a copy is kept: later writes to the source do not reach it", () => {
  const source = Uint8Array.from(randomBytes(40));
  const expected = source.slice(4, 36);
  const address = Address.from(source, 4);
  source.fill(0);
  expect(address.bytes).toEqual(expected);
  expect(() => Address.from(source, 9)).toThrow(RangeError);
});

test("an address alone equals nothing else of its bytes, and is not found by them", () => {
  const bytes = new Uint8Array(32).fill(77);
  const alone = Address.alone(bytes);
  expect(alone.toString()).toBe(Address.from(bytes).toString());
  expect(alone).not.toBe(Address.from(bytes));
  expect(() => Address.alone(new Uint8Array(31))).toThrow(RangeError);
});

test("addresses sort by their bytes", () => {
  const low = Address.from(Uint8Array.of(...new Uint8Array(31), 1));
  const high = Address.from(Uint8Array.of(1, ...new Uint8Array(31)));
  expect(compareAddresses(low, high)).toBeLessThan(0);
  expect(compareAddresses(high, low)).toBeGreaterThan(0);
  expect(compareAddresses(low, low)).toBe(0);
});

test("an address copies its bytes from a Buffer too, so that the rest is not kept in memory", () => {
  const source = randomBytes(64);
  const address = Address.from(source, 8);
  const expected = Uint8Array.from(source.subarray(8, 40));
  source.fill(0);
  expect(Uint8Array.from(address.bytes)).toEqual(expected);
  expect(address.bytes.buffer.byteLength).toBe(32);
});
