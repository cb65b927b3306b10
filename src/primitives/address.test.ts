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

test.each([0x00, 0x7f, 0x80, 0xff, undefined])("an address writes and finds its bytes, all of %s", (byte) => {
  const bytes = byte === undefined ? Uint8Array.from(randomBytes(32)) : new Uint8Array(32).fill(byte);
  const address = Address.from(bytes);
  expect(address.first).toBe(bytes[0]);
  const out = new Uint8Array(40).fill(1);
  address.write(out, 5);
  const viewed = new Uint8Array(out.length).fill(out[0]!);
  address.writeTo(new DataView(viewed.buffer), 5);
  expect(viewed).toEqual(out);
  expect(out).toEqual(Uint8Array.of(1, 1, 1, 1, 1, ...bytes, 1, 1, 1));
  expect(address.isAt(out, 5)).toBe(true);
  for (let at = 0; at < 32; at++) {
    const other = out.slice();
    other[5 + at]! ^= 1 << (at % 8);
    expect(address.isAt(other, 5)).toBe(false);
  }
});

test("nothing is written to or found at a place without room for an address", () => {
  const address = Address.of(SOL);
  for (const place of [-1, 9]) {
    const out = new Uint8Array(40);
    expect(() => address.write(out, place)).toThrow(RangeError);
    expect(() => address.writeTo(new DataView(new ArrayBuffer(40)), place)).toThrow(RangeError);
    expect(out).toEqual(new Uint8Array(40));
    expect(address.isAt(out, place)).toBe(false);
  }
});

test("addresses of other bytes are not equal for what compares their fields", () => {
  const bytes = randomBytes(32);
  const other = Uint8Array.from(bytes);
  other[31]! ^= 1;
  expect(Address.alone(bytes)).toEqual(Address.alone(bytes));
  expect(Address.alone(other)).not.toEqual(Address.alone(bytes));
});
