import type { Address } from "../primitives/address.ts";
import { ByteWriter } from "../primitives/byte-writer.ts";
import type { Instruction } from "./instruction.ts";

/** Bytes of one signature. */
export const SIGNATURE_SIZE = 64;

/** The largest legacy or v0 wire transaction, in bytes. */
export const MAX_TRANSACTION_SIZE = 1232;

/** The largest version 1 wire transaction, in bytes. @see SIMD-0385 */
export const MAX_TRANSACTION_SIZE_V1 = 4096;

/** An address lookup table as it stands on the chain: entry i is reached by index i. */
export interface LookupTable {
  readonly address: Address;
  readonly entries: readonly Address[];
}

/** What a message is compiled from. `payer` signs and pays; it is the only signer a caller of this service has. */
export interface MessagePlan {
  readonly payer: Address;
  readonly instructions: readonly Instruction[];
  /** 32 bytes. */
  readonly blockhash: Uint8Array;
  readonly lookupTables: readonly LookupTable[];
}

const SIGNER = 2;
const WRITABLE = 1;
const INVOKED = 4;
const V0_PREFIX = 0x80;
const V1_PREFIX = 0x81;
const V1_MAX_ENTRIES = 64;
/** Priority fee (two bits), compute-unit limit and loaded-bytes limit are given. */
const V1_BUDGET_MASK = 0b1111;

/**
 * Compiles a version 0 message. Accounts come in the order the format demands (writable signers, read-only signers,
 * writable, read-only), within a group in order of first use, so the same plan gives the same bytes. Accounts found in a
 * lookup table go through it unless they sign or are invoked.
 *
 * @throws RangeError for more than 256 accounts
 * @see https://solana.com/docs/core/transactions/versions
 */
export function compileMessage(plan: MessagePlan): Uint8Array {
  const rights = rightsOf(plan);
  const lookups = plan.lookupTables.length === 0 ? [] : takeLookups(rights, plan.lookupTables);
  const groups = groupsOf(rights);
  const index = new Map<Address, number>();
  for (const group of groups) for (const address of group) index.set(address, index.size);
  const statics = index.size;
  for (const lookup of lookups) for (const entry of lookup.writable) index.set(entry.address, index.size);
  for (const lookup of lookups) for (const entry of lookup.readonly) index.set(entry.address, index.size);
  if (index.size > 256) throw new RangeError("a message holds at most 256 accounts");

  const out = new Uint8Array(64 + statics * 32 + instructionBytes(plan) + lookups.length * 40 + index.size);
  out[0] = V0_PREFIX;
  out[1] = groups[0].length + groups[1].length;
  out[2] = groups[1].length;
  out[3] = groups[3].length;
  let at = writeLength(out, 4, statics);
  for (const group of groups) {
    for (const address of group) {
      out.set(address.bytes, at);
      at += 32;
    }
  }
  out.set(plan.blockhash, at);
  at = writeLength(out, at + 32, plan.instructions.length);
  for (const { program, accounts, data } of plan.instructions) {
    out[at++] = index.get(program)!;
    at = writeLength(out, at, accounts.length);
    for (const { address } of accounts) out[at++] = index.get(address)!;
    at = writeLength(out, at, data.length);
    out.set(data, at);
    at += data.length;
  }
  at = writeLength(out, at, lookups.length);
  for (const { table, writable, readonly } of lookups) {
    out.set(table.bytes, at);
    at = writeLength(out, at + 32, writable.length);
    for (const entry of writable) out[at++] = entry.index;
    at = writeLength(out, at, readonly.length);
    for (const entry of readonly) out[at++] = entry.index;
  }
  return out.subarray(0, at);
}

/** What a version 1 message says of its budget in place of compute-budget instructions. */
export interface MessageBudget {
  /** Paid for priority as a whole. */
  readonly priorityFeeLamports: bigint;
  readonly computeUnitLimit: number;
  readonly loadedBytesLimit: number;
}

/**
 * Compiles a version 1 message: no lookup tables, at most 64 addresses and 64 instructions, the budget in its head.
 *
 * @throws RangeError for more than that
 * @see SIMD-0385
 */
export function compileMessageV1(plan: Omit<MessagePlan, "lookupTables">, budget: MessageBudget): Uint8Array {
  const groups = groupsOf(rightsOf(plan));
  const index = new Map<Address, number>();
  for (const group of groups) for (const address of group) index.set(address, index.size);
  if (index.size > V1_MAX_ENTRIES || plan.instructions.length > V1_MAX_ENTRIES) {
    throw new RangeError("a version 1 message holds at most 64 accounts and 64 instructions");
  }
  const out = new ByteWriter()
    .u8(V1_PREFIX)
    .u8(groups[0].length + groups[1].length)
    .u8(groups[1].length)
    .u8(groups[3].length)
    .u32(V1_BUDGET_MASK)
    .bytes(plan.blockhash)
    .u8(plan.instructions.length)
    .u8(index.size);
  for (const group of groups) for (const address of group) out.bytes(address.bytes);
  out.u64(budget.priorityFeeLamports).u32(budget.computeUnitLimit).u32(budget.loadedBytesLimit);
  for (const { program, accounts, data } of plan.instructions)
    out.u8(index.get(program)!).u8(accounts.length).u16(data.length);
  for (const { accounts, data } of plan.instructions) {
    for (const { address } of accounts) out.u8(index.get(address)!);
    out.bytes(data);
  }
  return out.finish().slice();
}

/** Where message and signature lie in a wire transaction with one signature: version 1 puts the message first. */
export function wireLayout(transaction: Uint8Array): { readonly message: Uint8Array; readonly signatureAt: number } {
  if (transaction[0] === V1_PREFIX) {
    const signatureAt = Math.max(0, transaction.length - SIGNATURE_SIZE);
    return { message: transaction.subarray(0, signatureAt), signatureAt };
  }
  return { message: transaction.subarray(1 + SIGNATURE_SIZE), signatureAt: 1 };
}

/** The wire transaction of a message with one empty signature slot. */
export function unsignedTransaction(message: Uint8Array): Uint8Array {
  if (message[0] === V1_PREFIX) {
    const out = new Uint8Array(message.length + SIGNATURE_SIZE);
    out.set(message);
    return out;
  }
  const out = new Uint8Array(1 + SIGNATURE_SIZE + message.length);
  out[0] = 1;
  out.set(message, 1 + SIGNATURE_SIZE);
  return out;
}

/** What each account of a plan is asked to be able to, in order of first use; the payer signs and is written to. */
function rightsOf({ payer, instructions }: Pick<MessagePlan, "payer" | "instructions">): Map<Address, number> {
  const rights = new Map<Address, number>([[payer, SIGNER | WRITABLE]]);
  for (const instruction of instructions) {
    for (const { address, signer, writable } of instruction.accounts) {
      rights.set(address, (rights.get(address) ?? 0) | (signer ? SIGNER : 0) | (writable ? WRITABLE : 0));
    }
  }
  for (const { program } of instructions) rights.set(program, (rights.get(program) ?? 0) | INVOKED);
  return rights;
}

/** Accounts by group: writable signers, read-only signers, writable, read-only. */
function groupsOf(rights: ReadonlyMap<Address, number>): [Address[], Address[], Address[], Address[]] {
  const groups: [Address[], Address[], Address[], Address[]] = [[], [], [], []];
  for (const [address, right] of rights) {
    const writable = (right & WRITABLE) !== 0;
    groups[(right & SIGNER) !== 0 ? (writable ? 0 : 1) : writable ? 2 : 3].push(address);
  }
  return groups;
}

/** Room the instructions of a plan take at most. */
function instructionBytes({ instructions }: MessagePlan): number {
  let bytes = 0;
  for (const { accounts, data } of instructions) bytes += accounts.length + data.length + 7;
  return bytes;
}

interface Lookup {
  readonly table: Address;
  readonly writable: { readonly address: Address; readonly index: number }[];
  readonly readonly: { readonly address: Address; readonly index: number }[];
}

/** Moves what a table can supply out of `rights`; each account goes to the first table that has it. */
function takeLookups(rights: Map<Address, number>, tables: readonly LookupTable[]): Lookup[] {
  const lookups: Lookup[] = [];
  for (const table of tables) {
    const lookup: Lookup = { table: table.address, writable: [], readonly: [] };
    for (const [index, address] of table.entries.entries()) {
      const right = rights.get(address);
      if (right === undefined || (right & (SIGNER | INVOKED)) !== 0) continue;
      ((right & WRITABLE) !== 0 ? lookup.writable : lookup.readonly).push({ address, index });
      rights.delete(address);
    }
    if (lookup.writable.length + lookup.readonly.length > 0) lookups.push(lookup);
  }
  return lookups;
}

/** Writes a compact-u16 length and returns where the next byte goes. */
function writeLength(out: Uint8Array, at: number, length: number): number {
  let rest = length;
  while (rest >= 0x80) {
    out[at++] = (rest & 0x7f) | 0x80;
    rest >>= 7;
  }
  out[at++] = rest;
  return at;
}
