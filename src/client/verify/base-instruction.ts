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
      readonly kind: "requireBalance";
      readonly account: MessageAccount;
      readonly mint: Address;
      readonly authority: MessageAccount;
      readonly tokenProgram: Address;
      readonly amount: bigint;
      readonly decimals: number;
    }
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
  // A transfer to the account itself moves nothing, and fails if the account holds less.
  if (data[0] === 12 && data.length === 10 && accounts.length === 4 && third?.address === first.address) {
    const [amount, decimals] = [readU64(data, 1), data[9]!];
    const [mint, authority] = [second.address, accounts[3]!];
    return { kind: "requireBalance", account: first, mint, authority, tokenProgram: program, amount, decimals };
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

const PROGRAM_NAMES: ReadonlyMap<Address, string> = new Map([
  [SYSTEM_PROGRAM, "System"],
  [TOKEN_PROGRAM, "Token"],
  [TOKEN_2022_PROGRAM, "Token-2022"],
  [ASSOCIATED_TOKEN_PROGRAM, "Associated Token"],
  [COMPUTE_BUDGET_PROGRAM, "Compute Budget"],
  [MEMO_PROGRAM, "Memo"],
]);

/** Which instruction of which program this is, for refusals. */
export function nameInstruction({ program, data }: MessageInstruction): string {
  const name = PROGRAM_NAMES.get(program);
  return name === undefined
    ? `calls the unknown program ${program}`
    : `calls the ${name} program, instruction ${data[0] ?? "none"}`;
}

/** The name of a base program; undefined for any other. */
export function baseProgramName(program: Address): string | undefined {
  return PROGRAM_NAMES.get(program);
}
