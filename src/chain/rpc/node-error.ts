import { TradewireError } from "../../errors/tradewire-error.ts";

/**
 * - unreachable: no proper answer (connection, time-out, overload)
 * - refused: the node does not serve this method
 * - answered: the node answered with an error
 * - malformed: the answer cannot be used
 * - oversized: the answer cannot be used because it is too large
 */
type NodeErrorKind = "unreachable" | "refused" | "answered" | "malformed" | "oversized";

/** What callers learn about a failed node, by kind: no name, no address, no part of its answer. */
const PUBLIC_MESSAGES: Readonly<Record<NodeErrorKind, string>> = {
  unreachable: "No Solana node answered in time. Try again shortly.",
  refused: "No Solana node here serves what this call needs. Report the request id if it lasts.",
  answered: "A Solana node refused what this call needs. Try again shortly.",
  malformed: "A Solana node gave an answer that cannot be used. Try again shortly.",
  oversized: "A Solana node gave an answer that cannot be used. Try again shortly.",
};

/**
 * A failed call to a Solana node. Its message is for callers and always one of four. What happened, with the node's name and
 * words, is for the log alone: in `cause`, and in `toString()`.
 */
export class NodeError extends TradewireError {
  readonly kind: NodeErrorKind;
  /** JSON-RPC error code, if the node gave one. */
  readonly rpcCode: number | undefined;
  /** True if the node takes no more calls for the moment. */
  readonly isOverLimit: boolean;
  /** True if this is one node's word because another node, which might have contradicted it, did not answer. */
  isUncertain = false;
  readonly #privateMessage: string;

  /** @param privateMessage what happened, for the log */
  constructor(
    kind: NodeErrorKind,
    privateMessage: string,
    facts: { readonly rpcCode?: number; readonly isOverLimit?: boolean; readonly cause?: unknown } = {},
  ) {
    super("UPSTREAM_ERROR", PUBLIC_MESSAGES[kind], { cause: new Error(privateMessage, { cause: facts.cause }) });
    this.kind = kind;
    this.rpcCode = facts.rpcCode;
    this.isOverLimit = facts.isOverLimit === true;
    this.#privateMessage = privateMessage;
  }

  /** For the log. */
  override toString(): string {
    return this.#privateMessage;
  }
}

/** True if the node does not serve the method at all. */
export function isRefusal(error: unknown): boolean {
  return error instanceof NodeError && error.kind === "refused";
}

/** "Transaction history is not available from this node", and a node that does not read transactions of our version. */
const UNSERVED_RECORD_CODES: ReadonlySet<number | undefined> = new Set([-32011, -32015]);

/** True if the node never keeps the requested part of the history. Any other error may be temporary. */
export function isWithoutHistory(error: unknown): boolean {
  return isRefusal(error) || (error instanceof NodeError && UNSERVED_RECORD_CODES.has(error.rpcCode));
}

/** True if the node takes no more calls for the moment. */
export function isOverLimit(error: unknown): boolean {
  return error instanceof NodeError && error.isOverLimit;
}

/** True if the answer cannot be used, such as one that is too large. */
export function isUnusable(error: unknown): boolean {
  return error instanceof NodeError && (error.kind === "malformed" || error.kind === "oversized");
}

/** The text for each error code that a connection can fail with. */
const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "reset the connection",
  EPIPE: "reset the connection",
  ENOTFOUND: "cannot be found: its name does not resolve",
  EAI_AGAIN: "cannot be found: the name server does not answer",
  EHOSTUNREACH: "cannot be reached: no route to the host",
  ENETUNREACH: "cannot be reached: no route to the network",
  ETIMEDOUT: "does not accept connections: timed out",
  ERR_STREAM_PREMATURE_CLOSE: "closed the connection",
  BAD_HTTP: "did not answer in HTTP/1.1",
};

const TLS_CODE = /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|EPROTO)/;

/**
 * Describes how a call failed in transit, for the log: refused, unresolved, TLS, redirected, late. Never contains more of the URL than its
 * host.
 *
 * @param error what the call threw
 * @param timeoutMs how long the call was allowed to take
 */
export function describeConnectionFailure(error: unknown, timeoutMs: number): string {
  if (isNamed(error, "TimeoutError")) return `did not answer within ${timeoutMs} ms`;
  for (const cause of causesOf(error)) {
    const code = codeOf(cause);
    if (code === undefined) continue;
    if (TLS_CODE.test(code)) return `failed the TLS handshake (${code})`;
    return `${BY_CODE[code] ?? "failed the connection"} (${code})`;
  }
  if (causesOf(error).some((cause) => /redirect/i.test(messageOf(cause)))) return "redirected the call";
  return "failed the connection";
}

/** The error and what caused it, outermost first; of several attempts at a connection the first. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let one = error; one !== undefined && one !== null && causes.length < 8; ) {
    causes.push(one);
    one = one instanceof AggregateError && codeOf(one) === undefined ? one.errors[0] : (one as Error).cause;
  }
  return causes;
}

function codeOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === "string" ? code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
