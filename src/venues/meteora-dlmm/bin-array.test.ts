import { expect, test } from "vitest";
import { hex, viewOf, writeU64 } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import {
  AMOUNT_X,
  AMOUNT_Y,
  ASK_SIDE,
  BIN_PRICE,
  BIN_SIZE,
  BINS_PER_ARRAY,
  copyOfArray,
  decodeBinArray,
  FIRST_BIN_OFFSET,
  hasOrders,
  OPEN_ORDERS,
  ordersSellX,
  PROCESSED_ORDERS,
  RECORD,
  recordAt,
} from "./bin-array.ts";
import { DLMM_PROGRAM } from "./layout.ts";

const random = createRandom(10_136);
const SIZE = FIRST_BIN_OFFSET + BINS_PER_ARRAY * BIN_SIZE;

/** An account whose bins hold random values in about a part of the places. */
function drawn(index: number, part: number, orders: number, offset: number): Uint8Array {
  const data = new Uint8Array(new ArrayBuffer(offset + SIZE), offset, SIZE);
  data.set(hex("5c8e5cdc059446b5"));
  writeU64(data, 8, BigInt(index));
  for (let bin = FIRST_BIN_OFFSET; bin < SIZE; bin += BIN_SIZE) {
    for (const [at, chance] of [
      [AMOUNT_X, part],
      [AMOUNT_Y, part],
      [BIN_PRICE, 0.9],
      [BIN_PRICE + 8, 0.5],
      [OPEN_ORDERS, orders],
      [PROCESSED_ORDERS, orders],
    ] as const) {
      if (random.chance(chance))
        writeU64(data, bin + at, random.pick([1n, 1n << 32n, (1n << 64n) - 1n, random.below(1n << 64n)]));
    }
    data[bin + ASK_SIDE] = random.pick([0, 1]);
    // What no trade reads.
    data.fill(random.u32() & 255, bin + 48, bin + 112);
  }
  return data;
}

const accountOf = (data: Uint8Array) => {
  return { address: DLMM_PROGRAM, owner: DLMM_PROGRAM, lamports: 1n, data, executable: false, slot: 1n };
};

test("every bin is read as it lies in the account", () => {
  for (let round = 0; round < 300; round++) {
    const index = random.pick([0, 1, -1, 94, -6_655]);
    const orders = random.pick([0, 0, 0.02, 0.5]);
    const data = drawn(index, random.pick([0, 0.1, 0.6, 1]), orders, random.pick([0, 1, 4, 8]));
    const account = viewOf(data);
    const array = decodeBinArray(accountOf(data))!;
    expect(array.index).toBe(index);
    const { view } = array;
    for (let place = 0; place < BINS_PER_ARRAY; place++) {
      const bin = FIRST_BIN_OFFSET + place * BIN_SIZE;
      const inAccount = (at: number) => account.getBigUint64(bin + at, true);
      const held = [AMOUNT_X, AMOUNT_Y, OPEN_ORDERS, PROCESSED_ORDERS].map(inAccount);
      const record = recordAt(view, place);
      expect(record >= 0).toBe(held.some((value) => value > 0n));
      if (record < 0) continue;
      const inRecord = (at: number) => view.getBigUint64(record + at, true);
      const noOrders = () => 0n;
      const ordersIn = hasOrders(view) ? inRecord : noOrders;
      expect([inRecord(RECORD.x), inRecord(RECORD.y), ordersIn(RECORD.open), ordersIn(RECORD.processed)]).toEqual(held);
      expect([inRecord(RECORD.price), inRecord(RECORD.price + 8)]).toEqual([
        inAccount(BIN_PRICE),
        inAccount(BIN_PRICE + 8),
      ]);
      expect(ordersSellX(view, place)).toBe(data[bin + ASK_SIDE] !== 0);
    }
  }
});

test("an array is not kept by the bytes of its account, and a copy changes alone", () => {
  const data = drawn(3, 1, 0.5, 0);
  const array = decodeBinArray(accountOf(data))!;
  const record = recordAt(array.view, 12);
  const x = array.view.getBigUint64(record + RECORD.x, true);
  data.fill(0);
  const copy = copyOfArray(array);
  copy.view.setBigUint64(record + RECORD.x, 5n, true);
  expect([array.view.getBigUint64(record + RECORD.x, true), copy.view.getBigUint64(record + RECORD.x, true)]).toEqual([
    x,
    5n,
  ]);
  expect(array.view.buffer.byteLength).toBeLessThan(SIZE / 2);
});

test("an array is read from a buffer of Node's, wherever in its memory it begins", () => {
  const data = drawn(3, 0.6, 0.02, 0);
  const { view } = decodeBinArray(accountOf(data))!;
  for (const offset of [1, 4, 7]) {
    const buffer = Buffer.concat([new Uint8Array(offset), data]).subarray(offset);
    expect(decodeBinArray(accountOf(buffer))!.view.buffer).toEqual(view.buffer);
  }
});

test("other accounts are no arrays of bins", () => {
  const data = drawn(0, 1, 0, 0);
  expect(decodeBinArray(accountOf(data.slice(0, SIZE - 1)))).toBeUndefined();
  expect(decodeBinArray(accountOf(data.fill(0, 0, 1)))).toBeUndefined();
});
