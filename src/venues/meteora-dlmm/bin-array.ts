import type { Address } from "../../primitives/address.ts";
import { hasBytesAt, hex, readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { decodeOnce } from "../../solana/decode-once.ts";
import { DLMM_PROGRAM } from "./layout.ts";

export const BINS_PER_ARRAY = 70;
export const BIN_SIZE = 144;
export const FIRST_BIN_OFFSET = 56;

const DISCRIMINATOR = hex("5c8e5cdc059446b5");
const ARRAY_SIZE = FIRST_BIN_OFFSET + BINS_PER_ARRAY * BIN_SIZE;

/** Offsets of values in a bin of an account. @see @meteora-ag/dlmm 1.9.14 IDL, type Bin */
export const AMOUNT_X = 0;
export const AMOUNT_Y = 8;
export const BIN_PRICE = 16;
export const OPEN_ORDERS = 112;
export const PROCESSED_ORDERS = 128;
export const ASK_SIDE = 140;

/** Offsets of the same values in a record: makers' X and Y, the price, limit orders not begun and those being filled. */
export const RECORD = { x: 0, y: 8, price: 16, open: 32, processed: 40 } as const;
const WITH_ORDERS = 48;
const WITHOUT_ORDERS = 32;
/** Offsets in front of the records, after a byte for each bin: of their size, and of the first. */
const SIZE_OF_RECORD = BINS_PER_ARRAY;
const FIRST_RECORD = 72;

/** Set in a bin's byte if its orders sell X. */
const SELLS_X = 0x80;
const NUMBER = 0x7f;

/**
 * Seventy neighbouring bins: of those that hold anything, a record of what trades read. The bytes of the account, three to twenty times as
 * many, are not kept.
 */
export interface BinArray {
  readonly address: Address;
  readonly index: number;
  /** A byte for each bin, with the number of its record from 1 on, or 0; the size of a record; the records. */
  readonly view: DataView;
}

/** An array while it is written, and the same as numbers of 64 bits. */
const scratch = new Uint8Array(FIRST_RECORD + BINS_PER_ARRAY * WITH_ORDERS);
const scratchWords = new BigUint64Array(scratch.buffer);

/** The bin array in an account, or undefined if it is none. */
export const decodeBinArray: (account: Account) => BinArray | undefined = decodeOnce(({ address, owner, data }) => {
  if (owner !== DLMM_PROGRAM || data.length < ARRAY_SIZE || !hasBytesAt(data, 0, DISCRIMINATOR)) return undefined;
  return { address, index: Number(BigInt.asIntN(64, readU64(data, 8))), view: recordsOf(data) };
});

function recordsOf(bytes: Uint8Array): DataView {
  // Every number begins at a multiple of eight bytes. One that is copied and not looked at makes no bigint.
  const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const words = new BigUint64Array(buffer, byteOffset, ARRAY_SIZE >> 3);
  const halves = new Int32Array(buffer, byteOffset, ARRAY_SIZE >> 2);
  const isWide = anyOrders(halves);
  const size = isWide ? WITH_ORDERS : WITHOUT_ORDERS;
  scratch[SIZE_OF_RECORD] = size;
  let records = 0;
  for (let place = 0; place < BINS_PER_ARRAY; place++) {
    const bin = FIRST_BIN_OFFSET + place * BIN_SIZE;
    if (isEmpty(halves, bin)) {
      scratch[place] = 0;
      continue;
    }
    const record = FIRST_RECORD + records * size;
    records += 1;
    scratch[place] = bytes[bin + ASK_SIDE] === 0 ? records : records | SELLS_X;
    copyWord(words, bin + AMOUNT_X, record + RECORD.x);
    copyWord(words, bin + AMOUNT_Y, record + RECORD.y);
    copyWord(words, bin + BIN_PRICE, record + RECORD.price);
    copyWord(words, bin + BIN_PRICE + 8, record + RECORD.price + 8);
    if (!isWide) continue;
    copyWord(words, bin + OPEN_ORDERS, record + RECORD.open);
    copyWord(words, bin + PROCESSED_ORDERS, record + RECORD.processed);
  }
  return new DataView(scratch.buffer.slice(0, FIRST_RECORD + records * size));
}

function anyOrders(halves: Int32Array): boolean {
  for (let bin = FIRST_BIN_OFFSET; bin < ARRAY_SIZE; bin += BIN_SIZE)
    if (!(isZero(halves, bin + OPEN_ORDERS) && isZero(halves, bin + PROCESSED_ORDERS))) return true;
  return false;
}

const isEmpty = (halves: Int32Array, bin: number): boolean =>
  isZero(halves, bin + AMOUNT_X) &&
  isZero(halves, bin + AMOUNT_Y) &&
  isZero(halves, bin + OPEN_ORDERS) &&
  isZero(halves, bin + PROCESSED_ORDERS);

/** @param at of a number of 64 bits, in bytes */
const isZero = (halves: Int32Array, at: number): boolean => (halves[at >> 2]! | halves[(at >> 2) + 1]!) === 0;

function copyWord(words: BigUint64Array, from: number, to: number): void {
  scratchWords[to >> 3] = words[from >> 3]!;
}

/** Where the record of a bin begins; negative if it holds nothing. @param place of the bin in its array */
export function recordAt(view: DataView, place: number): number {
  const number = view.getUint8(place) & NUMBER;
  return number === 0 ? -1 : FIRST_RECORD + (number - 1) * view.getUint8(SIZE_OF_RECORD);
}

/** Whether any bin holds limit orders; only then do records have them. */
export function hasOrders(view: DataView): boolean {
  return view.getUint8(SIZE_OF_RECORD) === WITH_ORDERS;
}

/** Whether the limit orders of a bin that holds something sell X. */
export function ordersSellX(view: DataView, place: number): boolean {
  return view.getUint8(place) >= SELLS_X;
}

/** The same array in memory of its own, to be changed. */
export function copyOfArray({ address, index, view }: BinArray): BinArray {
  return { address, index, view: new DataView(view.buffer.slice(0)) };
}

/** The index of the array that holds a bin. */
export function arrayIndexOf(binId: number): number {
  return Math.floor(binId / BINS_PER_ARRAY);
}
