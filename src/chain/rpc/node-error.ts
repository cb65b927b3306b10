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
