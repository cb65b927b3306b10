import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";

/** True if a response can still be written: none was started and the client is connected. For HTTP/1.1 and HTTP/2. */
export function isOpen(response: ServerResponse): boolean {
  return !response.headersSent && isConnected(response);
}

/** Calls the listener if the client disconnects, over HTTP/1.1 or HTTP/2. @returns ends that: a connection outlives its responses */
export function onDisconnect(response: ServerResponse, listener: () => void): () => void {
  const { stream } = response as unknown as Http2ServerResponse;
  const connection = stream ?? response.socket;
  connection?.once("close", listener);
  return () => void connection?.off("close", listener);
}

/** True while the client can still receive the rest of a response. For HTTP/1.1 and HTTP/2. */
export function isConnected(response: ServerResponse): boolean {
  if (response.destroyed) return false;
  const { stream } = response as unknown as Http2ServerResponse;
  if (stream !== undefined) return !(stream.destroyed || stream.closed);
  // A write that fails destroys the socket; the response learns it later.
  return response.socket?.destroyed !== true;
}
