import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { TradewireError } from "../../../errors/tradewire-error.ts";
import { answerRefused, type RefusedAnswer } from "../../rpc/forms/refused-request.ts";

const refused = new WeakSet<Socket>();
/** Connections that get no further request served. */
const stopped = new WeakSet<Socket>();

/** True if the last response of this connection is a refusal: whatever else is wrong on it gets no response of its own. */
export const isClosingRefused = (socket: Socket): boolean => refused.has(socket);

/** True if nothing after the last request of this connection is served. */
export const isStopped = (socket: Socket): boolean => stopped.has(socket);

/**
 * Refuses a request of an HTTP/1.1 connection in its turn, after the responses before it, and closes the connection then. Nothing
 * behind the request is read, parsed or served.
 */
export function refuseAndClose(
  socket: Socket,
  response: ServerResponse,
  failure: TradewireError,
  requestId: string,
): void {
  const { status, headers, body } = answerRefused(response.req, failure, requestId);
  refused.add(socket);
  response.shouldKeepAlive = false;
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
  socket.pause();
  stopParser(socket);
}

/** Refuses a connection before any request of it was read, and closes it. */
export function refuseUnread(socket: Socket, failure: TradewireError, requestId: string): void {
  socket.on("error", () => socket.destroy());
  socket.end(lastResponse(answerRefused(undefined, failure, requestId)), () => setImmediate(() => socket.destroy()));
}

/** The bytes of a response that closes its HTTP/1.1 connection. @param lines further headers, each with a line break behind it */
export function lastResponse({ status, headers, body }: RefusedAnswer, lines = ""): Buffer {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  return Buffer.concat([
    Buffer.from(`${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n`, "latin1"),
    body,
  ]);
}

/**
 * Serves the request of this response and closes the connection after it. Nothing behind the request is served. For requests that
 * offer another protocol: Node drops what follows them in the same read, and would take the rest for the beginning of a request.
 */
export function closeAfter(socket: Socket, response: ServerResponse): void {
  response.shouldKeepAlive = false;
  stopParser(socket);
}

/** What Node's HTTP parser calls for each head, by its number; internal to Node, so it may be missing. */
interface Parser {
  readonly constructor: { readonly kOnHeadersComplete?: number };
  [callback: number]: () => unknown;
}

/**
 * Leaves the rest of what was read unparsed: thousands of requests may stand in one read, and Node makes objects of each. To
 * the parser the next request looks like one that leaves HTTP. Parsers are used again, so its callback is put back at once.
 */
function stopParser(socket: Socket): void {
  const { parser } = socket as { readonly parser?: Parser | null };
  const at = parser?.constructor.kOnHeadersComplete;
  // Stopped twice, the parser would get back what stopped it first, and stop the next connection that uses it.
  const isStoppedBefore = stopped.has(socket);
  stopped.add(socket);
  if (parser == null || at === undefined || isStoppedBefore) return;
  const own = parser[at]!;
  const restore = () => {
    parser[at] = own;
  };
  parser[at] = () => {
    restore();
    return LEAVES_HTTP;
  };
  socket.once("close", restore);
}

/** What the callback returns for an upgrade. */
const LEAVES_HTTP = 2;
