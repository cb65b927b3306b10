import { Address } from "../../primitives/address.ts";
import { readU64, viewOf } from "../../primitives/bytes.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../solana/programs.ts";
import type { MessageAccount, MessageInstruction } from "./read-transaction.ts";

/** An instruction of the base chain that a trade may contain. */
export type BaseInstruction =
  | { readonly kind: "computeUnitLimit"; readonly units: number }
  | { readonly kind: "computeUnitPrice"; readonly microLamports: bigint }
  | { readonly kind: "loadedAccountsLimit"; readonly bytes: number }
  | {
      readonly kind: "createTokenAccount";
      readonly payer: MessageAccount;
      readonly account: MessageAccount;
      readonly owner: Address;
      readonly mint: Address;
      readonly tokenProgram: Address;
    }
  | {
      readonly kind: "transferLamports";
      readonly from: MessageAccount;
      readonly to: MessageAccount;
      readonly lamports: bigint;
    }
  | {
      readonly kind: "createWithSeed";
      readonly payer: MessageAccount;
      readonly account: MessageAccount;
      readonly base: Address;
      readonly seed: Uint8Array;
      readonly lamports: bigint;
      readonly space: bigint;
      readonly owner: Address;
    }
  | {
      readonly kind: "initializeTokenAccount";
      readonly account: MessageAccount;
      readonly mint: Address;
      readonly owner: Address;
    }
  | { readonly kind: "syncWrappedSol"; readonly account: MessageAccount }
  | {
      readonly kind: "closeTokenAccount";
      readonly account: MessageAccount;
      readonly to: MessageAccount;
      readonly authority: MessageAccount;
      readonly tokenProgram: Address;
    };

/**
 * The instruction if it is a base program's, of a kind that trades contain, and in exactly its known form; otherwise undefined.
 * @see System, Token, Associated Token and Compute Budget program interfaces
 */
export function readBaseInstruction(instruction: MessageInstruction): BaseInstruction | undefined {
  switch (instruction.program) {
    case COMPUTE_BUDGET_PROGRAM:
      return readComputeBudget(instruction);
    case SYSTEM_PROGRAM:
      return readSystem(instruction);
    case TOKEN_PROGRAM:
    case TOKEN_2022_PROGRAM:
      return readToken(instruction);
    case ASSOCIATED_TOKEN_PROGRAM:
      return readAssociatedToken(instruction);
    default:
      return undefined;
  }
}

function readComputeBudget({ accounts, data }: MessageInstruction): BaseInstruction | undefined {
  if (accounts.length !== 0) return undefined;
  if (data[0] === 2 && data.length === 5) return { kind: "computeUnitLimit", units: viewOf(data).getUint32(1, true) };
  if (data[0] === 3 && data.length === 9) return { kind: "computeUnitPrice", microLamports: readU64(data, 1) };
  if (data[0] === 4 && data.length === 5)
    return { kind: "loadedAccountsLimit", bytes: viewOf(data).getUint32(1, true) };
  return undefined;
}

function readSystem({ accounts, data }: MessageInstruction): BaseInstruction | undefined {
  const [first, second] = accounts;
  if (first === undefined || second === undefined || accounts.length !== 2 || data.length < 4) return undefined;
  const tag = viewOf(data).getUint32(0, true);
  if (tag === 2 && data.length === 12) {
    return { kind: "transferLamports", from: first, to: second, lamports: readU64(data, 4) };
  }
  if (tag !== 3 || data.length < 92) return undefined;
  const seedLength = readU64(data, 36);
  if (seedLength > 32n || data.length !== 92 + Number(seedLength)) return undefined;
  const after = 44 + Number(seedLength);
  return {
    kind: "createWithSeed",
    payer: first,
    account: second,
    base: Address.from(data, 4),
    seed: data.subarray(44, after),
    lamports: readU64(data, after),
    space: readU64(data, after + 8),
    owner: Address.from(data, after + 16),
  };
}

function readToken({ program, accounts, data }: MessageInstruction): BaseInstruction | undefined {
  const [first, second, third] = accounts;
  if (first === undefined) return undefined;
  if (data[0] === 17 && data.length === 1 && accounts.length === 1) return { kind: "syncWrappedSol", account: first };
  if (second === undefined) return undefined;
  if (data[0] === 18 && data.length === 33 && accounts.length === 2) {
    return { kind: "initializeTokenAccount", account: first, mint: second.address, owner: Address.from(data, 1) };
  }
  if (data[0] === 9 && data.length === 1 && accounts.length === 3 && third !== undefined) {
    return { kind: "closeTokenAccount", account: first, to: second, authority: third, tokenProgram: program };
  }
  return undefined;
}

function readAssociatedToken({ accounts, data }: MessageInstruction): BaseInstruction | undefined {
  const [payer, account, owner, mint, system, tokenProgram] = accounts;
  if (accounts.length !== 6 || data.length !== 1 || data[0] !== 1) return undefined;
  if (system!.address !== SYSTEM_PROGRAM) return undefined;
  return {
    kind: "createTokenAccount",
    payer: payer!,
    account: account!,
    owner: owner!.address,
    mint: mint!.address,
    tokenProgram: tokenProgram!.address,
  };
}

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

const PROGRAM_NAMES: ReadonlyMap<Address, string> = new Map([
  [SYSTEM_PROGRAM, "System"],
  [TOKEN_PROGRAM, "Token"],
  [TOKEN_2022_PROGRAM, "Token-2022"],
  [ASSOCIATED_TOKEN_PROGRAM, "Associated Token"],
  [COMPUTE_BUDGET_PROGRAM, "Compute Budget"],
  [MEMO_PROGRAM, "Memo"],
]);

/** The name of a base program; undefined for any other. */
export function baseProgramName(program: Address): string | undefined {
  return PROGRAM_NAMES.get(program);
}

/** What an instruction does, in words, if its program is known; for explanations and refusals. */
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
