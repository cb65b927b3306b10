import type { Address } from "../../primitives/address.ts";
import { writeU32, writeU64 } from "../../primitives/bytes.ts";
import {
  FlatInstruction,
  type Instruction,
  readonly,
  readonlySigner,
  rightsOf,
  writable,
  writableSigner,
} from "../instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../programs.ts";

const CREATE_RIGHTS = rightsOf("W w rr rr");
const CLOSE_RIGHTS = rightsOf("w w R");
const CREATE_IDEMPOTENT = Uint8Array.of(1);
const SYNC_NATIVE = Uint8Array.of(17);
const CLOSE_ACCOUNT = Uint8Array.of(9);
const TRANSFER_CHECKED = 12;

/** Creates the associated token account `account` of `owner` if it is not there yet; `owner` pays its rent. */
export function createTokenAccount(
  account: Address,
  owner: Address,
  mint: Address,
  tokenProgram: Address,
): Instruction {
  const accounts = [owner, account, owner, mint, SYSTEM_PROGRAM, tokenProgram];
  return new FlatInstruction(ASSOCIATED_TOKEN_PROGRAM, accounts, CREATE_RIGHTS, CREATE_IDEMPOTENT);
}

/** Moves lamports between system accounts. */
export function transferLamports(from: Address, to: Address, lamports: bigint): Instruction {
  const data = new Uint8Array(12);
  writeU32(data, 0, 2);
  writeU64(data, 4, lamports);
  return { program: SYSTEM_PROGRAM, accounts: [writableSigner(from), writable(to)], data };
}

/** Makes a wrapped-SOL account's token balance follow its lamports. */
export function syncNative(account: Address, tokenProgram: Address): Instruction {
  return { program: tokenProgram, accounts: [writable(account)], data: SYNC_NATIVE };
}

/** Closes a token account of `owner`; all its lamports go to `owner`. */
export function closeTokenAccount(account: Address, owner: Address, tokenProgram: Address): Instruction {
  return new FlatInstruction(tokenProgram, [account, owner, owner], CLOSE_RIGHTS, CLOSE_ACCOUNT);
}

/**
 * Fails if a token account of `owner` holds less than `amount`, and changes nothing: a transfer of so much to itself.
 *
 * @param amount base units
 * @param decimals of the mint; others fail
 * @see SPL Token `TransferChecked`: the balance is compared before a transfer to the same account ends early
 */
export function requireBalance(order: {
  readonly account: Address;
  readonly owner: Address;
  readonly mint: Address;
  readonly tokenProgram: Address;
  readonly amount: bigint;
  readonly decimals: number;
}): Instruction {
  const { account, owner, mint, tokenProgram, amount, decimals } = order;
  const data = new Uint8Array(10);
  data[0] = TRANSFER_CHECKED;
  writeU64(data, 1, amount);
  data[9] = decimals;
  return {
    program: tokenProgram,
    accounts: [writable(account), readonly(mint), writable(account), readonlySigner(owner)],
    data,
  };
}
