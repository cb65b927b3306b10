import type { Now } from "../../primitives/clock.ts";
import { NodeError } from "./node-error.ts";
import { asRecord, parseRpcJson } from "./rpc-values.ts";

/** One Solana node, spoken to over JSON-RPC. */
export interface RpcEndpoint {
  /** Host of the node. Never the whole URL: those carry keys. */
  readonly name: string;
  /** One call. @throws TradewireError UPSTREAM_ERROR, as an NodeError */
  call(method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown>;
  /** Its answer contradicts what is known of the chain: others go first for a while. */
  doubt(): void;
  /**
   * True for a while after failures to reach the node, longer after each, and while it leaves calls unanswered: others go first.
   */
  isCooling(): boolean;
}

interface RpcEndpointOptions {
  readonly url: string;
  readonly now: Now;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest wait for a whole answer. */
  readonly timeoutMs?: number;
  /** Largest answer read. */
  readonly maxResponseBytes?: number;
}

const DEFAULT_TIMEOUT_MS = 4_000;
const DEFAULT_MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const FIRST_COOLING_MS = 125;
const LONGEST_COOLING_MS = 4_000;
const DOUBT_MS = 2_000;
/** A node that has answered nothing for this long, with calls waiting, is not waited for by others until one times out. */
const SILENT_MS = 400;

/** Method not found, and "this program is not indexed here". @see agave rpc-client-api `custom_error.rs` */
const REFUSAL_CODES = new Set([-32601, -32010]);
/** Forbidden, not allowed, gone. */
const REFUSAL_STATUSES = new Set([403, 405, 410]);
const REFUSAL_WORDS =
  /method not found|not (?:supported|available|enabled|allowed)|is disabled|excluded from account secondary/i;
/** "Transaction history is not available from this node" and unsupported versions concern one question, not the method. */
const PLAIN_CODES = new Set([-32011, -32015]);

/** A node at a URL. Answers are untrusted: bounded in size and time, matched by id, never redirected. */
export function createRpcEndpoint({
  url,
  now,
  headers = {},
  timeoutMs = DEFAULT_TIMEOUT_MS,
  maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES,
}: RpcEndpointOptions): RpcEndpoint {
  const name = new URL(url).host;
  let lastId = 0;
  let failures = 0;
  let coolUntilMs = 0;
  let heardAtMs = 0;
  /** When each call that waits for its answer was sent, the oldest first. */
  const waiting = new Map<number, number>();

  const isSilent = () => {
    const oldestMs = waiting.values().next().value;
    return oldestMs !== undefined && now() - Math.max(oldestMs, heardAtMs) > SILENT_MS;
  };
  const reached = () => {
    // A node that answers again is back; what it was doubted for is not undone by that.
    if (failures > 0) coolUntilMs = 0;
    failures = 0;
  };
  const missed = (message: string, cause?: unknown): NodeError => {
    coolUntilMs = now() + Math.min(FIRST_COOLING_MS * 2 ** failures, LONGEST_COOLING_MS);
    failures += 1;
    return new NodeError("unreachable", message, { cause });
  };

  async function call(method: string, params: readonly unknown[], callTimeoutMs = timeoutMs): Promise<unknown> {
    const id = ++lastId;
    let status: number;
    let text: string | undefined;
    waiting.set(id, now());
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
        redirect: "error",
        signal: AbortSignal.timeout(callTimeoutMs),
      });
      status = response.status;
      text = await readText(response, maxResponseBytes);
      heardAtMs = now();
    } catch (cause) {
      throw missed(`The Solana node ${name} did not answer ${method} within ${callTimeoutMs} ms.`, cause);
    } finally {
      waiting.delete(id);
    }
    if (text === undefined)
      throw new NodeError(
        "malformed",
        `The Solana node ${name} answered ${method} with more than ${maxResponseBytes} bytes.`,
      );
    if (status === 429 || status >= 500)
      throw missed(`The Solana node ${name} is overloaded: HTTP ${status} to ${method}.`);

    let answer: Readonly<Record<string, unknown>>;
    try {
      answer = asRecord(parseRpcJson(text), "an answer");
    } catch (cause) {
      if (REFUSAL_STATUSES.has(status))
        throw new NodeError("refused", `The Solana node ${name} does not serve ${method}: HTTP ${status}.`);
      throw new NodeError("malformed", `The Solana node ${name} answered ${method} with HTTP ${status} and no JSON.`, {
        cause,
      });
    }
    if (answer.error !== undefined && answer.error !== null) {
      reached();
      throw answeredError(name, method, status, asRecord(answer.error, "an error"));
    }
    if (answer.id !== id || !("result" in answer))
      throw new NodeError("malformed", `The Solana node ${name} answered ${method} with another call's answer.`);
    reached();
    return answer.result;
  }

  return {
    name,
    call,
    doubt() {
      coolUntilMs = now() + DOUBT_MS;
    },
    isCooling: () => now() < coolUntilMs || isSilent(),
  };
}

function answeredError(
  name: string,
  method: string,
  status: number,
  error: Readonly<Record<string, unknown>>,
): NodeError {
  const rpcCode = typeof error.code === "number" ? error.code : 0;
  const words = typeof error.message === "string" ? error.message.slice(0, 300) : "no message";
  const refused =
    REFUSAL_CODES.has(rpcCode) ||
    REFUSAL_STATUSES.has(status) ||
    (method !== "sendTransaction" && !PLAIN_CODES.has(rpcCode) && REFUSAL_WORDS.test(words));
  return new NodeError(
    refused ? "refused" : "answered",
    `The Solana node ${name} refused ${method}: ${words} (${rpcCode}).`,
    { rpcCode },
  );
}

/** The body as text, or undefined as soon as it proves larger than `limit`. */
export async function readText(response: Response, limit: number): Promise<string | undefined> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString("utf8");
}
