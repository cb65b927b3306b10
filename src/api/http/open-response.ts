import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";

/** True if a response can still be written: none was started and the client is connected. For HTTP/1.1 and HTTP/2. */
export function isOpen(response: ServerResponse): boolean {
  if (response.headersSent || response.destroyed) return false;
  const { stream } = response as unknown as Http2ServerResponse;
  return stream === undefined || !(stream.destroyed || stream.closed);
}
