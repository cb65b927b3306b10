import type { Address } from "../primitives/address.ts";
import type { Instruction } from "./instruction.ts";

/** Bytes of one signature. */
export const SIGNATURE_SIZE = 64;

/** The largest legacy or v0 wire transaction, in bytes. */
export const MAX_TRANSACTION_SIZE = 1232;

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

/**
 * Compiles a version 0 message. Accounts come in the order the format demands (writable signers, read-only signers,
 * writable, read-only), within a group in order of first use, so the same plan gives the same bytes. Accounts found in a
 * lookup table go through it unless they sign or are invoked.
 *
 * @throws RangeError for more than 256 accounts
 * @see https://solana.com/docs/core/transactions/versions
 */
export function compileMessage(plan: MessagePlan): Uint8Array {
  const rights = new Map<Address, number>([[plan.payer, SIGNER | WRITABLE]]);
  let dataBytes = 0;
  for (const instruction of plan.instructions) {
    for (const { address, signer, writable } of instruction.accounts) {
      rights.set(address, (rights.get(address) ?? 0) | (signer ? SIGNER : 0) | (writable ? WRITABLE : 0));
    }
    dataBytes += instruction.accounts.length + instruction.data.length + 7;
  }
  for (const { program } of plan.instructions) rights.set(program, (rights.get(program) ?? 0) | INVOKED);

  const groups: [Address[], Address[], Address[], Address[]] = [[], [], [], []];
  const lookups = plan.lookupTables.length === 0 ? [] : takeLookups(rights, plan.lookupTables);
  for (const [address, right] of rights) {
    const writable = (right & WRITABLE) !== 0;
    groups[(right & SIGNER) !== 0 ? (writable ? 0 : 1) : writable ? 2 : 3].push(address);
  }
  const index = new Map<Address, number>();
  for (const group of groups) for (const address of group) index.set(address, index.size);
  const statics = index.size;
  for (const lookup of lookups) for (const entry of lookup.writable) index.set(entry.address, index.size);
  for (const lookup of lookups) for (const entry of lookup.readonly) index.set(entry.address, index.size);
  if (index.size > 256) throw new RangeError("a message holds at most 256 accounts");

  const out = new Uint8Array(64 + statics * 32 + dataBytes + lookups.length * 40 + rights.size + index.size);
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

/** The wire transaction of a message with one empty signature slot. */
export function unsignedTransaction(message: Uint8Array): Uint8Array {
  const out = new Uint8Array(1 + SIGNATURE_SIZE + message.length);
  out[0] = 1;
  out.set(message, 1 + SIGNATURE_SIZE);
  return out;
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
