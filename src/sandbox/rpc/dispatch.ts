import { ACCOUNT_METHODS } from "./account-methods.ts";
import { CLUSTER_METHODS } from "./cluster-methods.ts";
import { stringifyExact } from "./json.ts";
import type { Method, Node } from "./method.ts";
import { Params } from "./params.ts";
import { invalidParams, RPC_ERROR, RpcError } from "./rpc-error.ts";
import { TRANSACTION_METHODS } from "./transaction-methods.ts";

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...CLUSTER_METHODS, ...ACCOUNT_METHODS, ...TRANSACTION_METHODS }),
);

/** Methods by the most parameters that a node takes. */
const METHODS_BY_MOST: readonly (readonly string[])[] = [
  [
    ...["getHealth", "getVersion", "getGenesisHash", "getIdentity", "getEpochSchedule"],
    ...["getFirstAvailableBlock", "minimumLedgerSlot"],
  ],
  [
    ...["getSlot", "getBlockHeight", "getEpochInfo", "getTransactionCount", "getBlockTime", "getLatestBlockhash"],
    ...["getRecentPrioritizationFees", "getRecentPerformanceSamples", "getSupply"],
  ],
  [
    ...["getAccountInfo", "getMultipleAccounts", "getBalance", "getProgramAccounts", "getTokenAccountBalance"],
    ...["getTokenSupply", "getTokenLargestAccounts", "getMinimumBalanceForRentExemption", "getBlock"],
    ...["isBlockhashValid", "sendTransaction", "simulateTransaction", "getFeeForMessage", "getSignatureStatuses"],
    ...["getTransaction", "getSignaturesForAddress"],
  ],
  ["getTokenAccountsByOwner", "getTokenAccountsByDelegate", "getBlocks", "getBlocksWithLimit", "requestAirdrop"],
];

const MOST: ReadonlyMap<string, number> = new Map(
  METHODS_BY_MOST.flatMap((methods, most) => methods.map((method) => [method, most] as const)),
);

/** One call taken out of its envelope. `id` is undefined for a notification, which is never answered. */
export interface RpcRequest {
  readonly id: string | number | null | undefined;
  readonly method: string;
  readonly params: unknown;
}

/** Answers the text of a request, single or batch; undefined if nothing is to be answered. Never throws. */
export function answerText(node: Node, text: string): string | undefined {
  return answerCalls(text, ({ method, params }) => {
    const perform = METHODS.get(method);
    if (perform === undefined) throw new RpcError(RPC_ERROR.methodNotFound, "Method not found");
    const parsed = new Params(params);
    requireParamCount(method, parsed);
    return perform(node, parsed);
  });
}

/** Parses JSON-RPC 2.0, performs each call, and writes the answers in order. Never throws. */
export function answerCalls(text: string, perform: (call: RpcRequest) => unknown): string | undefined {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch {
    return writeError(null, new RpcError(RPC_ERROR.parse, "Parse error"));
  }
  if (!Array.isArray(request)) return answerOne(request, perform);
  if (request.length === 0) return writeError(null, new RpcError(RPC_ERROR.invalidRequest, "Invalid request"));
  const answers = request.map((one) => answerOne(one, perform)).filter((answer) => answer !== undefined);
  return answers.length === 0 ? undefined : `[${answers.join(",")}]`;
}

function answerOne(request: unknown, perform: (call: RpcRequest) => unknown): string | undefined {
  const call = parseCall(request);
  if (call === undefined) return writeError(null, new RpcError(RPC_ERROR.invalidRequest, "Invalid request"));
  try {
    const result = perform(call);
    return call.id === undefined ? undefined : stringifyExact({ jsonrpc: "2.0", result: result ?? null, id: call.id });
  } catch (error) {
    return call.id === undefined ? undefined : writeError(call.id, error);
  }
}

function parseCall(request: unknown): RpcRequest | undefined {
  if (typeof request !== "object" || request === null) return undefined;
  const { jsonrpc, id, method, params } = request as Record<string, unknown>;
  const isId = id === undefined || id === null || typeof id === "string" || typeof id === "number";
  return jsonrpc === "2.0" && typeof method === "string" && isId ? { id, method, params } : undefined;
}

/** An unexpected error must fail one call, not the chain; its text helps the operator. */
function writeError(id: RpcRequest["id"] | null, error: unknown): string {
  const { code, message, data } =
    error instanceof RpcError ? error : new RpcError(RPC_ERROR.internal, `Internal error: ${error}`);
  return stringifyExact({ jsonrpc: "2.0", error: { code, message, ...(data === undefined ? {} : { data }) }, id });
}

/** Refuses parameters that the method does not have: what a node does not know, it does not ignore. @throws RpcError -32602 */
function requireParamCount(method: string, params: Params): void {
  const most = MOST.get(method);
  if (most !== undefined && params.count > most)
    throw invalidParams(`Invalid parameters: Expected at most ${most} parameters.`);
}
