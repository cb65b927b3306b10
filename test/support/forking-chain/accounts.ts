import { Address } from "../../../src/primitives/address.ts";
import type { Account } from "../../../src/solana/account.ts";
import type { Value } from "./network.ts";

const MOST_KEYS = 8;
const OWNER = Address.from(new Uint8Array(32).fill(9));
const OTHER_OWNER = Address.from(new Uint8Array(32).fill(10));
/** One of so many writes makes the account another program's. */
const OTHERS = 7;
export const ADDRESSES = Array.from({ length: MOST_KEYS }, (_, key) =>
  Address.from(new Uint8Array(32).fill(key + 100)),
);
/** Base58, by account. */
export const addressOf = ADDRESSES.map(String);

export function dataOf(value: number): Uint8Array {
  const data = new Uint8Array(8);
  new DataView(data.buffer).setFloat64(0, value);
  return data;
}

export const ownerOf = (value: number): Address => (value % OTHERS === 0 ? OTHER_OWNER : OWNER);

export function accountOf(key: number, value: Value, slot: number): Account | null {
  if (value === null) return null;
  const data = dataOf(value);
  return { address: ADDRESSES[key]!, owner: ownerOf(value), lamports: 1n, data, executable: false, slot: BigInt(slot) };
}

/** What an account that was delivered holds. */
export function valueIn(account: Account | null): Value {
  if (account === null) return null;
  const { data } = account;
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getFloat64(0);
}
