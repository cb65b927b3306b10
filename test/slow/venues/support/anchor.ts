import { createHash } from "node:crypto";
import type { Address } from "../../../../src/primitives/address.ts";
import { concatBytes } from "../../../../src/primitives/bytes.ts";
import type { AccountMeta, Instruction } from "../../../../src/solana/instruction.ts";

/** First eight bytes of the hash of "<space>:<name>": how Anchor marks instructions ("global") and accounts ("account"). */
export function discriminator(space: "global" | "account", name: string): Uint8Array {
  return Uint8Array.from(createHash("sha256").update(`${space}:${name}`).digest().subarray(0, 8));
}

/** An Anchor instruction: its name in snake case, its accounts, its arguments already in bytes. */
export function anchorInstruction(
  program: Address,
  name: string,
  accounts: readonly AccountMeta[],
  ...args: readonly Uint8Array[]
): Instruction {
  return { program, accounts, data: concatBytes(discriminator("global", name), ...args) };
}

/** `value` in `bytes` little-endian bytes, two's complement when negative. */
export function le(value: bigint | number, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  let rest = BigInt.asUintN(bytes * 8, BigInt(value));
  for (let i = 0; i < bytes; i++, rest >>= 8n) out[i] = Number(rest & 0xffn);
  return out;
}
