import { TradewireError } from "../errors/tradewire-error.ts";

/**
 * unreachable: no proper answer (connection, time-out, overload). refused: the node does not serve this method.
 * answered: the node answered with an error. malformed: the node answered with something else.
 */
export type RpcErrorKind = "unreachable" | "refused" | "answered" | "malformed";

/** A failed call to a Solana node: UPSTREAM_ERROR to everyone outside, with what happened for those who try again. */
export class RpcError extends TradewireError {
  readonly kind: RpcErrorKind;
  /** JSON-RPC error number, where the node gave one. */
  readonly rpcCode: number | undefined;

  constructor(
    kind: RpcErrorKind,
    message: string,
    facts: { readonly rpcCode?: number; readonly cause?: unknown } = {},
  ) {
    super("UPSTREAM_ERROR", message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.kind = kind;
    this.rpcCode = facts.rpcCode;
  }
}

/** True when the failure says that the node does not serve this method at all. */
export function isRefusal(error: unknown): boolean {
  return error instanceof RpcError && error.kind === "refused";
}
