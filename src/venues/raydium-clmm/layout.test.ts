import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { hex, writeU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { CLMM_PROGRAM, clmmConfigAddress, decodeClmmMarket, decodeClmmPool, decodeClmmTicks } from "./layout.ts";
import { bitmapsBetween, type ClmmBitmaps, initialisedStarts, isBeyondBitmap } from "./ticks/tick-bitmaps.ts";

const POOL = Address.from(new Uint8Array(32).fill(5));

const account = (data: Uint8Array): Account => ({
  address: POOL,
  owner: CLMM_PROGRAM,
  lamports: 1n,
  data,
  executable: false,
  slot: 1n,
});

/** Bitmaps with the bits of the arrays of these indices set, placed as the program places them. */
function bitmaps(indices: readonly number[], tickSpacing: number, extended = true): ClmmBitmaps {
  const bitmap = new Uint8Array(128);
  const extension = { positive: new Uint8Array(896), negative: new Uint8Array(896) };
  for (const index of indices) {
    if (index >= -512 && index < 512) {
      bitmap[(index + 512) >> 3]! |= 1 << ((index + 512) & 7);
      continue;
    }
    const distance = Math.abs(index);
    // Below: block 0 holds −1 024 to −513; an index at the far end of a block belongs to it.
    const block = index >= 0 ? Math.floor(distance / 512) - 1 : Math.ceil(distance / 512) - 2;
    const within = index >= 0 ? distance % 512 : (512 - (distance % 512)) % 512;
    const side = index >= 0 ? extension.positive : extension.negative;
    side[block * 64 + (within >> 3)]! |= 1 << (within & 7);
  }
  return { bitmap, extension: extended ? extension : undefined, tickSpacing };
}

describe("initialisedStarts", () => {
  const indices = [-7_000, -1_025, -1_024, -513, -512, -9, -1, 0, 3, 511, 512, 1_023, 1_024, 7_000];

  it("finds every array in order, across the pool's bitmap and its extension", () => {
    const up = indices.map((index) => index * 60);
    expect(initialisedStarts(bitmaps(indices, 1), -443_600, false, true, 99)).toEqual(up);
    expect(initialisedStarts(bitmaps(indices, 1), 443_600, true, true, 99)).toEqual(up.toReversed());
  });

  it("includes the array of the tick itself only on request", () => {
    expect(initialisedStarts(bitmaps(indices, 1), 199, false, true, 2)).toEqual([180, 511 * 60]);
    expect(initialisedStarts(bitmaps(indices, 1), 199, false, false, 1)).toEqual([511 * 60]);
    expect(initialisedStarts(bitmaps(indices, 1), -1, true, false, 2)).toEqual([-540, -512 * 60]);
  });

  it("sees only the pool's bitmap without the extension", () => {
    expect(initialisedStarts(bitmaps(indices, 1, false), 300, false, true, 9)).toEqual([511 * 60]);
    expect(isBeyondBitmap(511 * 60, 1)).toBe(false);
    expect(isBeyondBitmap(512 * 60, 1)).toBe(true);
    expect(isBeyondBitmap(-513 * 60, 1)).toBe(true);
  });
});

describe("bitmapsBetween", () => {
  it("counts the pool's bitmap as one", () => {
    expect(bitmapsBetween(-512 * 60, 511 * 60, 1)).toBe(0);
    expect(bitmapsBetween(0, 512 * 60, 1)).toBe(1);
    expect(bitmapsBetween(-1_025 * 60, 0, 1)).toBe(2);
  });
});

describe("decodeClmmTicks", () => {
  it("keeps ticks with liquidity and ticks with orders only", () => {
    const data = new Uint8Array(10_240);
    const view = new DataView(data.buffer);
    data.set(hex("c09b55cd31f9812a"));
    data.set(POOL.bytes, 8);
    view.setInt32(40, -600, true);
    const tick = (slot: number, at: number): number => 44 + slot * 168 + at;
    writeU64(data, tick(2, 4), BigInt.asUintN(64, -9n));
    data.fill(0xff, tick(2, 12), tick(2, 20));
    writeU64(data, tick(2, 20), 9n);
    writeU64(data, tick(7, 124), 30n);
    writeU64(data, tick(7, 132), 4n);
    expect(decodeClmmTicks(account(data), POOL, -600, 10)).toEqual({
      ticks: [-580, -530],
      liquidityNet: [-9n, 0n],
      hasLiquidity: [true, false],
      orders: [0n, 34n],
    });
    expect(decodeClmmTicks(account(data), POOL, 0, 10)).toBeUndefined();
  });
});

describe("a pool", () => {
  it("has a fee that follows volatility only if its field is set", () => {
    const data = new Uint8Array(1_544);
    const view = new DataView(data.buffer);
    data.set(hex("f7ede3f5d7c3de46"));
    view.setUint16(235, 60, true);
    expect(decodeClmmMarket(account(data))).toMatchObject({ tickSpacing: 60, extended: false });
    expect(decodeClmmPool(account(data)).volatility).toBeUndefined();
    view.setUint16(1_096, 30, true);
    view.setUint16(1_098, 600, true);
    view.setUint16(1_100, 5_000, true);
    view.setUint32(1_102, 4_000, true);
    view.setUint32(1_106, 350_000, true);
    view.setInt32(1_110, -3, true);
    view.setUint32(1_114, 7, true);
    view.setUint32(1_118, 8, true);
    view.setBigUint64(1_122, 99n, true);
    expect(decodeClmmPool(account(data)).volatility).toEqual({
      filterPeriod: 30n,
      decayPeriod: 600n,
      reductionFactor: 5_000,
      control: 4_000n,
      maximum: 350_000,
      groupReference: -3,
      reference: 7,
      accumulated: 8,
      updatedAt: 99n,
    });
  });

  it("refuses accounts of another kind", () => {
    expect(decodeClmmMarket(account(new Uint8Array(1_544)))).toBeUndefined();
    expect(decodeClmmMarket(account(new Uint8Array(637)))).toBeUndefined();
  });
});

describe("clmmConfigAddress", () => {
  it("derives the published configurations", () => {
    expect(clmmConfigAddress(4).toString()).toBe("9iFER3bpjf1PTTCQCfTRu17EJgvsxo9pVyA9QWwEuX4x");
    expect(clmmConfigAddress(13).toString()).toBe("9WjDVMHWCirG9jkchbetHTnSzdXbAPnD9bsoGRcz1xUw");
  });
});
