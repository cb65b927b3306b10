import { Address } from "../../primitives/address.ts";
import { viewOf } from "../../primitives/bytes.ts";
import { type TradeError, unsigned } from "../trade-error.ts";

/** An account of a message, with its rights. */
export interface MessageAccount {
  readonly index: number;
  readonly address: Address;
  readonly signer: boolean;
  readonly writable: boolean;
}

/** One instruction, with its accounts in place of their indexes. */
export interface MessageInstruction {
  readonly program: Address;
  readonly accounts: readonly MessageAccount[];
  readonly data: Uint8Array;
}

/** The budget in the header of a version 1 message, which replaces compute-budget instructions. */
export interface MessageConfig {
  readonly priorityFeeLamports: bigint | undefined;
  readonly computeUnitLimit: number | undefined;
  readonly loadedAccountsLimit: number | undefined;
  readonly heapSize: number | undefined;
}

/** A decoded wire transaction. */
export interface ReadTransaction {
  readonly version: "legacy" | 0 | 1;
  /** One 64-byte slot per signer; zeros if unsigned. */
  readonly signatures: readonly Uint8Array[];
  /** The bytes that a wallet signs. */
  readonly message: Uint8Array;
  readonly requiredSignatures: number;
  readonly accounts: readonly MessageAccount[];
  readonly instructions: readonly MessageInstruction[];
  readonly config: MessageConfig | undefined;
  /** Lookup tables that the message uses. */
  readonly lookupTables: readonly Address[];
}

/** Entries of address lookup tables on the chain, by the table's address. */
export type LookupTables = ReadonlyMap<Address, readonly Address[]>;

const SIGNATURE_SIZE = 64;
const VERSION_FLAG = 0x80;
/** Size of the longest transaction, of version 1. */
const MOST_BYTES = 4_096;

/**
 * Decodes a wire transaction: legacy, version 0 with its lookup tables resolved from `lookupTables`, or version 1.
 * Strict: lengths in their shortest form, no trailing bytes, no account twice.
 *
 * @throws TradeError UNREADABLE_TRANSACTION with the reason
 * @see https://solana.com/docs/core/transactions/versions
 */
export function readTransaction(wire: Uint8Array, lookupTables: LookupTables = new Map()): ReadTransaction {
  if (wire.length > MOST_BYTES) throw unreadable(`it is ${wire.length} bytes long`);
  const at = new Cursor(wire);
  if (wire[0] === VERSION_FLAG + 1) return readVersion1(wire, at);
  const { header, keys, plain, lookups, ...rest } = readVersion0(wire, at);
  const accounts = staticAccounts(header, keys);
  addLookedUp(accounts, lookups, lookupTables);
  return finish({
    ...rest,
    requiredSignatures: header.required,
    accounts,
    plain,
    statics: keys.length,
    config: undefined,
    lookupTables: lookups.map(({ table }) => table),
  });
}

/** The lookup tables that a wire transaction uses; their contents are on the chain. @throws TradeError UNREADABLE_TRANSACTION */
export function lookupTablesOf(wire: Uint8Array): readonly Address[] {
  if (wire.length > MOST_BYTES) throw unreadable(`it is ${wire.length} bytes long`);
  if (wire[0] === VERSION_FLAG + 1) return [];
  return readVersion0(wire, new Cursor(wire)).lookups.map(({ table }) => table);
}

/** Legacy and version 0 share a layout; version 0 ends with its lookups. */
function readVersion0(wire: Uint8Array, at: Cursor) {
  const signatures = Array.from({ length: at.shortLength() }, () => at.bytes(SIGNATURE_SIZE));
  const message = wire.subarray(at.offset);
  const first = at.peek();
  if (first === VERSION_FLAG) at.u8();
  else if (first >= VERSION_FLAG) throw unreadable(`its version ${first & 0x7f} is unknown to this library`);
  const header = readHeader(at);
  const keys = Array.from({ length: at.shortLength() }, () => at.address());
  at.bytes(32);
  const plain = Array.from({ length: at.shortLength() }, () => ({
    program: at.u8(),
    accounts: at.bytes(at.shortLength()),
    data: at.bytes(at.shortLength()),
  }));
  const lookups = first === VERSION_FLAG ? readLookups(at) : [];
  at.end();
  const version = first === VERSION_FLAG ? (0 as const) : ("legacy" as const);
  return { version, signatures, message, header, keys, plain, lookups };
}

/** Version 1 puts the signatures after the message and the budget into the header. */
function readVersion1(wire: Uint8Array, at: Cursor): ReadTransaction {
  at.u8();
  const header = readHeader(at);
  const mask = at.u32();
  if (mask > 0b11111 || (mask & 3) === 1 || (mask & 3) === 2) throw unreadable("its budget settings are malformed");
  at.bytes(32);
  const instructionCount = at.u8();
  const keys = Array.from({ length: at.u8() }, () => at.address());
  const config: MessageConfig = {
    priorityFeeLamports: (mask & 3) === 3 ? at.u64() : undefined,
    computeUnitLimit: (mask & 4) !== 0 ? at.u32() : undefined,
    loadedAccountsLimit: (mask & 8) !== 0 ? at.u32() : undefined,
    heapSize: (mask & 16) !== 0 ? at.u32() : undefined,
  };
  const heads = Array.from({ length: instructionCount }, () => ({
    program: at.u8(),
    accounts: at.u8(),
    data: at.u16(),
  }));
  const plain = heads.map((head) => ({
    program: head.program,
    accounts: at.bytes(head.accounts),
    data: at.bytes(head.data),
  }));
  const message = wire.subarray(0, at.offset);
  const signatures = Array.from({ length: header.required }, () => at.bytes(SIGNATURE_SIZE));
  at.end();
  return finish({
    version: 1,
    signatures,
    message,
    requiredSignatures: header.required,
    accounts: staticAccounts(header, keys),
    plain,
    statics: keys.length,
    config,
    lookupTables: [],
  });
}

interface Header {
  readonly required: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
}

interface Lookup {
  readonly table: Address;
  readonly writable: Uint8Array;
  readonly readonly: Uint8Array;
}

function readHeader(at: Cursor): Header {
  return { required: at.u8(), readonlySigned: at.u8(), readonlyUnsigned: at.u8() };
}

function staticAccounts(header: Header, keys: readonly Address[]): MessageAccount[] {
  const { required, readonlySigned, readonlyUnsigned } = header;
  if (required > keys.length || readonlySigned > required || readonlyUnsigned > keys.length - required) {
    throw unreadable("its header counts more accounts than it lists");
  }
  return keys.map((address, index) => ({
    index,
    address,
    signer: index < required,
    writable: index < required ? index < required - readonlySigned : index < keys.length - readonlyUnsigned,
  }));
}

function readLookups(at: Cursor): Lookup[] {
  return Array.from({ length: at.shortLength() }, () => ({
    table: at.address(),
    writable: at.bytes(at.shortLength()),
    readonly: at.bytes(at.shortLength()),
  }));
}

/** Appends the accounts of the tables: first all writable ones, then the read-only ones, in the order of the tables. */
function addLookedUp(accounts: MessageAccount[], lookups: readonly Lookup[], tables: LookupTables): void {
  for (const writable of [true, false]) {
    for (const lookup of lookups) {
      const entries = tables.get(lookup.table);
      if (entries === undefined) {
        throw unreadable(`it uses the lookup table ${lookup.table}, whose contents are missing (option lookupTables)`);
      }
      for (const entry of writable ? lookup.writable : lookup.readonly) {
        const address = entries[entry];
        if (address === undefined) throw unreadable(`the lookup table ${lookup.table} has no entry ${entry}`);
        accounts.push({ index: accounts.length, address, signer: false, writable });
      }
    }
  }
}

function finish(
  parts: Omit<ReadTransaction, "instructions"> & {
    readonly plain: readonly { readonly program: number; readonly accounts: Uint8Array; readonly data: Uint8Array }[];
    readonly statics: number;
  },
): ReadTransaction {
  const { plain, statics, ...rest } = parts;
  const { accounts } = rest;
  if (new Set(accounts.map(({ address }) => address)).size !== accounts.length) {
    throw unreadable("it lists an account twice");
  }
  const account = (index: number): MessageAccount => {
    const found = accounts[index];
    if (found === undefined) throw unreadable(`an instruction names account ${index} of ${accounts.length}`);
    return found;
  };
  return {
    ...rest,
    instructions: plain.map(({ program, accounts: indices, data }) => {
      if (program >= statics) throw unreadable("an instruction takes its program from a lookup table");
      return { program: account(program).address, accounts: Array.from(indices, account), data };
    }),
  };
}

/** Reads forward through a transaction; throws at its end. */
class Cursor {
  readonly #bytes: Uint8Array;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  peek(): number {
    return this.#at(this.#bytes, this.offset);
  }

  u8(): number {
    const value = this.peek();
    this.offset += 1;
    return value;
  }

  u16(): number {
    return viewOf(this.bytes(2)).getUint16(0, true);
  }

  u32(): number {
    return viewOf(this.bytes(4)).getUint32(0, true);
  }

  u64(): bigint {
    return viewOf(this.bytes(8)).getBigUint64(0, true);
  }

  address(): Address {
    return Address.from(this.bytes(32));
  }

  bytes(length: number): Uint8Array {
    const end = this.offset + length;
    if (end > this.#bytes.length) throw unreadable("it ends too early");
    const part = this.#bytes.subarray(this.offset, end);
    this.offset = end;
    return part;
  }

  /** A compact-u16 in its shortest form. */
  shortLength(): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const byte = this.u8();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        if ((shift > 0 && byte === 0) || value > 0xffff) break;
        return value;
      }
    }
    throw unreadable("a length in it is malformed");
  }

  end(): void {
    if (this.offset !== this.#bytes.length) throw unreadable("bytes follow its end");
  }

  #at(bytes: Uint8Array, offset: number): number {
    const value = bytes[offset];
    if (value === undefined) throw unreadable("it ends too early");
    return value;
  }
}

function unreadable(reason: string): TradeError {
  return unsigned("UNREADABLE_TRANSACTION", `The transaction cannot be read: ${reason}`);
}
