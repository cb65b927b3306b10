import { Address } from "../../primitives/address.ts";
import { readU64 } from "../../primitives/bytes.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../solana/programs.ts";
import { bytesIn, type Fields, fieldsOf, messageIn, numberIn } from "./wire-fields.ts";

/** A transaction's bid for priority, and the accounts it wrote to. */
interface TransactionPrice {
  readonly slot: bigint;
  /** Micro-lamports per compute unit. */
  readonly price: bigint;
  readonly writable: readonly Address[];
}

const SET_COMPUTE_UNIT_PRICE = 3;
const KEY_BYTES = 32;
const MICRO_LAMPORTS = 1_000_000n;

/**
 * Reads the price of a transaction from an update of a Yellowstone stream; undefined for any other update. Fields that are
 * not needed are skipped.
 *
 * @throws RangeError and others if the bytes are not an update
 * @see https://github.com/rpcpool/yellowstone-grpc geyser.proto and solana-storage.proto
 */
export function decodeTransactionPrice(bytes: Uint8Array): TransactionPrice | undefined {
  const update = fieldsOf(bytes).get(4)?.[0];
  if (!(update instanceof Uint8Array)) return undefined;
  const outer = fieldsOf(update);
  const info = messageIn(outer, 1);
  const message = messageIn(messageIn(info, 3), 2);
  const meta = messageIn(info, 4);
  const keys = bytesIn(message, 2).filter(({ length }) => length === KEY_BYTES);
  const header = messageIn(message, 1);
  const signers = numberIn(header, 1);
  const readonlySigners = numberIn(header, 2);
  const readonlyOthers = numberIn(header, 3);
  const isWritable = (index: number) =>
    index < signers ? index < signers - readonlySigners : index < keys.length - readonlyOthers;
  const loaded = bytesIn(meta, 12).filter(({ length }) => length === KEY_BYTES);
  return {
    slot: BigInt(numberIn(outer, 2)),
    price: statedPrice(messageIn(message, 7)) ?? priceOf(keys, bytesIn(message, 4)),
    writable: [...keys.filter((_, index) => isWritable(index)), ...loaded].map((key) => Address.from(key)),
  };
}

/** The price of a version 1 message, which states fee and limit instead of instructions; undefined for other versions. */
function statedPrice(config: Fields): bigint | undefined {
  if (config.size === 0) return undefined;
  const [lamports, units] = [BigInt(numberIn(config, 1)), BigInt(numberIn(config, 2))];
  return units === 0n ? 0n : (lamports * MICRO_LAMPORTS) / units;
}

function priceOf(keys: readonly Uint8Array[], instructions: readonly Uint8Array[]): bigint {
  const program = keys.findIndex((key) => Address.from(key) === COMPUTE_BUDGET_PROGRAM);
  if (program < 0) return 0n;
  for (const instruction of instructions) {
    const fields = fieldsOf(instruction);
    if (numberIn(fields, 1) !== program) continue;
    const [data] = bytesIn(fields, 3);
    if (data !== undefined && data[0] === SET_COMPUTE_UNIT_PRICE && data.length >= 9) return readU64(data, 1);
  }
  return 0n;
}
