import {
  EpochSchedule,
  FailedTransactionMetadata,
  FeatureSet,
  LiteSvm,
  Account as NativeAccount,
  Clock as NativeClock,
} from "litesvm/dist/internal.js";
import { Address } from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import type { Account, ChainClock } from "../../solana/account.ts";
import type { Instruction } from "../../solana/instruction.ts";
import { compileMessage, SIGNATURE_SIZE } from "../../solana/message.ts";
import { LEGACY_LOADER, SYSTEM_PROGRAM } from "../../solana/programs.ts";

const SLOTS_PER_EPOCH = 432_000n;
const NO_RENT_EPOCH = (1n << 64n) - 1n;
const NO_DATA = new Uint8Array(0);
const AT_FIRST: ChainClock = { slot: 0n, epoch: 0n, unixTimestamp: 0n };
const BLOCKHASH = new Uint8Array(32).fill(1);
/** Enough for the last lines of a failure. */
const LOG_BYTES = 20_000n;

/** A program as the chain runs it. */
export interface LoadedProgram {
  readonly id: Address;
  readonly slot: bigint;
  readonly isUpgradeable: boolean;
  readonly code: Uint8Array;
}

/** What an execution did. */
export interface ShadowRun {
  /** Undefined if it succeeded. */
  readonly failure: string | undefined;
  readonly units: number;
  /** Accounts as it would leave them; empty if it failed. */
  readonly after: ReadonlyMap<Address, Account>;
}

/** A runtime with the cluster's programs, features, clock and rent. Accounts are put in for a check, and taken out after it. */
export class ShadowSvm {
  readonly #svm: LiteSvm;
  readonly #put = new Set<Address>();
  #clock = AT_FIRST;

  /** @throws Error if a program cannot be loaded */
  constructor(programs: Iterable<LoadedProgram>, features: readonly Uint8Array[] | undefined) {
    const svm = new LiteSvm();
    if (features !== undefined) {
      const set = new FeatureSet();
      for (const id of set.getActiveFeatures()) set.deactivate(id);
      for (const id of features) set.activate(id, 0n);
      svm.setFeatureSet(set);
      svm.setBuiltins();
    }
    svm.setSigverify(false);
    svm.setBlockhashCheck(false);
    svm.setTransactionHistory(0n);
    svm.setLogBytesLimit(LOG_BYTES);
    svm.setEpochSchedule(new EpochSchedule(SLOTS_PER_EPOCH, SLOTS_PER_EPOCH, false, 0n, 0n));
    this.#svm = svm;
    for (const program of programs) this.load(program);
  }

  /**
   * Adds a program, as if it had been there from the first slot: the runtime knows it from the slot of its clock on, and the next
   * check may come from a worker that sees less of the chain.
   *
   * @throws Error if it cannot be loaded
   */
  load({ id, isUpgradeable, code }: LoadedProgram): void {
    this.#applyClock(AT_FIRST);
    if (isUpgradeable) this.#svm.addProgram(id.bytes, code);
    else this.#svm.addProgramWithLoader(id.bytes, code, LEGACY_LOADER.bytes);
    this.#applyClock(this.#clock);
  }

  /** Every feature that the runtime knows. */
  static features(): readonly Uint8Array[] {
    return FeatureSet.allEnabled()
      .getActiveFeatures()
      .map((id) => Uint8Array.from(id));
  }

  setClock(clock: ChainClock): void {
    this.#clock = clock;
    this.#applyClock(clock);
  }

  #applyClock({ slot, epoch, unixTimestamp }: ChainClock): void {
    this.#svm.setClock(new NativeClock(slot, unixTimestamp, epoch, epoch + 1n, unixTimestamp));
  }

  /** Sets the lamports that accounts must hold per byte. */
  setRent(lamportsPerByte: bigint): void {
    const rent = this.#svm.getRent();
    rent.lamportsPerByteYear = lamportsPerByte;
    this.#svm.setRent(rent);
  }

  /** Lamports an account of `space` data bytes must hold. */
  rentExemption(space: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(space));
  }

  /** The account, or null if there is none. */
  get(address: Address): Account | null {
    const account = this.#svm.getAccount(address.bytes);
    return account === null || account.lamports() === 0n ? null : readNative(address, account);
  }

  put(account: Omit<Account, "slot">): void {
    this.#put.add(account.address);
    const { address, lamports, data, owner, executable } = account;
    this.#svm.setAccount(address.bytes, new NativeAccount(lamports, data, owner.bytes, executable, NO_RENT_EPOCH));
  }

  /** Takes out every account that was put in, or that `keep` created. */
  clear(): void {
    const none = new NativeAccount(0n, NO_DATA, SYSTEM_PROGRAM.bytes, false, NO_RENT_EPOCH);
    for (const address of this.#put) this.#svm.setAccount(address.bytes, none);
    this.#put.clear();
  }

  /** Executes and keeps the result until `clear`. @returns the failure, if it failed */
  keep(payer: Address, instructions: readonly Instruction[]): string | undefined {
    for (const { accounts } of instructions)
      for (const { address, writable } of accounts) if (writable) this.#put.add(address);
    const result = this.#svm.sendVersionedTransaction(wireOf(payer, instructions));
    return result instanceof FailedTransactionMetadata ? failureOf(result) : undefined;
  }

  /** Executes and keeps nothing. */
  simulate(payer: Address, instructions: readonly Instruction[]): ShadowRun {
    const result = this.#svm.simulateVersionedTransaction(wireOf(payer, instructions));
    if (result instanceof FailedTransactionMetadata) {
      return { failure: failureOf(result), units: Number(result.meta().computeUnitsConsumed()), after: new Map() };
    }
    const after = new Map<Address, Account>();
    for (const entry of result.postAccounts()) {
      const address = Address.from(entry.address);
      const account = entry.account();
      if (account.lamports() > 0n) after.set(address, readNative(address, account));
    }
    return { failure: undefined, units: Number(result.meta().computeUnitsConsumed()), after };
  }
}

function readNative(address: Address, account: NativeAccount): Account {
  return {
    address,
    owner: Address.from(account.owner()),
    lamports: account.lamports(),
    data: account.data(),
    executable: account.executable(),
    slot: 0n,
  };
}

function wireOf(payer: Address, instructions: readonly Instruction[]): Uint8Array {
  const message = compileMessage({ payer, instructions, blockhash: BLOCKHASH, lookupTables: [] });
  const signers = message[1]!;
  return concatBytes(Uint8Array.of(signers), new Uint8Array(SIGNATURE_SIZE * signers), message);
}

/** The program's own words, or the runtime's name of the failure. */
function failureOf(failure: FailedTransactionMetadata): string {
  const logs = failure.meta().logs();
  const said = logs.findLast(
    (line) => /Error|error|failed|insufficient|exceeded/i.test(line) && !/consumed/.test(line),
  );
  const custom = logs.findLast((line) => /failed: /.test(line))?.replace(/^.*failed: /, "");
  const words = [said?.replace(/^Program log: /, ""), custom].filter((text) => text !== undefined);
  return words.length === 0 ? String(failure.err()) : [...new Set(words)].join("; ").slice(0, 300);
}
