import { Address } from "../../primitives/address.ts";
import { viewOf } from "../../primitives/bytes.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { rest } from "../proof/pause.ts";
import type { NodeVerdict, TradeNode } from "../proof/trade-node.ts";
import { TradeError } from "../trade-error.ts";
import type { LookupTables } from "../verify/read-transaction.ts";
import { checkOnNode } from "./check-on-node.ts";
import { readAccounts } from "./node-accounts.ts";
import { createRpc, type RpcCall, type RpcNodeOptions } from "./rpc.ts";
import { blockhashOf } from "./simulation.ts";

const LOOKUP_TABLE_PROGRAM = Address.of("AddressLookupTab1e1111111111111111111111111");
const LOOKUP_TABLE_HEADER = 56;
const MINT_SIZE = 82;
const MINT_DECIMALS_AT = 44;
/** Which kind of account the extensions of a Token-2022 account extend. */
const KIND_AT = 165;
const KIND_MINT = 1;

/**
 * The caller's own node, which a client asks instead of believing the service: option `node` of `Tradewire.connect`.
 *
 * @param url of its JSON-RPC, over HTTP
 * @throws TypeError for a URL or a header that no request can carry
 */
export function rpcNode(url: string, options: RpcNodeOptions = {}): TradeNode {
  const call = createRpc(url, options);
  const known = new Map<Address, number>();
  return {
    async decimals(mint, signal) {
      const kept = known.get(mint);
      if (kept !== undefined) return kept;
      const { decimals, isLasting } = await readable(readDecimals(call, mint, signal));
      if (isLasting) known.set(mint, decimals);
      return decimals;
    },
    lookupTables: (tables, signal) => readable(readLookupTables(call, tables, signal)),
    check: (trade, signal) => readable(checkOnNode(call, trade, signal)),
    verdict: (wire, signature, sinceSlot, signal) => readable(readVerdict(call, wire, signature, sinceSlot, signal)),
  };
}

/** What is read of the node's answers. @throws TradeError NODE_UNAVAILABLE if one has a form that cannot be read */
function readable<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((cause: unknown) => {
    if (cause instanceof TradeError) throw cause;
    throw new TradeError("NODE_UNAVAILABLE", "Your node's answer has an unknown form.", { cause });
  });
}

/** A mint made a moment ago is confirmed within a second. Milliseconds. */
const NEW_MINT_TRIES = 4;
const NEW_MINT_PAUSE_MS = 400;

/** Decimals of a mint; lasting unless the mint may be closed and created again. */
async function readDecimals(
  call: RpcCall,
  mint: Address,
  signal: AbortSignal | undefined,
): Promise<{ readonly decimals: number; readonly isLasting: boolean }> {
  let account = (await readAccounts(call, [mint], "confirmed", signal)).get(mint);
  for (let tries = 0; account === undefined && tries < NEW_MINT_TRIES; tries++) {
    await rest(NEW_MINT_PAUSE_MS, signal);
    account = (await readAccounts(call, [mint], "confirmed", signal)).get(mint);
  }
  const isToken = account?.owner === TOKEN_PROGRAM && account.data.length === MINT_SIZE;
  const isToken2022 =
    account?.owner === TOKEN_2022_PROGRAM && (account.data.length === MINT_SIZE || account.data[KIND_AT] === KIND_MINT);
  if (account === undefined || !(isToken || isToken2022)) {
    throw new TradeError("TOKEN_NOT_FOUND", `${mint} is not a token mint on your node. Nothing was signed.`);
  }
  return { decimals: account.data[MINT_DECIMALS_AT]!, isLasting: isToken };
}

async function readLookupTables(
  call: RpcCall,
  tables: readonly Address[],
  signal: AbortSignal | undefined,
): Promise<LookupTables> {
  const contents = new Map<Address, readonly Address[]>();
  for (const [table, account] of await readAccounts(call, tables, "confirmed", signal)) {
    const data = account?.data ?? new Uint8Array();
    const isTable =
      account?.owner === LOOKUP_TABLE_PROGRAM &&
      data.length >= LOOKUP_TABLE_HEADER &&
      viewOf(data).getUint32(0, true) === 1;
    if (!isTable) throw new TradeError("UNREADABLE_TRANSACTION", `${table} is not a lookup table on your node.`);
    const count = Math.floor((data.length - LOOKUP_TABLE_HEADER) / 32);
    contents.set(
      table,
      Array.from({ length: count }, (_, index) => Address.from(data, LOOKUP_TABLE_HEADER + 32 * index)),
    );
  }
  return contents;
}

/**
 * A finalized block in which the blockhash is too old, and which is no older than the check that found it valid, ends the
 * transaction's life. Its status, read after that block, covers every block in which it could be; its record does so too if the node looks
 * for statuses in its memory alone.
 */
async function readVerdict(
  call: RpcCall,
  wire: Uint8Array,
  signature: string,
  sinceSlot: number,
  signal: AbortSignal | undefined,
): Promise<NodeVerdict> {
  const validity = (await call("isBlockhashValid", [blockhashOf(wire), { commitment: "finalized" }], signal)) as {
    readonly context?: { readonly slot?: number };
    readonly value?: boolean;
  };
  const slot = validity.context?.slot ?? 0;
  const isOver = validity.value === false && slot >= sinceSlot;
  const statuses = (await call("getSignatureStatuses", [[signature], { searchTransactionHistory: true }], signal)) as {
    readonly context?: { readonly slot?: number };
    readonly value?: readonly unknown[];
  };
  const status = statuses.value?.[0];
  if (status !== null && status !== undefined) return "landed";
  const isCovered = statuses.value?.length === 1 && (statuses.context?.slot ?? 0) >= slot;
  if (!isOver || !isCovered) return "pending";
  const config = { encoding: "base64", commitment: "confirmed", maxSupportedTransactionVersion: 1 };
  return (await call("getTransaction", [signature, config], signal)) === null ? "expired" : "landed";
}
