import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";

/** True if a response can still be written: none was started and the client is connected. For HTTP/1.1 and HTTP/2. */
export function isOpen(response: ServerResponse): boolean {
  return !response.headersSent && isConnected(response);
}

/** True while the client can still receive the rest of a response. For HTTP/1.1 and HTTP/2. */
export function isConnected(response: ServerResponse): boolean {
  if (response.destroyed) return false;
  const { stream } = response as unknown as Http2ServerResponse;
  if (stream !== undefined) return !(stream.destroyed || stream.closed);
  // A write that fails destroys the socket; the response learns it later.
  return response.socket?.destroyed !== true;
}
