import { createHash } from "node:crypto";
import bs58 from "bs58";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Account } from "../../solana/account.ts";
import { FEATURE_PROGRAM, TRANSACTION_V1_FEATURE } from "../../solana/features.ts";
import { CLOCK_SYSVAR, RECENT_BLOCKHASHES_SYSVAR, SLOT_HASHES_SYSVAR } from "../../solana/programs.ts";
import { feeOf } from "../transaction/fees.ts";
import { loadAddresses } from "../transaction/lookup-table.ts";
import type { TransactionErrorJson } from "../transaction/transaction-error.ts";
import { isWritableIndex, type WireTransaction } from "../transaction/wire-transaction.ts";
import { Bank, type Simulation, SLOTS_PER_EPOCH } from "./bank.ts";
import { createBlock, genesisHashOf } from "./block.ts";
import { type AirdropOrder, createFaucet, type Faucet } from "./faucet.ts";
import { type ChainOptions, DEFAULT_START_SLOT, type GenesisAccount } from "./genesis.ts";
import { goneAccount } from "./gone-account.ts";
import { changesOf, landedTransaction, sum } from "./landed.ts";
import { type Block, type Commitment, encodeBlockhash, type LandedTransaction, Ledger } from "./ledger.ts";
import type { ChainListener, SlotAdvance } from "./listener.ts";
import { recentBlockhashes } from "./recent-blockhashes.ts";

const NO_DATA = new Uint8Array(0);
const DEFAULT_CONFIRMED_AFTER_SLOTS = 2;
const DEFAULT_FINALIZED_AFTER_SLOTS = 32;
const DEFAULT_KEEP_SLOTS = 10_000;
/** Enough for creating lookup tables, which name a recent slot. */
const SLOT_HASHES = 150;

/** Accounts that every block changes. */
const SLOT_SYSVARS = [CLOCK_SYSVAR, SLOT_HASHES_SYSVAR];

/** Failures for which the chain takes the fee although nothing was executed; LiteSVM does not. @see SIMD-0191 */
const FEE_ONLY_ERRORS: ReadonlySet<TransactionErrorJson> = new Set([
  "ProgramAccountNotFound",
  "InvalidProgramForExecution",
  "MaxLoadedAccountsDataSizeExceeded",
]);

/** The feature of version 1 transactions, active since slot 0. */
const ACTIVE_TRANSACTION_V1: GenesisAccount = {
  address: TRANSACTION_V1_FEATURE,
  owner: FEATURE_PROGRAM,
  lamports: 953_520n,
  data: Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0),
};

/** A transaction either landed in the open block or was dropped without a trace. */
type SendResult =
  | { readonly landed: LandedTransaction }
  | { readonly landed: undefined; readonly error: TransactionErrorJson };

interface SimulationOptions {
  /** False: any blockhash is accepted, and so is a message that has already run. */
  readonly checkBlockhash: boolean;
}

/**
 * A Solana chain in one process: one leader, and forks only on request. Time passes only when `advanceSlot` is called. Use
 * it directly in tests; `startSandbox` puts it behind RPC and a timer.
 */
export class Chain {
  readonly bank = new Bank();
  readonly ledger: Ledger;
  readonly genesisHash: string;
  readonly #now: Now;
  readonly #faucet: Faucet;
  readonly #listeners = new Set<ChainListener>();
  readonly #executables = new Set<Address>();
  #clockOffsetSeconds: number;
  #transactionCount = 0;
  #feesTaken = 0n;
  readonly #genesisLamports: bigint;

  constructor(options: ChainOptions) {
    const seed = options.seed ?? 1;
    this.#now = options.now;
    this.#clockOffsetSeconds =
      options.unixTimestamp === undefined ? 0 : options.unixTimestamp - Math.floor(options.now() / 1000);
    this.genesisHash = genesisHashOf(seed);
    const slot = options.startSlot ?? DEFAULT_START_SLOT;
    this.ledger = new Ledger(
      {
        confirmedAfterSlots: options.confirmedAfterSlots ?? DEFAULT_CONFIRMED_AFTER_SLOTS,
        finalizedAfterSlots: options.finalizedAfterSlots ?? DEFAULT_FINALIZED_AFTER_SLOTS,
        keepSlots: options.keepSlots ?? DEFAULT_KEEP_SLOTS,
      },
      this.#nextBlock(slot, undefined),
    );
    this.#setBankClock();
    this.#faucet = createFaucet(seed);
    this.bank.write(this.#faucet.account);
    const accounts = [ACTIVE_TRANSACTION_V1, ...(options.genesis?.accounts ?? [])];
    this.#genesisLamports = sum([this.#faucet.account, ...accounts].map(({ lamports }) => lamports));
    for (const account of accounts) this.bank.write({ ...account, executable: false });
    for (const { id, bytes } of options.genesis?.programs ?? []) this.bank.addProgram(id, bytes, BigInt(slot));
    this.advanceSlot();
  }

  /** Adds a listener. @returns a function that removes it */
  listen(listener: ChainListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The account that pays airdrops; also the leader of every slot. */
  get faucetAddress(): Address {
    return this.#faucet.account.address;
  }

  /** Transactions landed since the start. */
  get transactionCount(): number {
    return this.#transactionCount;
  }

  /** Lamports of the faucet and of genesis, minus the fees taken since. */
  get totalLamports(): bigint {
    return this.#genesisLamports - this.#feesTaken;
  }

  /** Seconds since 1970 on the chain's clock. */
  unixTimestamp(): number {
    return Math.floor(this.#now() / 1000) + this.#clockOffsetSeconds;
  }

  /** Moves the chain's clock by this many seconds, from the next slot on. */
  warpClock(seconds: number): void {
    this.#clockOffsetSeconds += seconds;
  }

  /** Seals the open block and opens the next, after `skipped` slots whose leaders were absent. */
  advanceSlot(skipped = 0): void {
    const sealed = this.ledger.tip;
    this.#open(sealed.slot + 1 + skipped, sealed, []);
  }

  /**
   * Switches to another branch: drops the newest `depth` blocks, the open one included, and reverts what they changed. A
   * confirmed block stays, whatever the depth. Transactions of dropped blocks may be sent again. The new branch begins with a
   * sealed block: a node changes to a branch only after it has replayed it, so that `processed` never goes back.
   *
   * @returns how many blocks were dropped
   */
  fork(depth: number): number {
    const slot = this.ledger.tip.slot + 1;
    const dropped = this.ledger.drop(depth);
    const restored = new Map<Address, Account | null>();
    for (const { before, transactions } of dropped) {
      for (const [address, account] of before) restored.set(address, account);
      this.#transactionCount -= transactions.length;
      this.#feesTaken -= sum(transactions.map(({ feeLamports }) => feeLamports));
    }
    for (const [address, account] of restored) {
      if (account === null) this.bank.remove(address);
      else this.bank.write(account);
    }
    this.#open(slot, undefined, dropped);
    const openSlot = BigInt(slot);
    const changed = [...restored].map(([address, account]) => account ?? goneAccount(address, openSlot));
    if (changed.length > 0) for (const listener of this.#listeners) listener.changed?.(changed);
    this.advanceSlot();
    return dropped.length;
  }

  #open(slot: number, sealed: Block | undefined, dropped: readonly Block[]): void {
    const { ledger } = this;
    const confirmedBefore = ledger.slot("confirmed");
    const finalizedBefore = ledger.slot("finalized");
    const opened = this.#nextBlock(slot, ledger.tip);
    ledger.open(opened);
    for (const sysvar of SLOT_SYSVARS) ledger.keepBefore(sysvar, this.bank.account(sysvar));
    this.#setBankClock();
    this.#setSlotHashes();
    const advance: SlotAdvance = {
      sealed,
      dropped,
      opened,
      confirmed: this.#blocksBetween(confirmedBefore, ledger.slot("confirmed")),
      finalized: this.#blocksBetween(finalizedBefore, ledger.slot("finalized")),
    };
    for (const listener of this.#listeners) listener.advanced?.(advance);
  }

  /** Executes a transaction into the open block, if its blockhash, its message and its fee payer are good. */
  send(wire: WireTransaction): SendResult {
    const messageHash = hashMessage(wire);
    const refused = this.#refusal(wire, messageHash);
    if (refused !== undefined) return { landed: undefined, error: refused };
    const loaded = loadAddresses(wire.lookups, (table) => this.bank.account(table), this.ledger.tip.slot);
    if ("error" in loaded) return { landed: undefined, error: loaded.error };
    const accounts = [...wire.staticAccounts, ...loaded.writable, ...loaded.readonly];
    const programs = new Set(wire.instructions.map(({ programIndex }) => accounts[programIndex]!));
    const before = accounts.map((address) => this.#glance(address, programs));

    const execution = this.bank.execute(wire);
    const payer = accounts[0]!;
    if (execution.error !== null && this.bank.lamports(payer) === (before[0]?.lamports ?? 0n)) {
      if (!FEE_ONLY_ERRORS.has(execution.error)) return { landed: undefined, error: execution.error };
      this.#takeFee(payer, feeOf(wire).lamports);
    }
    const after = accounts.map((address, index) =>
      isWritableIndex(wire, index) ? this.#glance(address, programs) : before[index]!,
    );
    const { slot } = this.ledger.tip;
    const landed = landedTransaction(wire, { slot, accounts, loaded, before, after, execution }, (address) =>
      this.bank.account(address),
    );
    this.ledger.add(landed, messageHash);
    this.#transactionCount += 1;
    this.#feesTaken += landed.feeLamports;
    const changed = changesOf({ accounts, before, after }).map(({ address, was, is }) => {
      this.ledger.keepBefore(address, was);
      return is ?? goneAccount(address, BigInt(slot));
    });
    for (const listener of this.#listeners) {
      listener.changed?.(changed);
      listener.landed?.(landed);
    }
    return { landed };
  }

  /** Executes a transaction on the open block and keeps nothing. Signatures are not checked. */
  simulate(wire: WireTransaction, options: SimulationOptions): Simulation {
    const refused = options.checkBlockhash ? this.#refusal(wire, hashMessage(wire)) : undefined;
    if (refused !== undefined) return refusedSimulation(refused);
    const loaded = loadAddresses(wire.lookups, (table) => this.bank.account(table), this.ledger.tip.slot);
    if ("error" in loaded) return refusedSimulation(loaded.error);
    return this.bank.simulate(wire);
  }

  /** Sends lamports from the faucet, as a transaction like any other. */
  airdrop(order: AirdropOrder): SendResult {
    return this.send(this.#faucet.transfer(order, bs58.decode(this.ledger.latestBlockhash("processed").blockhash)));
  }

  /** Writes accounts past the runtime: for tests and for worlds that grow. Listeners are notified. */
  setAccounts(accounts: readonly GenesisAccount[]): void {
    const slot = BigInt(this.ledger.tip.slot);
    for (const account of accounts) {
      this.ledger.keepBefore(account.address, this.bank.account(account.address));
      this.bank.write({ ...account, executable: false });
    }
    const changed = accounts.map((account) => ({ ...account, executable: false, slot }));
    for (const listener of this.#listeners) listener.changed?.(changed);
  }

  /** Replaces a program by another build, as an upgrade in the open block does. Listeners are notified. */
  setProgram(id: Address, code: Uint8Array): void {
    const slot = BigInt(this.ledger.tip.slot);
    const pointer = this.bank.account(id);
    const before = pointer === null ? null : this.bank.programCode(id);
    const codeAddress = this.bank.addProgram(id, code, slot);
    if (pointer === null) this.ledger.keepBefore(id, null);
    this.ledger.keepBefore(codeAddress, before);
    const addresses = pointer === null ? [id, codeAddress] : [codeAddress];
    const changed = addresses.map((address) => this.bank.account(address)!);
    for (const listener of this.#listeners) listener.changed?.(changed);
  }

  /** The account at the end of the newest block of the commitment, or null. `processed` is the newest sealed block. */
  account(address: Address, commitment: Commitment): Account | null {
    return this.accountAtEndOf(this.ledger.slot(commitment), address);
  }

  /** The account at the end of a block that is not older than the finalized one, or null. */
  accountAtEndOf(slot: number, address: Address): Account | null {
    if (address === RECENT_BLOCKHASHES_SYSVAR) return recentBlockhashes(this.ledger, slot);
    const past = this.ledger.accountAtEndOf(slot, address);
    return past === undefined ? this.bank.account(address) : past;
  }

  /** The accounts of a program at the end of the newest block of the commitment. */
  programAccounts(program: Address, commitment: Commitment): Account[] {
    const past = this.ledger.changedSince(this.ledger.slot(commitment));
    const accounts = this.bank.programAccounts(program).filter(({ address }) => !past.has(address));
    for (const account of past.values()) if (account?.owner === program) accounts.push(account);
    return accounts;
  }

  #refusal(wire: WireTransaction, messageHash: string): TransactionErrorJson | undefined {
    // Dropped where signatures are verified, long after a node has accepted it.
    if (wire.version === 1 && !this.#isActive(TRANSACTION_V1_FEATURE)) return "UnsupportedVersion";
    if (!this.ledger.isBlockhashOpen(encodeBlockhash(wire.blockhash))) {
      return "BlockhashNotFound";
    }
    return this.ledger.hasMessage(messageHash) ? "AlreadyProcessed" : undefined;
  }

  #isActive(feature: Address): boolean {
    const account = this.bank.account(feature);
    return account?.owner === FEATURE_PROGRAM && account.data[0] === 1;
  }

  /** Reads an account, without its data if it is a program: programs are large and neither change nor hold tokens. */
  #glance(address: Address, programs: ReadonlySet<Address>): Account | null {
    if (!programs.has(address) && !this.#executables.has(address)) {
      const account = this.bank.account(address);
      if (account?.executable) this.#executables.add(address);
      return account;
    }
    const lamports = this.bank.lamports(address);
    return { address, owner: address, lamports, data: NO_DATA, executable: true, slot: 0n };
  }

  #takeFee(payer: Address, feeLamports: bigint): void {
    const account = this.bank.account(payer)!;
    this.bank.write({ ...account, lamports: account.lamports - feeLamports });
  }

  #nextBlock(slot: number, parent: Block | undefined): Block {
    return createBlock({
      slot,
      parent,
      genesisHash: this.genesisHash,
      unixTimestamp: this.unixTimestamp(),
      openedAtMs: this.#now(),
    });
  }

  #setBankClock(): void {
    const { slot, unixTimestamp } = this.ledger.tip;
    this.bank.setClock({
      slot: BigInt(slot),
      epoch: BigInt(Math.floor(slot / SLOTS_PER_EPOCH)),
      unixTimestamp: BigInt(unixTimestamp),
    });
  }

  #setSlotHashes(): void {
    const hashes: { slot: bigint; hash: string }[] = [];
    for (const { slot, blockhash } of this.ledger.backwards("processed")) {
      hashes.push({ slot: BigInt(slot), hash: blockhash });
      if (hashes.length === SLOT_HASHES) break;
    }
    this.bank.setSlotHashes(hashes);
  }

  #blocksBetween(after: number, upTo: number): Block[] {
    const blocks: Block[] = [];
    for (let slot = after + 1; slot <= upTo; slot++) {
      const block = this.ledger.blockAt(slot);
      if (block !== undefined) blocks.push(block);
    }
    return blocks;
  }
}

function refusedSimulation(error: TransactionErrorJson): Simulation {
  return {
    error,
    logs: [],
    innerInstructions: [],
    unitsConsumed: 0,
    returnData: undefined,
    accountsAfter: new Map(),
  };
}

function hashMessage({ message }: WireTransaction): string {
  return createHash("sha256").update(message).digest("base64");
}
