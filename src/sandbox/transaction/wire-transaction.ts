import { Address } from "../../primitives/address.ts";
import { concatBytes, readU64, viewOf } from "../../primitives/bytes.ts";
import { MAX_TRANSACTION_SIZE, MAX_TRANSACTION_SIZE_V1 } from "../../solana/message.ts";

const SIGNATURE_SIZE = 64;
const VERSION_FLAG = 0x80;
const V1_FIRST_BYTE = 0x81;
const V1_MAX_SIGNATURES = 12;
const V1_MAX_ADDRESSES = 64;
const V1_MAX_INSTRUCTIONS = 64;
/** Bits of a version 1 configuration mask. The priority fee takes two of them, both set or both clear. */
const V1_PRIORITY_FEE = 0b11;
const V1_UNIT_LIMIT = 0b100;
const V1_DATA_LIMIT = 0b1000;
const V1_HEAP_SIZE = 0b1_0000;
const V1_KNOWN_BITS = V1_PRIORITY_FEE | V1_UNIT_LIMIT | V1_DATA_LIMIT | V1_HEAP_SIZE;

interface MessageHeader {
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
}

/** An instruction as a message holds it: program and accounts are indexes of the message's accounts. */
export interface WireInstruction {
  readonly programIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
}

/** The entries that a message takes from a lookup table, by their indexes. */
export interface TableLookup {
  readonly table: Address;
  readonly writable: Uint8Array;
  readonly readonly: Uint8Array;
}

/** The budget that a version 1 message sets for itself; absent values are zero on chain. */
interface TransactionConfig {
  readonly priorityFeeLamports: bigint | undefined;
  readonly unitLimit: number | undefined;
  readonly dataSizeLimit: number | undefined;
  readonly heapSize: number | undefined;
}

/** A transaction as it travels, taken apart. All parts are views into `bytes`. */
export interface WireTransaction {
  readonly version: "legacy" | 0 | 1;
  readonly bytes: Uint8Array;
  readonly message: Uint8Array;
  readonly signatures: readonly Uint8Array[];
  readonly header: MessageHeader;
  readonly staticAccounts: readonly Address[];
  readonly blockhash: Uint8Array;
  readonly instructions: readonly WireInstruction[];
  readonly lookups: readonly TableLookup[];
  /** Only in version 1. */
  readonly config: TransactionConfig | undefined;
}

/** The bytes are not a transaction: cut short, too long, or with an index that points nowhere. */
export class MalformedTransaction extends Error {
  override readonly name = "MalformedTransaction";
}

/**
 * Takes a transaction apart and checks everything the runtime calls sanitising. It is as strict as the chain, and it
 * has to be: LiteSVM ends the whole process on bytes it cannot read.
 *
 * @throws MalformedTransaction
 */
export function decodeTransaction(bytes: Uint8Array): WireTransaction {
  const transaction = bytes[0] === V1_FIRST_BYTE ? decodeVersion1(bytes) : decodeUpToVersion0(bytes);
  sanitise(transaction);
  return transaction;
}

/**
 * Takes a message without signatures apart; the transaction it answers has empty ones.
 *
 * @throws MalformedTransaction
 */
export function decodeMessage(message: Uint8Array): WireTransaction {
  const first = message[0] ?? 0;
  const signatureCount = (first & VERSION_FLAG) === 0 ? first : (message[1] ?? 0);
  if (signatureCount >= VERSION_FLAG) throw new MalformedTransaction("too many signatures");
  const signatures = new Uint8Array(signatureCount * SIGNATURE_SIZE);
  return decodeTransaction(
    first === V1_FIRST_BYTE
      ? concatBytes(message, signatures)
      : concatBytes(Uint8Array.of(signatureCount), signatures, message),
  );
}

function decodeUpToVersion0(bytes: Uint8Array): WireTransaction {
  if (bytes.length > MAX_TRANSACTION_SIZE) {
    throw new MalformedTransaction(`transaction too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_SIZE} bytes)`);
  }
  const reader = new Reader(bytes);
  const signatures = Array.from({ length: reader.compactU16() }, () => reader.take(SIGNATURE_SIZE));
  const messageStart = reader.at;
  const first = reader.u8();
  const versioned = (first & VERSION_FLAG) !== 0;
  if (versioned && first !== VERSION_FLAG) throw new MalformedTransaction("unknown transaction version");
  const header = reader.header(versioned ? reader.u8() : first);
  const staticAccounts = Array.from({ length: reader.compactU16() }, () => reader.address());
  const blockhash = reader.take(32);
  const instructions = Array.from({ length: reader.compactU16() }, () => ({
    programIndex: reader.u8(),
    accounts: reader.take(reader.compactU16()),
    data: reader.take(reader.compactU16()),
  }));
  const lookups = versioned
    ? Array.from({ length: reader.compactU16() }, () => ({
        table: reader.address(),
        writable: reader.take(reader.compactU16()),
        readonly: reader.take(reader.compactU16()),
      }))
    : [];
  reader.end();
  return {
    version: versioned ? 0 : "legacy",
    bytes,
    message: bytes.subarray(messageStart),
    signatures,
    header,
    staticAccounts,
    blockhash,
    instructions,
    lookups,
    config: undefined,
  };
}

/** @see SIMD-0385: message first, signatures last, no lengths before the signatures. */
function decodeVersion1(bytes: Uint8Array): WireTransaction {
  if (bytes.length > MAX_TRANSACTION_SIZE_V1) {
    throw new MalformedTransaction(
      `transaction too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_SIZE_V1} bytes)`,
    );
  }
  const reader = new Reader(bytes);
  reader.u8();
  const header = reader.header(reader.u8());
  const mask = reader.u32();
  const feeBits = mask & V1_PRIORITY_FEE;
  if ((mask & ~V1_KNOWN_BITS) !== 0 || (feeBits !== 0 && feeBits !== V1_PRIORITY_FEE)) {
    throw new MalformedTransaction("unknown transaction configuration");
  }
  const blockhash = reader.take(32);
  const instructionCount = reader.u8();
  const addressCount = reader.u8();
  if (
    header.requiredSignatures > V1_MAX_SIGNATURES ||
    instructionCount > V1_MAX_INSTRUCTIONS ||
    addressCount > V1_MAX_ADDRESSES
  ) {
    throw new MalformedTransaction("too many signatures, instructions or addresses for version 1");
  }
  const staticAccounts = Array.from({ length: addressCount }, () => reader.address());
  const config: TransactionConfig = {
    priorityFeeLamports: feeBits === 0 ? undefined : readU64(reader.take(8), 0),
    unitLimit: (mask & V1_UNIT_LIMIT) === 0 ? undefined : reader.u32(),
    dataSizeLimit: (mask & V1_DATA_LIMIT) === 0 ? undefined : reader.u32(),
    heapSize: (mask & V1_HEAP_SIZE) === 0 ? undefined : reader.u32(),
  };
  const headers = Array.from({ length: instructionCount }, () => ({
    programIndex: reader.u8(),
    accountCount: reader.u8(),
    dataLength: reader.u16(),
  }));
  const instructions = headers.map(({ programIndex, accountCount, dataLength }) => ({
    programIndex,
    accounts: reader.take(accountCount),
    data: reader.take(dataLength),
  }));
  const message = bytes.subarray(0, reader.at);
  const signatures = Array.from({ length: header.requiredSignatures }, () => reader.take(SIGNATURE_SIZE));
  reader.end();
  return {
    version: 1,
    bytes,
    message,
    signatures,
    header,
    staticAccounts,
    blockhash,
    instructions,
    lookups: [],
    config,
  };
}

/** @see solana-message `sanitize` of legacy and v0 messages */
function sanitise({ version, signatures, header, staticAccounts, instructions, lookups }: WireTransaction): void {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header;
  let accountCount = staticAccounts.length;
  for (const { writable, readonly } of lookups) {
    if (writable.length + readonly.length === 0) throw new MalformedTransaction("an address table lookup is empty");
    accountCount += writable.length + readonly.length;
  }
  const sound =
    signatures.length === requiredSignatures &&
    readonlySigned < requiredSignatures &&
    requiredSignatures + readonlyUnsigned <= staticAccounts.length &&
    accountCount <= 256 &&
    instructions.every(
      ({ programIndex, accounts }) =>
        programIndex > 0 && programIndex < staticAccounts.length && accounts.every((index) => index < accountCount),
    ) &&
    (version !== 1 || new Set(staticAccounts).size === staticAccounts.length);
  if (!sound) throw new MalformedTransaction("Transaction failed to sanitize accounts offsets correctly");
}

/** True when the account at `index` of the message may be written to, by the message's own word. */
export function isWritableIndex(transaction: WireTransaction, index: number): boolean {
  const { header, staticAccounts, lookups } = transaction;
  if (index < header.requiredSignatures) return index < header.requiredSignatures - header.readonlySigned;
  if (index < staticAccounts.length) return index < staticAccounts.length - header.readonlyUnsigned;
  let writableLoaded = 0;
  for (const lookup of lookups) writableLoaded += lookup.writable.length;
  return index < staticAccounts.length + writableLoaded;
}

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.#bytes.length) throw new MalformedTransaction("failed to fill whole buffer");
    const part = this.#bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }

  u8(): number {
    return this.take(1)[0]!;
  }

  u16(): number {
    this.take(2);
    return this.#view.getUint16(this.at - 2, true);
  }

  u32(): number {
    this.take(4);
    return this.#view.getUint32(this.at - 4, true);
  }

  address(): Address {
    return Address.from(this.take(32));
  }

  header(requiredSignatures: number): MessageHeader {
    return { requiredSignatures, readonlySigned: this.u8(), readonlyUnsigned: this.u8() };
  }

  /** One to three bytes, seven bits each; only the shortest form of a number is accepted. */
  compactU16(): number {
    let value = 0;
    for (let i = 0; i < 3; i++) {
      const byte = this.u8();
      value |= (byte & 0x7f) << (7 * i);
      if ((byte & 0x80) === 0) {
        if ((byte === 0 && i > 0) || value > 0xffff) throw new MalformedTransaction("a length is badly written");
        return value;
      }
    }
    throw new MalformedTransaction("a length is badly written");
  }

  end(): void {
    if (this.at !== this.#bytes.length) throw new MalformedTransaction("bytes are left over after the transaction");
  }
}
