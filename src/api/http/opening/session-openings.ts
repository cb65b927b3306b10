import http2 from "node:http2";
import type { Socket } from "node:net";
import { HTTP2_PREFACE } from "../sniff-protocol.ts";
import { ConnectionTurns, ignore } from "./connection-turns.ts";
import { countRequests } from "./first-requests.ts";

const { NGHTTP2_ENHANCE_YOUR_CALM } = http2.constants;

/** Requests beyond its streams that a connection may send before it is closed: it may not have read yet how many it may have. */
export const MAX_INVALID = 100;
/** What a session begins with. */
interface OpeningParts {
  /** Streams that a new connection may have open at once. It counts the connection. */
  readonly streams: () => number;
  /** Begins a session that announces this many streams. */
  readonly begin: (socket: Socket, streams: number) => void;
}

/**
 * Begins HTTP/2 sessions, one per turn of the event loop: creating one and receiving its first requests costs some hundred microseconds. A
 * connection whose first bytes hold more requests than the protocol library accepts is refused from these bytes, at a tenth of the cost.
 * GOAWAY says that nothing of it was served, so that all may be repeated.
 */
export class SessionOpenings {
  readonly #parts: OpeningParts;
  readonly #turns = new ConnectionTurns();

  constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  /** Begins the session of a connection, now or in one of the next turns. @param first what was read of it and put back, if anything */
  readonly open = (socket: Socket, first?: Buffer): void => {
    const streams = this.#parts.streams();
    const isFlood = first !== undefined && countRequests(first, HTTP2_PREFACE.length) > streams + MAX_INVALID;
    if (isFlood || !this.#turns.take(socket, first?.length ?? 0, () => this.#parts.begin(socket, streams)))
      refuse(socket);
  };
}

/** SETTINGS, which comes first on every connection, and GOAWAY: no stream was processed. */
const REFUSAL = Buffer.of(
  ...[0, 0, 0, 4, 0, 0, 0, 0, 0],
  ...[0, 0, 8, 7, 0, 0, 0, 0, 0],
  ...[0, 0, 0, 0],
  ...[0, 0, 0, NGHTTP2_ENHANCE_YOUR_CALM],
);

/** Tells the client to calm down and closes the connection. */
function refuse(socket: Socket): void {
  socket.on("error", ignore);
  socket.end(REFUSAL, () => setImmediate(() => socket.destroy()));
}
