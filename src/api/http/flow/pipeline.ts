import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { httpStatusOf, JSON_TYPE, toEnvelope } from "../envelope.ts";

/** Requests that may wait behind the one being served. */
const MAX_WAITING = 16;

const refusal = new TradewireError(
  "RATE_LIMIT_EXCEEDED",
  `More than ${MAX_WAITING} requests wait on this connection. Read the answers before sending more.`,
  { retryAfterMs: 1_000 },
);

/** The requests of one connection. */
interface Line {
  /** The response begun last. */
  current: ServerResponse | undefined;
  readonly waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
  isRefused: boolean;
}

/**
 * Serves the requests of each HTTP/1.1 connection one after another, each in a turn of the event loop of its own: a client
 * that pipelines gets no more of the service's time than one that waits for its answers. Beyond 16 waiting requests one is
 * refused, and the connection closes after it.
 *
 * @param requestIds makes the id of a refusal
 */
export function serveInTurn(handler: RequestListener, requestIds: () => string): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  const serve = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    line.current = response;
    handler(request, response);
  };
  const serveNextAfter = (line: Line, response: ServerResponse): void => {
    response.once("close", () =>
      setImmediate(() => {
        const next = line.waiting.shift();
        if (next === undefined || next.request.socket.destroyed) return;
        serve(line, next.request, next.response);
        if (line.waiting.length > 0) serveNextAfter(line, next.response);
      }),
    );
  };
  return (request, response) => {
    const { socket } = request;
    let line = lines.get(socket);
    if (line === undefined) {
      line = { current: undefined, waiting: [], isRefused: false };
      lines.set(socket, line);
    }
    const { current, waiting } = line;
    if (waiting.length === 0 && (current === undefined || hasEnded(current))) serve(line, request, response);
    else if (line.isRefused) return;
    else if (waiting.length >= MAX_WAITING) {
      line.isRefused = true;
      refuse(socket, response, requestIds());
    } else {
      waiting.push({ request, response });
      if (waiting.length === 1) serveNextAfter(line, current!);
    }
  };
}

const hasEnded = (response: ServerResponse): boolean => response.writableFinished || response.destroyed;

/** Refuses a request in its turn, closes the connection after it, and reads nothing more. */
function refuse(socket: Socket, response: ServerResponse, requestId: string): void {
  const body = toEnvelope(refusal, requestId);
  response.shouldKeepAlive = false;
  response
    .writeHead(httpStatusOf(refusal), {
      "content-type": JSON_TYPE,
      "content-length": Buffer.byteLength(body),
      "retry-after": "1",
      "x-request-id": requestId,
    })
    .end(body);
  socket.pause();
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
  if (parser == null || at === undefined) return;
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
