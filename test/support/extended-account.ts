import { Address } from "../../src/primitives/address.ts";
import { concatBytes, viewOf, writeU64 } from "../../src/primitives/bytes.ts";
import type { Account } from "../../src/solana/account.ts";
import { TOKEN_2022_PROGRAM } from "../../src/solana/programs.ts";

/** An extension of a Token-2022 account: its type number and its value. @see spl-token-2022 `extension/mod.rs`, enum ExtensionType */
export type AccountExtension = readonly [type: number, value: Uint8Array];

/** The data of an account with these extensions. @param start the 165 bytes that every token account has */
export function withExtensions(start: Uint8Array, extensions: readonly AccountExtension[]): Uint8Array {
  const entries = extensions.map(([type, value]) => {
    const head = new Uint8Array(4);
    viewOf(head).setUint16(0, type, true);
    viewOf(head).setUint16(2, value.length, true);
    return concatBytes(head, value);
  });
  return concatBytes(start.subarray(0, 165), Uint8Array.of(2), ...entries);
}

/** A Token-2022 account of nobody's with these extensions; without any it has none of their bytes either. */
export function extendedAccount(...extensions: readonly AccountExtension[]): Account {
  const start = new Uint8Array(165);
  start[108] = 1;
  writeU64(start, 64, 5n);
  return {
    address: Address.from(new Uint8Array(32).fill(3)),
    owner: TOKEN_2022_PROGRAM,
    lamports: 2_000_000n,
    data: extensions.length === 0 ? start : withExtensions(start, extensions),
    executable: false,
    slot: 1n,
  };
}
