import { NodeError } from "../node-error.ts";

/** Method not found, and "this program is not indexed here". @see agave rpc-client-api `custom_error.rs` */
const REFUSAL_CODES = new Set([-32601, -32010]);
/** Forbidden, not allowed, gone. */
export const REFUSAL_STATUSES: ReadonlySet<number> = new Set([403, 405, 410]);
const REFUSAL_WORDS =
  /method not found|not (?:supported|available|enabled|allowed)|is disabled|excluded from account secondary/i;
/** "Transaction history is not available from this node" and unsupported versions concern one request, not the method. */
const PLAIN_CODES = new Set([-32011, -32015]);

/**
 * The error of a call that a node answered with an error: "refused" if the node does not serve the method.
 *
 * @param name of the node, for the log
 * @param error as the node wrote it
 */
export function answeredError(
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
