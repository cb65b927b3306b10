import type { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import {
  FilledInstruction,
  type Instruction,
  InstructionPattern,
  readonly,
  readonlySigner,
  writable,
} from "../instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../programs.ts";
import { TOKEN_PROGRAMS, tokenProgramNumber } from "./token-programs.ts";

const CREATE_IDEMPOTENT = Uint8Array.of(1);
const SYNC_NATIVE = Uint8Array.of(17);
const CLOSE_ACCOUNT = Uint8Array.of(9);
const TRANSFER_LAMPORTS = new Uint8Array(12).fill(2, 0, 1);
const TRANSFER_CHECKED = 12;

/** Numbers of own accounts, in patterns that have two: who signs, and the account. */
const [OWNER, ACCOUNT] = [0, 1];

const CREATE = new InstructionPattern<Address>({
  program: ASSOCIATED_TOKEN_PROGRAM,
  rights: "W w rr rr",
  accounts: (mint, variant) => [OWNER, ACCOUNT, OWNER, mint, SYSTEM_PROGRAM, TOKEN_PROGRAMS[variant]!],
  data: () => CREATE_IDEMPOTENT,
});

const TRANSFER = new InstructionPattern<undefined>({
  program: SYSTEM_PROGRAM,
  rights: "W w",
  accounts: () => [OWNER, ACCOUNT],
  data: () => TRANSFER_LAMPORTS,
  amountsAt: 4,
  amounts: 1,
});

/** By number of the token program. */
const CLOSES = TOKEN_PROGRAMS.map(
  (program) =>
    new InstructionPattern<undefined>({
      program,
      rights: "w w R",
      accounts: () => [ACCOUNT, OWNER, OWNER],
      data: () => CLOSE_ACCOUNT,
    }),
);

/** Creates the associated token account `account` of `owner` if it is not there yet; `owner` pays its rent. */
export function createTokenAccount(
  account: Address,
  owner: Address,
  mint: Address,
  tokenProgram: Address,
): FilledInstruction<Address> {
  return new FilledInstruction(CREATE, mint, tokenProgramNumber(tokenProgram), [owner, account]);
}

/** Moves lamports between system accounts. */
export function transferLamports(from: Address, to: Address, lamports: bigint): Instruction {
  return new FilledInstruction(TRANSFER, undefined, 0, [from, to], lamports);
}

/** Makes a wrapped-SOL account's token balance follow its lamports. */
export function syncNative(account: Address, tokenProgram: Address): Instruction {
  return { program: tokenProgram, accounts: [writable(account)], data: SYNC_NATIVE };
}

/** Closes a token account of `owner`; all its lamports go to `owner`. */
export function closeTokenAccount(account: Address, owner: Address, tokenProgram: Address): Instruction {
  return new FilledInstruction(CLOSES[tokenProgramNumber(tokenProgram)]!, undefined, 0, [owner, account]);
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
