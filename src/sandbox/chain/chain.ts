import { createHash } from "node:crypto";
import bs58 from "bs58";
import type { Address } from "../../primitives/address.ts";
import { equalBytes, textBytes, writeU64 } from "../../primitives/bytes.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Account } from "../../solana/account.ts";
import { decodeMint, isMint } from "../../solana/mint.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { decodeTokenAccount, isTokenAccount } from "../../solana/token-account.ts";
import { Bank, type Execution, type Simulation, SLOTS_PER_EPOCH } from "./bank.ts";
import { type AirdropOrder, createFaucet, type Faucet } from "./faucet.ts";
import { feeOf } from "./fees.ts";
import {
  type Block,
  type Commitment,
  encodeBlockhash,
  type LandedTransaction,
  Ledger,
  type TokenBalance,
} from "./ledger.ts";
import { loadAddresses } from "./lookup-table.ts";
import type { TransactionErrorJson } from "./transaction-error.ts";
import { isWritableIndex, type WireTransaction } from "./wire-transaction.ts";

/** An account to begin with. */
export interface GenesisAccount {
  readonly address: Address;
  readonly owner: Address;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

/** What the chain holds when it starts, beside the base programs and the native mints. */
interface Genesis {
  readonly programs: readonly { readonly id: Address; readonly bytes: Uint8Array }[];
  readonly accounts: readonly GenesisAccount[];
}

export interface ChainOptions {
  readonly genesis?: Genesis;
  /** Decides blockhashes, the genesis hash and the faucet's key. Default 1. */
  readonly seed?: number;
  /** Wall clock; the chain's own clock follows it. */
  readonly now: Now;
  /** Seconds since 1970 on the chain's clock at the start. Default: the wall clock. */
  readonly unixTimestamp?: number;
  /** Slot of the first block. */
  readonly startSlot?: number;
  readonly confirmedAfterSlots?: number;
  readonly finalizedAfterSlots?: number;
  readonly keepSlots?: number;
}

/** First slot by default: the first of epoch 1036. */
export const DEFAULT_START_SLOT = 447_552_000;
/** On mainnet many slots stayed empty, so heights are lower than slots. Kept apart here too, so that nobody mixes them up. */
const HEIGHT_BELOW_SLOT = 21_900_000;
const DEFAULT_CONFIRMED_AFTER_SLOTS = 2;
const DEFAULT_FINALIZED_AFTER_SLOTS = 32;
const DEFAULT_KEEP_SLOTS = 10_000;
/** Enough for creating lookup tables, which name a recent slot. */
const SLOT_HASHES = 150;

/** Failures for which the chain takes the fee although nothing was executed; LiteSVM does not. @see SIMD-0191 */
const FEE_ONLY_ERRORS: ReadonlySet<TransactionErrorJson> = new Set([
  "ProgramAccountNotFound",
  "InvalidProgramForExecution",
  "MaxLoadedAccountsDataSizeExceeded",
]);

/** A transaction either landed in the open block, or was dropped without a trace. */
type SendResult =
  | { readonly landed: LandedTransaction }
  | { readonly landed: undefined; readonly error: TransactionErrorJson };

interface SimulationOptions {
  /** False: any blockhash will do, and a message that has run may be tried again. */
  readonly checkBlockhash: boolean;
}

/** A new slot has begun, and others moved up. */
export interface SlotAdvance {
  /** Undefined when the network has turned to another branch: then nothing was finished, and `dropped` is gone. */
  readonly sealed: Block | undefined;
  /** Blocks that are no longer part of the chain, newest first. */
  readonly dropped: readonly Block[];
  readonly opened: Block;
  /** Blocks that have just reached the commitment. */
  readonly confirmed: readonly Block[];
  readonly finalized: readonly Block[];
}

/** Told what happens, at once and in order. */
export interface ChainListener {
  landed?(transaction: LandedTransaction): void;
  /** Accounts changed in the open block, as they are now; lamports 0 when gone. */
  changed?(accounts: readonly Account[]): void;
  advanced?(advance: SlotAdvance): void;
}

/**
 * A Solana chain in one process: one leader, and no forks but those asked for. Time passes only when `advanceSlot` is called.
 * Use it directly in tests; `startSandbox` puts it behind RPC and a timer.
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
    this.genesisHash = encodeBlockhash(sha256(textBytes(`tradewire sandbox ${seed}`)));
    const slot = options.startSlot ?? DEFAULT_START_SLOT;
    this.ledger = new Ledger(
      {
        confirmedAfterSlots: options.confirmedAfterSlots ?? DEFAULT_CONFIRMED_AFTER_SLOTS,
        finalizedAfterSlots: options.finalizedAfterSlots ?? DEFAULT_FINALIZED_AFTER_SLOTS,
        keepSlots: options.keepSlots ?? DEFAULT_KEEP_SLOTS,
      },
      this.#createBlock(slot, undefined),
    );
    this.#setBankClock();
    this.#faucet = createFaucet(seed);
    this.bank.write(this.#faucet.account);
    const accounts = options.genesis?.accounts ?? [];
    this.#genesisLamports = sum([this.#faucet.account, ...accounts].map(({ lamports }) => lamports));
    for (const account of accounts) this.bank.write({ ...account, executable: false });
    for (const { id, bytes } of options.genesis?.programs ?? []) this.bank.addProgram(id, bytes);
    this.advanceSlot();
  }

  /** Adds a listener; the answer takes it away again. */
  listen(listener: ChainListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whose lamports airdrops are; also the leader of every slot. */
  get faucetAddress(): Address {
    return this.#faucet.account.address;
  }

  /** Transactions landed since the start. */
  get transactionCount(): number {
    return this.#transactionCount;
  }

  /** Lamports of the faucet and of genesis, less the fees taken since. */
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

  /** Seals the open block and opens the next. */
  advanceSlot(): void {
    const sealed = this.ledger.tip;
    this.#open(sealed.slot + 1, sealed, []);
  }

  /**
   * The network turns to another branch: the newest `depth` blocks, the open one among them, never were, and what they
   * changed is as before. A confirmed block stays, whatever the depth. What was in the dropped blocks may be sent again.
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
    return dropped.length;
  }

  #open(slot: number, sealed: Block | undefined, dropped: readonly Block[]): void {
    const { ledger } = this;
    const confirmedBefore = ledger.slot("confirmed");
    const finalizedBefore = ledger.slot("finalized");
    const opened = this.#createBlock(slot, ledger.tip);
    ledger.open(opened);
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
    const landed = this.#record(wire, { accounts, loaded, before, after, execution });
    this.ledger.add(landed, messageHash);
    this.#transactionCount += 1;
    this.#feesTaken += landed.feeLamports;
    const changed = this.#keepChanges(accounts, before, after);
    for (const listener of this.#listeners) {
      listener.changed?.(changed);
      listener.landed?.(landed);
    }
    return { landed };
  }

  /** Executes a transaction on the open block and keeps nothing. Signatures are not looked at. */
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

  /** Writes accounts past the runtime: for tests and for worlds that grow. Listeners hear of it. */
  setAccounts(accounts: readonly GenesisAccount[]): void {
    const slot = BigInt(this.ledger.tip.slot);
    for (const account of accounts) {
      this.ledger.keepBefore(account.address, this.bank.account(account.address));
      this.bank.write({ ...account, executable: false });
    }
    const changed = accounts.map((account) => ({ ...account, executable: false, slot }));
    for (const listener of this.#listeners) listener.changed?.(changed);
  }

  /** The account at the end of the newest block of the commitment, or null. */
  account(address: Address, commitment: Commitment): Account | null {
    return this.accountAtEndOf(this.ledger.slot(commitment), address);
  }

  /** The account at the end of a block that is not older than the finalized one, or null. */
  accountAtEndOf(slot: number, address: Address): Account | null {
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
    if (this.ledger.lastValidBlockHeight(encodeBlockhash(wire.blockhash), "processed") === undefined) {
      return "BlockhashNotFound";
    }
    return this.ledger.hasMessage(messageHash) ? "AlreadyProcessed" : undefined;
  }

  /** Reads an account without its data where it is a program: those are large, and never change or hold tokens. */
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

  #record(
    wire: WireTransaction,
    run: {
      readonly accounts: readonly Address[];
      readonly loaded: { readonly writable: readonly Address[]; readonly readonly: readonly Address[] };
      readonly before: readonly (Account | null)[];
      readonly after: readonly (Account | null)[];
      readonly execution: Execution;
    },
  ): LandedTransaction {
    const preBalances = run.before.map((account) => account?.lamports ?? 0n);
    const postBalances = run.after.map((account) => account?.lamports ?? 0n);
    return {
      signature: bs58.encode(wire.signatures[0]!),
      slot: this.ledger.tip.slot,
      wire,
      accounts: run.accounts,
      writable: new Set(run.accounts.filter((_, index) => isWritableIndex(wire, index))),
      loaded: run.loaded,
      execution: run.execution,
      // Lamports are only ever moved between the accounts of a transaction; what is missing afterwards is the fee.
      feeLamports: sum(preBalances) - sum(postBalances),
      unitPriceMicroLamports: feeOf(wire).unitPriceMicroLamports,
      preBalances,
      postBalances,
      preTokenBalances: this.#tokenBalances(run.before),
      postTokenBalances: this.#tokenBalances(run.after),
    };
  }

  #tokenBalances(accounts: readonly (Account | null)[]): TokenBalance[] {
    const balances: TokenBalance[] = [];
    accounts.forEach((account, accountIndex) => {
      if (account === null || !isTokenAccount(account)) return;
      const { mint, owner, amount } = decodeTokenAccount(account);
      const mintAccount = this.bank.account(mint);
      if (mintAccount === null || !isMint(mintAccount)) return;
      const { decimals } = decodeMint(mintAccount);
      balances.push({ accountIndex, mint, owner, program: account.owner, amount, decimals });
    });
    return balances;
  }

  /** Notes what the changed accounts were, and answers what they are. */
  #keepChanges(
    accounts: readonly Address[],
    before: readonly (Account | null)[],
    after: readonly (Account | null)[],
  ): Account[] {
    const changed: Account[] = [];
    accounts.forEach((address, index) => {
      const was = before[index] ?? null;
      const is = after[index] ?? null;
      if (was === is || (was !== null && is !== null && isSameState(was, is))) return;
      if (was === null && is === null) return;
      this.ledger.keepBefore(address, was);
      changed.push(is ?? goneAccount(address, BigInt(this.ledger.tip.slot)));
    });
    return changed;
  }

  #createBlock(slot: number, parent: Block | undefined): Block {
    const previousBlockhash = parent?.blockhash ?? this.genesisHash;
    const seed = new Uint8Array(40);
    seed.set(bs58.decode(previousBlockhash));
    writeU64(seed, 32, BigInt(slot));
    return {
      slot,
      parentSlot: parent?.slot ?? slot,
      height: parent === undefined ? slot - HEIGHT_BELOW_SLOT : parent.height + 1,
      blockhash: encodeBlockhash(sha256(seed)),
      previousBlockhash,
      unixTimestamp: this.unixTimestamp(),
      openedAtMs: this.#now(),
      transactions: [],
      before: new Map(),
      messageHashes: [],
    };
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
      if (slot !== this.ledger.tip.slot) hashes.push({ slot: BigInt(slot), hash: blockhash });
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

const NO_DATA = new Uint8Array(0);

/** What subscribers see of an account that is no more: the system program's, empty, without lamports. */
export function goneAccount(address: Address, slot: bigint): Account {
  return { address, owner: SYSTEM_PROGRAM, lamports: 0n, data: NO_DATA, executable: false, slot };
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

function isSameState(a: Account, b: Account): boolean {
  return a.lamports === b.lamports && a.owner === b.owner && equalBytes(a.data, b.data);
}

function hashMessage({ message }: WireTransaction): string {
  return createHash("sha256").update(message).digest("base64");
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function sum(values: readonly bigint[]): bigint {
  let total = 0n;
  for (const value of values) total += value;
  return total;
}
