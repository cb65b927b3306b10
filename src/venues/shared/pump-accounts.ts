import { Address } from "../../primitives/address.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";

/** An address in an account of any age: the system program's (32 zeros) where the data is too short to hold one. */
export function addressAt(data: Uint8Array, offset: number): Address {
  return data.length >= offset + 32 ? Address.from(data, offset) : SYSTEM_PROGRAM;
}

/** A flag in an account of any age: false where the data is too short to hold one. */
export function flagAt(data: Uint8Array, offset: number): boolean {
  return data.length > offset && data[offset] !== 0;
}

/** `count` addresses one after another, without those that are not set. */
export function addressesAt(data: Uint8Array, offset: number, count: number): readonly Address[] {
  return Array.from({ length: count }, (_, index) => addressAt(data, offset + 32 * index)).filter(
    (address) => address !== SYSTEM_PROGRAM,
  );
}
