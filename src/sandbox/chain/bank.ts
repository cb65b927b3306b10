import {
  EpochSchedule,
  FailedTransactionMetadata,
  LiteSvm,
  Account as NativeAccount,
  Clock as NativeClock,
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
  TransactionErrorProgramExecutionTemporarilyRestricted,
  type TransactionMetadata,
} from "litesvm/dist/internal.js";
import { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import type { Account, ChainClock } from "../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS, type TransactionErrorJson } from "../transaction/transaction-error.ts";
import type { WireTransaction } from "../transaction/wire-transaction.ts";

/** Lamports per byte of an account, data plus a fixed 128 bytes. @see SIMD-0437 */
const RENT_LAMPORTS_PER_BYTE = 5_080n;
/** As on mainnet: epochs of this length from slot 0 on, without a warm-up. */
export const SLOTS_PER_EPOCH = 432_000;
/** Rent is never collected from exempt accounts; nodes show it as this epoch. */
const NO_RENT_EPOCH = (1n << 64n) - 1n;
const NO_CODE = new Uint8Array(0);
/**
 * The accounts of an upgradeable program: it points to the account that holds, after the slot it was deployed in, its code.
 * @see https://github.com/anza-xyz/solana-sdk `UpgradeableLoaderState`
 */
const PROGRAM_POINTER_OFFSET = 4;
const DEPLOY_SLOT_OFFSET = 4;
const CODE_OFFSET = 45;

/** An instruction that a program called, its accounts by their indexes in the message. */
export interface InnerInstruction {
  readonly programIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/** What executing a transaction did, as the runtime reports it. */
export interface Execution {
  /** Null when it succeeded. */
  readonly error: TransactionErrorJson | null;
  readonly logs: readonly string[];
  /** One list for each instruction of the message. */
  readonly innerInstructions: readonly (readonly InnerInstruction[])[];
  readonly unitsConsumed: number;
  readonly returnData: { readonly program: Address; readonly data: Uint8Array } | undefined;
}

/** A simulated execution, with the accounts as it would leave them; none when it fails. */
export interface Simulation extends Execution {
  readonly accountsAfter: ReadonlyMap<Address, Account>;
}

/**
 * The accounts and the runtime that changes them: LiteSVM, with mainnet's rent and epochs. It has one state, knows no
 * blocks, and accepts any blockhash and any repetition; the chain around it judges those.
 */
export class Bank {
  readonly #svm: LiteSvm;
  /** Programs by the account that holds their code. */
  readonly #programOfCode = new Map<Address, Address>();
  #slot = 0n;

  constructor() {
    this.#svm = new LiteSvm();
    this.#svm.setBlockhashCheck(false);
    this.#svm.setTransactionHistory(0n);
    this.setRent(RENT_LAMPORTS_PER_BYTE);
    this.setLogLimit(undefined);
    const slots = BigInt(SLOTS_PER_EPOCH);
    this.#svm.setEpochSchedule(new EpochSchedule(slots, slots, false, 0n, 0n));
    this.#svm.withNativeMints();
  }

  /** The account, or null if there is none. The data is a copy. */
  account(address: Address): Account | null {
    const account = this.#svm.getAccount(address.bytes);
    return account === null || account.lamports() === 0n ? null : this.#read(address, account);
  }

  /** Lamports of the account; 0 if there is none. */
  lamports(address: Address): bigint {
    return this.#svm.getBalance(address.bytes) ?? 0n;
  }

  programAccounts(program: Address): Account[] {
    return this.#svm
      .getProgramAccounts(program.bytes)
      .map((entry) => this.#read(Address.from(entry.address), entry.account()));
  }

  /** Writes an account past the runtime. Writing the code of a program deploys it. */
  write(account: Omit<Account, "slot">): void {
    const program = this.#programOfCode.get(account.address);
    if (program !== undefined) this.#svm.addProgram(program.bytes, account.data.subarray(CODE_OFFSET));
    this.#put(account);
  }

  #put(account: Omit<Account, "slot">): void {
    this.#svm.setAccount(
      account.address.bytes,
      new NativeAccount(account.lamports, account.data, account.owner.bytes, account.executable, NO_RENT_EPOCH),
    );
  }

  /** Removes an account past the runtime. */
  remove(address: Address): void {
    this.#svm.setAccount(address.bytes, new NativeAccount(0n, NO_CODE, SYSTEM_PROGRAM.bytes, false, NO_RENT_EPOCH));
  }

  /**
   * Deploys a program, or replaces it by another build: its code lies in an account of its own, with the slot it was deployed in.
   * @returns the address of that account
   */
  addProgram(id: Address, code: Uint8Array, slot: bigint): Address {
    this.#svm.addProgram(id.bytes, code);
    const codeAddress = Address.from(this.account(id)!.data, PROGRAM_POINTER_OFFSET);
    this.#programOfCode.set(codeAddress, id);
    const account = this.account(codeAddress)!;
    writeU64(account.data, DEPLOY_SLOT_OFFSET, slot);
    this.#put(account);
    return codeAddress;
  }

  /** The account that holds a program's code, or null. */
  programCode(id: Address): Account | null {
    const pointer = this.account(id);
    return pointer === null ? null : this.account(Address.from(pointer.data, PROGRAM_POINTER_OFFSET));
  }

  setClock(clock: ChainClock): void {
    this.#slot = clock.slot;
    this.#svm.setClock(new NativeClock(clock.slot, 0n, clock.epoch, clock.epoch + 1n, clock.unixTimestamp));
  }

  /** Newest first; base58. */
  setSlotHashes(hashes: readonly { readonly slot: bigint; readonly hash: string }[]): void {
    this.#svm.setSlotHashes([...hashes]);
  }

  /** Sets the lamports that accounts must hold per byte, data plus a fixed 128. */
  setRent(lamportsPerByte: bigint): void {
    const rent = this.#svm.getRent();
    rent.lamportsPerByteYear = lamportsPerByte;
    this.#svm.setRent(rent);
  }

  /** Cuts each transaction's logs at this many bytes; undefined, the default of nodes: keeps them whole. */
  setLogLimit(bytes: number | undefined): void {
    this.#svm.setLogBytesLimit(bytes === undefined ? undefined : BigInt(bytes));
  }

  /** Lamports an account of `space` data bytes must hold. */
  rentExemption(space: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(space));
  }

  /** Executes and keeps the result. A transaction that fails before its fee is taken changes nothing. */
  execute(transaction: WireTransaction): Execution {
    this.#svm.setSigverify(true);
    const result = this.#svm.sendVersionedTransaction(transaction.bytes);
    return result instanceof FailedTransactionMetadata
      ? readExecution(result.meta(), readError(result))
      : readExecution(result, null);
  }

  /** Executes and keeps nothing. Signatures are not checked. */
  simulate(transaction: WireTransaction): Simulation {
    this.#svm.setSigverify(false);
    const result = this.#svm.simulateVersionedTransaction(transaction.bytes);
    if (result instanceof FailedTransactionMetadata) {
      return { ...readExecution(result.meta(), readError(result)), accountsAfter: new Map() };
    }
    const accountsAfter = new Map<Address, Account>();
    for (const entry of result.postAccounts()) {
      const address = Address.from(entry.address);
      accountsAfter.set(address, this.#read(address, entry.account()));
    }
    return { ...readExecution(result.meta(), null), accountsAfter };
  }

  #read(address: Address, account: NativeAccount): Account {
    return {
      address,
      owner: Address.from(account.owner()),
      lamports: account.lamports(),
      data: account.data(),
      executable: account.executable(),
      slot: this.#slot,
    };
  }
}

function readExecution(meta: TransactionMetadata, error: TransactionErrorJson | null): Execution {
  const returned = meta.returnData();
  const data = returned.data();
  return {
    error,
    logs: meta.logs(),
    innerInstructions: meta.innerInstructions().map((list) =>
      list.map((inner) => {
        const instruction = inner.instruction();
        return {
          programIndex: instruction.programIdIndex(),
          accounts: instruction.accounts(),
          data: instruction.data(),
          stackHeight: inner.stackHeight(),
        };
      }),
    ),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    returnData: data.length === 0 ? undefined : { program: Address.from(returned.programId()), data },
  };
}

function readError(failure: FailedTransactionMetadata): TransactionErrorJson {
  const error = failure.err();
  if (typeof error === "number") return TRANSACTION_ERRORS[error] ?? `Unknown${error}`;
  if (error instanceof TransactionErrorInstructionError) {
    const cause = error.err();
    if (typeof cause === "number") return { InstructionError: [error.index, INSTRUCTION_ERRORS[cause]] };
    return { InstructionError: [error.index, "code" in cause ? { Custom: cause.code } : "BorshIoError"] };
  }
  if (error instanceof TransactionErrorDuplicateInstruction) return { DuplicateInstruction: error.index };
  if (error instanceof TransactionErrorInsufficientFundsForRent) {
    return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  }
  if (error instanceof TransactionErrorProgramExecutionTemporarilyRestricted) {
    return { ProgramExecutionTemporarilyRestricted: { account_index: error.accountIndex } };
  }
  throw new TypeError("LiteSVM reported an error of an unknown kind");
}
