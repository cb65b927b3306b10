import { Address } from "../../primitives/address.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";

/** An address in an account of any version: the system program's (32 zeros) if the data is too short. */
export function addressAt(data: Uint8Array, offset: number): Address {
  return data.length >= offset + 32 ? Address.from(data, offset) : SYSTEM_PROGRAM;
}

/** A flag in an account of any version: false if the data is too short. */
export function flagAt(data: Uint8Array, offset: number): boolean {
  return data.length > offset && data[offset] !== 0;
}

/** `count` consecutive addresses, without unset ones. */
export function addressesAt(data: Uint8Array, offset: number, count: number): readonly Address[] {
  return Array.from({ length: count }, (_, index) => addressAt(data, offset + 32 * index)).filter(
    (address) => address !== SYSTEM_PROGRAM,
  );
}
