import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";

/** Whether an answer can still be given: none was begun, and its caller has not left. On either protocol. */
export function isOpen(response: ServerResponse): boolean {
  if (response.headersSent || response.destroyed) return false;
  const { stream } = response as unknown as Http2ServerResponse;
  return stream === undefined || !(stream.destroyed || stream.closed);
}
