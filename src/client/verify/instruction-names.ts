import { viewOf } from "../../primitives/bytes.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../solana/programs.ts";
import { baseProgramName } from "./base-instruction.ts";
import type { MessageInstruction } from "./read-transaction.ts";

const SYSTEM_NAMES: Readonly<Record<number, string>> = {
  0: "creates an account",
  1: "assigns an account to another program",
  2: "transfers SOL",
  3: "creates an account from a seed",
  4: "advances a durable nonce, so that the transaction would stay valid indefinitely",
  5: "withdraws SOL from a nonce account",
  6: "initializes a nonce account",
  7: "changes the authority of a nonce account",
  8: "allocates space in an account",
  9: "allocates space in an account from a seed",
  10: "assigns an account with a seed to another program",
  11: "transfers SOL from an account made from a seed",
  12: "upgrades a nonce account",
};

const TOKEN_NAMES: Readonly<Record<number, string>> = {
  0: "initializes a mint",
  1: "initializes a token account",
  3: "transfers tokens",
  4: "approves a delegate, who may spend tokens",
  5: "revokes a delegate",
  6: "changes the authority of an account",
  7: "mints tokens",
  8: "burns tokens",
  9: "closes a token account",
  10: "freezes a token account",
  11: "thaws a token account",
  12: "transfers tokens",
  13: "approves a delegate, who may spend tokens",
  14: "mints tokens",
  15: "burns tokens",
  16: "initializes a token account",
  17: "syncs a wrapped-SOL account",
  18: "initializes a token account",
};

/** What an instruction does, in words, if its program is known; for explanations. */
export function describeInstruction({ program, data }: MessageInstruction): string {
  const name = baseProgramName(program);
  if (name === undefined) return `calls the unknown program ${program}`;
  let act: string | undefined;
  if (program === SYSTEM_PROGRAM && data.length >= 4) act = SYSTEM_NAMES[viewOf(data).getUint32(0, true)];
  else if (program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM) act = TOKEN_NAMES[data[0] ?? -1];
  else if (program === ASSOCIATED_TOKEN_PROGRAM) act = "creates an associated token account";
  else if (program === MEMO_PROGRAM) act = "writes a memo";
  return act === undefined ? `calls the ${name} program with an unknown instruction` : act;
}
