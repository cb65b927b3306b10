import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { hex, writeU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { decodeWhirlpoolOracle, decodeWhirlpoolTicks, WHIRLPOOL_PROGRAM } from "./layout.ts";

const POOL = Address.of("HJPjoWUrhoZzkNfRpHuieeFk9WcZWjwy6PBjZ81ngndJ");

const account = (data: Uint8Array, owner = WHIRLPOOL_PROGRAM): Account => ({
  address: POOL,
  owner,
  lamports: 1n,
  data,
  executable: false,
  slot: 1n,
});

/** The same two initialised ticks, slots 0 and 3 of an array of spacing 8 beginning at 704, in either layout. */
function tickArray(dynamic: boolean): Uint8Array {
  const data = new Uint8Array(dynamic ? 60 + 86 + 2 * 113 : 9_988);
  data.set(hex(dynamic ? "11d8f68ee1c7da38" : "4561bdbe6e0742bb"));
  new DataView(data.buffer).setInt32(8, 704, true);
  data.set(POOL.bytes, dynamic ? 12 : 9_956);
  const places = dynamic ? [60, 60 + 113 + 2] : [12, 12 + 3 * 113];
  for (const [index, at] of places.entries()) {
    data[at] = 1;
    writeU64(data, at + 1, index === 0 ? 12_345n : BigInt.asUintN(64, -7n));
    if (index === 1) data.fill(0xff, at + 9, at + 17);
  }
  return data;
}

describe("decodeWhirlpoolTicks", () => {
  it("reads fixed and dynamic arrays alike", () => {
    const expected = { ticks: [704, 728], liquidityNet: [12_345n, -7n] };
    expect(decodeWhirlpoolTicks(account(tickArray(false)), POOL, 704, 8)).toEqual(expected);
    expect(decodeWhirlpoolTicks(account(tickArray(true)), POOL, 704, 8)).toEqual(expected);
  });

  it("refuses another pool's, another place's and another program's array", () => {
    const other = Address.from(new Uint8Array(32).fill(3));
    expect(decodeWhirlpoolTicks(account(tickArray(true)), other, 704, 8)).toBeUndefined();
    expect(decodeWhirlpoolTicks(account(tickArray(false)), POOL, 0, 8)).toBeUndefined();
    expect(decodeWhirlpoolTicks(account(tickArray(false), other), POOL, 704, 8)).toBeUndefined();
  });
});

describe("decodeWhirlpoolOracle", () => {
  it("reads constants and variables at their offsets", () => {
    const data = new Uint8Array(254);
    const view = new DataView(data.buffer);
    data.set(hex("8bc283b38cb3e5f4"));
    data.set(POOL.bytes, 8);
    writeU64(data, 40, 11n);
    for (const [at, value] of [
      [48, 30],
      [50, 600],
      [52, 5_000],
      [62, 64],
      [64, 48],
    ] as const)
      view.setUint16(at, value, true);
    for (const [at, value] of [
      [54, 4_000],
      [58, 350_000],
      [98, 77],
      [106, 88],
    ] as const)
      view.setUint32(at, value, true);
    view.setInt32(102, -9, true);
    writeU64(data, 82, 22n);
    writeU64(data, 90, 33n);
    expect(decodeWhirlpoolOracle(account(data), POOL)).toEqual({
      tradeEnabledAt: 11n,
      filterPeriod: 30n,
      decayPeriod: 600n,
      reductionFactor: 5_000,
      controlFactor: 4_000n,
      maximumVolatility: 350_000,
      groupSize: 64,
      majorSwapTicks: 48,
      referenceAt: 22n,
      majorSwapAt: 33n,
      volatilityReference: 77,
      groupReference: -9,
      volatility: 88,
    });
  });
});
