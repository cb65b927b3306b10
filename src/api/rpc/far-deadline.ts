import type { IncomingHttpHeaders } from "node:http";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";

/** The longest time of a timer, some 24 days: Node's fire at once if they are set for longer. Milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const READERS = [
  ["grpc-timeout", parseGrpcTimeout],
  ["connect-timeout-ms", parseConnectTimeout],
] as const;

/** Removes a deadline that no timer can be set for: the RPC library sets one for any, and ends the call at once. */
export function dropFarDeadline(headers: IncomingHttpHeaders): void {
  for (const [name, parse] of READERS) {
    const value = headers[name];
    if (value === undefined) continue;
    const { timeoutMs } = parse(String(value), Number.MAX_SAFE_INTEGER);
    if (timeoutMs !== undefined && timeoutMs > MAX_TIMER_MS) delete headers[name];
  }
}
