import type { Address } from "../../primitives/address.ts";
import { readU64 } from "../../primitives/bytes.ts";
import { decodeBase58 } from "../../primitives/encoding/base58.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { LamportTransfer, TransactionRecord } from "../port.ts";
import { NodeError } from "./node-error.ts";
import type { RpcEndpoint } from "./rpc-endpoint.ts";
import type { RpcPool } from "./rpc-pool.ts";
import { asAddress, asInteger, asList, asListOf, asRecord, asText, asTransactionError } from "./rpc-values.ts";
import { decodeTokenBalances, hasWholeBalances } from "./token-balances.ts";

/** Blocks hold version 1 transactions; a node asked for a lower version refuses the whole answer. */
const MAX_TRANSACTION_VERSION = 1;
const WHAT = "a transaction";

/** Longest wait for a record: another node answers sooner than one that hangs. Milliseconds. */
const TIMEOUT_MS = 2_000;

/** A node's last answer about a transaction, parsed, and the record in it. */
export interface LastAnswer {
  result: unknown;
  record: TransactionRecord | null;
}

/**
 * Reads one node's record of a transaction at confirmed commitment; null if the node has none yet.
 *
 * @param last a node's last answer for the same transaction; updated here. An equal answer gives the same record without decoding it again
 * @throws TradewireError UPSTREAM_ERROR, also for the record of another transaction
 */
export async function fetchRecord(
  pool: RpcPool,
  endpoint: RpcEndpoint,
  signature: string,
  last: LastAnswer = { result: undefined, record: null },
): Promise<TransactionRecord | null> {
  const config = {
    encoding: "json",
    commitment: "confirmed",
    maxSupportedTransactionVersion: MAX_TRANSACTION_VERSION,
  };
  const result = await pool.ask(endpoint, "getTransaction", [signature, config], TIMEOUT_MS);
  if (result === null) return null;
  if (result === last.result) return last.record;
  last.record = decodeRecord(result, signature);
  last.result = result;
  return last.record;
}

function decodeRecord(result: unknown, signature: string): TransactionRecord {
  const record = asRecord(result, WHAT);
  const meta = asRecord(record.meta, WHAT);
  const transaction = asRecord(record.transaction, WHAT);
  if (!asList(transaction.signatures, WHAT).includes(signature))
    throw new NodeError("malformed", "A Solana node answered with the record of another transaction.");
  const message = asRecord(transaction.message, WHAT);
  const loaded = asRecord(meta.loadedAddresses ?? {}, WHAT);
  const accounts = [message.accountKeys, loaded.writable ?? [], loaded.readonly ?? []].flatMap((keys) =>
    asList(keys, WHAT).map((key) => asAddress(key, WHAT)),
  );
  const balances = (value: unknown) =>
    asListOf(accounts.length, value, WHAT).map((lamports) => asInteger(lamports, WHAT));
  const units = meta.computeUnitsConsumed;
  const decoded = {
    slot: asInteger(record.slot, WHAT),
    error: asTransactionError(meta.err, WHAT),
    feeLamports: asInteger(meta.fee, WHAT),
    accounts,
    preBalances: balances(meta.preBalances),
    postBalances: balances(meta.postBalances),
    preTokenBalances: decodeTokenBalances(meta.preTokenBalances, accounts),
    postTokenBalances: decodeTokenBalances(meta.postTokenBalances, accounts),
    transfers: decodeTransfers(meta.innerInstructions, accounts),
    logs: asList(meta.logMessages ?? [], WHAT).map((line) => asText(line, WHAT)),
    computeUnitsConsumed: units === undefined || units === null ? undefined : asInteger(units, WHAT),
  };
  if (!hasWholeBalances(decoded)) throw new NodeError("malformed", "A Solana node answered with a part of a record.");
  return decoded;
}

/** The system program's transfer: its number in four bytes, then lamports. Bytes. */
const TRANSFER_SIZE = 12;
const TRANSFER = 2;

/** The transfers of lamports among the instructions that programs called; undefined if the node keeps none of those. */
function decodeTransfers(value: unknown, accounts: readonly Address[]): readonly LamportTransfer[] | undefined {
  if (value === undefined || value === null) return undefined;
  const called = asList(value, WHAT).flatMap((list) => asList(asRecord(list, WHAT).instructions, WHAT));
  return called.flatMap((instruction) => {
    const { programIdIndex, accounts: places, data } = asRecord(instruction, WHAT);
    const place = (index: unknown) => accounts[Number(asInteger(index, WHAT))];
    if (place(programIdIndex) !== SYSTEM_PROGRAM) return [];
    const bytes = decodeBase58(asText(data, WHAT), TRANSFER_SIZE);
    if (bytes?.length !== TRANSFER_SIZE || bytes[0] !== TRANSFER) return [];
    const to = place(asList(places, WHAT)[1]);
    return to === undefined ? [] : [{ to, lamports: readU64(bytes, 4) }];
  });
}
