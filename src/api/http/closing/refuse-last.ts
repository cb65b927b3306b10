import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TradewireError } from "../../../errors/tradewire-error.ts";
import { answerRefused } from "../../rpc/forms/refused-request.ts";
import { answeredEarlyOn, unansweredOn, unendedOn } from "../flow/pipeline.ts";
import { linger } from "./linger.ts";
import { lastResponse } from "./refuse-and-close.ts";

/**
 * Bytes read and dropped meanwhile. A client that sends more is cut off: unread, a flood would fill megabytes of system buffers per
 * connection.
 */
const DROPPED_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/** Connections with such a refusal, pending or written: each gets only one. */
const refused = new WeakSet<Socket>();

/**
 * Refuses bytes that are not a valid request on an HTTP/1.1 connection, and closes it. Complete requests before them are answered first:
 * otherwise a client would take the refusal for the answer to the first of these. Nothing more is read meanwhile. If it is the body of a
 * request whose response has begun, the connection closes without a refusal: a client would take that for the answer to its next one.
 *
 * @param lines further headers, each with a line break behind it
 */
export function refuseLast(socket: Socket, failure: TradewireError, requestId: string, lines = ""): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  socket.pause();
  // A request whose body is refused.
  const begun = unendedOn(socket).find(({ req }) => !req.complete)?.req;
  const response =
    answeredEarlyOn(socket) === undefined ? lastResponse(answerRefused(begun, failure, requestId), lines) : NOTHING;
  const last = unansweredOn(socket);
  if (last === undefined) write(socket, response);
  else afterClose(socket, last, () => write(socket, response));
}

/** Calls back once this response, and those queued behind it meanwhile, are written. */
function afterClose(socket: Socket, response: ServerResponse, then: () => void): void {
  response.once("close", () => {
    const next = unansweredOn(socket);
    if (next === undefined) then();
    else afterClose(socket, next, then);
  });
}

function write(socket: Socket, response: Buffer): void {
  // A response before it has closed the connection.
  if (!socket.writable) return;
  if (response.length > 0) socket.write(response);
  linger(socket, DROPPED_BYTES);
}
