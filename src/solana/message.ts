import type { Address } from "../primitives/address.ts";
import { pooledBytes, writeU32, writeU64 } from "../primitives/bytes.ts";
import { dataLengthOf, type Instruction, writeData } from "./instruction.ts";
import { AccountTable } from "./message/account-table.ts";
import { lengthSize } from "./message/compact-length.ts";
import { messageTemplates } from "./message/message-template.ts";

/** Bytes of one signature. */
export const SIGNATURE_SIZE = 64;

/** The largest legacy or v0 wire transaction, in bytes. */
export const MAX_TRANSACTION_SIZE = 1232;

/** The largest version 1 wire transaction, in bytes. @see SIMD-0385 */
export const MAX_TRANSACTION_SIZE_V1 = 4096;

/**
 * The most accounts of a legacy or v0 transaction, looked-up ones included; tables themselves do not count.
 *
 * @see agave `validate_account_locks`: 64 until the feature `increase_tx_account_lock_limit` is active
 */
export const MAX_TRANSACTION_ACCOUNTS = 64;

/** An address lookup table as it is on the chain: index i refers to entry i. */
export interface LookupTable {
  readonly address: Address;
  readonly entries: readonly Address[];
}

/** The parts of a message. `payer` signs and pays; it is the only signer that the service supports. */
export interface MessagePlan {
  readonly payer: Address;
  readonly instructions: readonly Instruction[];
  /** 32 bytes. */
  readonly blockhash: Uint8Array;
  readonly lookupTables: readonly LookupTable[];
  /** The same for messages that are likely alike, such as those of one market: then the layout of an earlier one is used again. */
  readonly kind?: Address | undefined;
  /** Which messages of that kind it is likely most alike: by `messageForm`. */
  readonly form?: number | undefined;
}

/** Serves every compilation; none waits. */
const table = new AccountTable();

/** What precedes a version 0 message in its transaction: the number of signatures and one of them. Bytes. */
const ROOM = 1 + SIGNATURE_SIZE;
/** The version 0 message compiled last, while nothing is in the room before it. */
let roomy: Uint8Array | undefined;

const V0_PREFIX = 0x80;
const V1_PREFIX = 0x81;
const V1_MAX_ENTRIES = 64;
/** Priority fee (two bits), compute-unit limit and loaded-bytes limit are present. */
const V1_BUDGET_MASK = 0b1111;
/** A version 1 message without its addresses and instructions; and an instruction of it without its accounts and data. */
const V1_FIXED_BYTES = 58;
const V1_INSTRUCTION_BYTES = 4;

/**
 * Compiles a version 0 message. Accounts are in the order of the format (writable signers, read-only signers,
 * writable, read-only), within a group in order of first use, so the same plan gives the same bytes. Accounts found in a
 * lookup table go through it unless they sign or are invoked.
 *
 * @throws RangeError for more than 256 accounts
 * @see https://solana.com/docs/core/transactions/versions
 */
export function compileMessage(plan: MessagePlan): Uint8Array {
  return compileWithin(plan, Number.POSITIVE_INFINITY) as Uint8Array;
}

/**
 * The same for a message of at most so many bytes.
 *
 * @returns the size of a larger one, which is not written
 */
export function compileWithin(plan: MessagePlan, mostBytes: number): Uint8Array | number {
  const { kind } = plan;
  const isAlike = kind !== undefined && plan.lookupTables.length === 0;
  let message: Uint8Array | number | undefined = isAlike ? messageTemplates.fill(kind, plan, ROOM) : undefined;
  if (message === undefined) {
    message = layOut(plan, mostBytes);
    if (typeof message === "number") return message;
    if (isAlike) messageTemplates.learn(kind, plan, message, table);
  }
  roomy = message;
  return message;
}

function layOut(plan: MessagePlan, mostBytes: number): Uint8Array | number {
  const { payer, instructions, blockhash, lookupTables } = plan;
  table.fill(payer, instructions);
  const lookups = lookupTables.length === 0 ? NO_LOOKUPS : takeLookups(lookupTables);
  const statics = table.arrange();
  let accountCount = statics;
  for (const { writable } of lookups) for (const { place } of writable) table.number(place, accountCount++);
  for (const { readonly } of lookups) for (const { place } of readonly) table.number(place, accountCount++);
  if (accountCount > 256) throw new RangeError("a message holds at most 256 accounts");

  const { counts } = table;
  const size = messageSize(instructions, statics, lookups);
  if (size > mostBytes) return size;
  const out = pooledBytes(size, ROOM);
  out[0] = V0_PREFIX;
  out[1] = counts[0] + counts[1];
  out[2] = counts[1];
  out[3] = counts[3];
  let at = table.writeStatics(out, writeLength(out, 4, statics));
  out.set(blockhash, at);
  at = writeLength(out, at + 32, instructions.length);
  let next = 0;
  for (let index = 0; index < instructions.length; index++) {
    const count = table.namedBy(index);
    out[at++] = table.indexOfProgram(index);
    at = writeLength(out, at, count);
    for (let end = next + count; next < end; next++) out[at++] = table.indexOfUse(next);
    const instruction = instructions[index]!;
    at = writeData(instruction, out, writeLength(out, at, dataLengthOf(instruction)));
  }
  at = writeLength(out, at, lookups.length);
  for (const { address, writable, readonly } of lookups) {
    out.set(address.bytes, at);
    at = writeLength(out, at + 32, writable.length);
    for (const entry of writable) out[at++] = entry.index;
    at = writeLength(out, at, readonly.length);
    for (const entry of readonly) out[at++] = entry.index;
  }
  return out;
}

/** The budget in a version 1 message, which replaces compute-budget instructions. */
export interface MessageBudget {
  /** The whole priority fee. */
  readonly priorityFeeLamports: bigint;
  readonly computeUnitLimit: number;
  readonly loadedBytesLimit: number;
}

/**
 * Compiles a version 1 message: no lookup tables, at most 64 addresses and 64 instructions, the budget in its header.
 *
 * @throws RangeError above either limit
 * @see SIMD-0385
 */
export function compileMessageV1(plan: Omit<MessagePlan, "lookupTables">, budget: MessageBudget): Uint8Array {
  const { payer, instructions, blockhash } = plan;
  const statics = table.fill(payer, instructions).arrange();
  const { counts } = table;
  if (statics > V1_MAX_ENTRIES || instructions.length > V1_MAX_ENTRIES) {
    throw new RangeError("a version 1 message holds at most 64 accounts and 64 instructions");
  }
  let size = V1_FIXED_BYTES + 32 * statics;
  for (let index = 0; index < instructions.length; index++)
    size += V1_INSTRUCTION_BYTES + table.namedBy(index) + dataLengthOf(instructions[index]!);
  const out = pooledBytes(size);
  out[0] = V1_PREFIX;
  out[1] = counts[0] + counts[1];
  out[2] = counts[1];
  out[3] = counts[3];
  writeU32(out, 4, V1_BUDGET_MASK);
  out.set(blockhash, 8);
  out[40] = instructions.length;
  out[41] = statics;
  let at = table.writeStatics(out, 42);
  writeU64(out, at, budget.priorityFeeLamports);
  writeU32(out, at + 8, budget.computeUnitLimit);
  writeU32(out, at + 12, budget.loadedBytesLimit);
  at += 16;
  for (let index = 0; index < instructions.length; index++) {
    const length = dataLengthOf(instructions[index]!);
    out[at] = table.indexOfProgram(index);
    out[at + 1] = table.namedBy(index);
    out[at + 2] = length;
    out[at + 3] = length >>> 8;
    at += V1_INSTRUCTION_BYTES;
  }
  let next = 0;
  for (let index = 0; index < instructions.length; index++) {
    for (let end = next + table.namedBy(index); next < end; next++) out[at++] = table.indexOfUse(next);
    at = writeData(instructions[index]!, out, at);
  }
  return out;
}

/** Where message and signature lie in a wire transaction with one signature: version 1 puts the message first. */
export function wireLayout(transaction: Uint8Array): { readonly message: Uint8Array; readonly signatureAt: number } {
  if (transaction[0] === V1_PREFIX) {
    const signatureAt = Math.max(0, transaction.length - SIGNATURE_SIZE);
    return { message: transaction.subarray(0, signatureAt), signatureAt };
  }
  return { message: transaction.subarray(1 + SIGNATURE_SIZE), signatureAt: 1 };
}

/** Where the first instruction of a version 0 message begins. */
export function instructionsAt(message: Uint8Array): number {
  const afterCount = message[4]! < 0x80 ? 5 : 6;
  const statics = afterCount === 5 ? message[4]! : (message[4]! & 0x7f) | (message[5]! << 7);
  const count = afterCount + 32 * statics + 32;
  return count + (message[count]! < 0x80 ? 1 : 2);
}

/**
 * The wire transaction of a message with one empty signature slot. That of a version 0 message just compiled lies in its memory, so
 * the message must not be written to any more.
 */
export function unsignedTransaction(message: Uint8Array): Uint8Array {
  if (message === roomy) {
    roomy = undefined;
    const whole = new Uint8Array(message.buffer, message.byteOffset - ROOM, ROOM + message.length);
    whole[0] = 1;
    return whole;
  }
  if (message[0] === V1_PREFIX) {
    const out = pooledBytes(message.length + SIGNATURE_SIZE);
    out.set(message);
    return out;
  }
  const out = pooledBytes(ROOM + message.length);
  out[0] = 1;
  out.set(message, ROOM);
  return out;
}

interface LookupEntry {
  readonly place: number;
  readonly index: number;
}

interface Lookup {
  /** Of the lookup table. */
  readonly address: Address;
  readonly writable: LookupEntry[];
  readonly readonly: LookupEntry[];
}

const NO_LOOKUPS: readonly Lookup[] = [];

/** Leaves accounts to the tables that have them; each is loaded from the first one. */
function takeLookups(tables: readonly LookupTable[]): readonly Lookup[] {
  const lookups: Lookup[] = [];
  for (const { address, entries } of tables) {
    const lookup: Lookup = { address, writable: [], readonly: [] };
    for (const [index, entry] of entries.entries()) {
      const found = table.lookUp(entry);
      if (found !== undefined) (found.writable ? lookup.writable : lookup.readonly).push({ place: found.place, index });
    }
    if (lookup.writable.length + lookup.readonly.length > 0) lookups.push(lookup);
  }
  return lookups;
}

/** Bytes of the version 0 message whose accounts are in the table. */
function messageSize(instructions: readonly Instruction[], statics: number, lookups: readonly Lookup[]): number {
  let bytes =
    4 + lengthSize(statics) + 32 * statics + 32 + lengthSize(instructions.length) + lengthSize(lookups.length);
  for (let index = 0; index < instructions.length; index++) {
    const length = dataLengthOf(instructions[index]!);
    const count = table.namedBy(index);
    bytes += 1 + lengthSize(count) + count + lengthSize(length) + length;
  }
  for (const { writable, readonly } of lookups)
    bytes += 32 + lengthSize(writable.length) + writable.length + lengthSize(readonly.length) + readonly.length;
  return bytes;
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
