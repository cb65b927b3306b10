import { BodyReader } from "../connection/body-reader.ts";
import { checkHeader, requestUrl } from "../connection/request-parts.ts";
import { timerMs } from "../order/times.ts";
import { TradeError } from "../trade-error.ts";

/** How to reach a node. */
export interface RpcNodeOptions {
  /** Longest wait for one answer. Milliseconds; default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Added to each request, such as a provider's key. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One JSON-RPC call to the node. @throws TradeError NODE_UNAVAILABLE, ABORTED */
export type RpcCall = (method: string, params: readonly unknown[], signal?: AbortSignal) => Promise<unknown>;

const DEFAULT_TIMEOUT_MS = 10_000;
/** Of one answer: a hundred accounts of a venue are far below it. */
const MOST_BYTES = 1 << 25;

/** Calls a node over HTTP. Redirects are refused: the node is the one that the caller named. @throws TypeError for a bad URL or header */
export function createRpc(url: string, { timeoutMs = DEFAULT_TIMEOUT_MS, headers = {} }: RpcNodeOptions): RpcCall {
  const { host } = requestUrl(url, "A node's URL");
  const longestMs = timerMs(timeoutMs, "timeoutMs");
  for (const [name, value] of Object.entries(headers)) checkHeader(value, `The header ${name}`);
  return async (method, params, signal) => {
    const limit = AbortSignal.timeout(longestMs);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        redirect: "error",
        signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      });
      if (!response.ok) throw new Error(`it answered with status ${response.status}`);
      const body = await new BodyReader(response, MOST_BYTES).rest();
      return resultOf(JSON.parse(new TextDecoder().decode(body)));
    } catch (cause) {
      if (signal?.aborted) throw new TradeError("ABORTED", "The caller aborted the call.", { cause });
      const reason = limit.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(cause);
      // The host alone: the path and query of a node's URL often hold a secret.
      throw new TradeError("NODE_UNAVAILABLE", `Your node ${host} failed at ${method}: ${reason}.`, {
        retryable: true,
        cause,
      });
    }
  };
}

function resultOf(answer: unknown): unknown {
  const { result, error } = (answer ?? {}) as { result?: unknown; error?: { message?: unknown } };
  if (error !== undefined && error !== null) throw new Error(String(error.message).slice(0, 300));
  if (result === undefined) throw new Error("its answer has no result");
  return result;
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown";
  // fetch puts the real error into its cause.
  return cause.cause instanceof Error ? `${cause.message} (${cause.cause.message})` : cause.message;
}
