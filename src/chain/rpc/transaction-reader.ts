import type { TokenBalanceRecord, TransactionReader, TransactionRecord } from "../port.ts";
import type { RpcPool } from "./rpc-pool.ts";
import { asAddress, asInteger, asIntegerText, asList, asRecord, asText } from "./rpc-values.ts";

/** Blocks hold version 1 transactions; a node asked for a lower version refuses the whole answer. */
const MAX_TRANSACTION_VERSION = 1;
const WHAT = "a transaction";

/** Reads the chain's record of transactions by getTransaction, from any endpoint that has it. */
export function createTransactionReader({ pool }: { readonly pool: RpcPool }): TransactionReader {
  return new RpcTransactionReader(pool);
}

class RpcTransactionReader implements TransactionReader {
  readonly #pool: RpcPool;
  #reads = 0;

  constructor(pool: RpcPool) {
    this.#pool = pool;
  }

  async fetchTransaction(signature: string): Promise<TransactionRecord | null> {
    const config = {
      encoding: "json",
      commitment: "confirmed",
      maxSupportedTransactionVersion: MAX_TRANSACTION_VERSION,
    };
    const result = await this.#pool.read("getTransaction", [signature, config], {
      isLacking: (answer) => answer === null,
      // A repeated read starts at another endpoint: one alone may be wrong.
      startAt: this.#reads++,
    });
    return result === null ? null : decodeRecord(result);
  }
}

function decodeRecord(result: unknown): TransactionRecord | null {
  const record = asRecord(result, WHAT);
  if (record.meta === null || record.meta === undefined) return null;
  const meta = asRecord(record.meta, WHAT);
  const message = asRecord(asRecord(record.transaction, WHAT).message, WHAT);
  const loaded = asRecord(meta.loadedAddresses ?? {}, WHAT);
  const accounts = [message.accountKeys, loaded.writable ?? [], loaded.readonly ?? []].flatMap((keys) =>
    asList(keys, WHAT).map((key) => asAddress(key, WHAT)),
  );
  const balances = (value: unknown) => asList(value, WHAT).map((lamports) => asInteger(lamports, WHAT));
  const units = meta.computeUnitsConsumed;
  return {
    slot: asInteger(record.slot, WHAT),
    error: meta.err ?? null,
    feeLamports: asInteger(meta.fee, WHAT),
    accounts,
    preBalances: balances(meta.preBalances),
    postBalances: balances(meta.postBalances),
    preTokenBalances: decodeTokenBalances(meta.preTokenBalances),
    postTokenBalances: decodeTokenBalances(meta.postTokenBalances),
    logs: asList(meta.logMessages ?? [], WHAT).map((line) => asText(line, WHAT)),
    computeUnitsConsumed: units === undefined || units === null ? undefined : asInteger(units, WHAT),
  };
}

function decodeTokenBalances(value: unknown): readonly TokenBalanceRecord[] {
  return asList(value ?? [], WHAT).map((entry) => {
    const record = asRecord(entry, WHAT);
    return {
      accountIndex: Number(asInteger(record.accountIndex, WHAT)),
      mint: asAddress(record.mint, WHAT),
      owner: record.owner === undefined ? undefined : asAddress(record.owner, WHAT),
      amount: asIntegerText(asRecord(record.uiTokenAmount, WHAT).amount, WHAT),
    };
  });
}
