import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

/** The object shared by all requests of a connection, over HTTP/1.1 or HTTP/2. */
export function connectionOf(request: IncomingMessage): object {
  return request.httpVersionMajor === 2
    ? ((request as unknown as Http2ServerRequest).stream.session ?? request)
    : request.socket;
}
