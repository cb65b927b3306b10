import http2 from "node:http2";
import type { Socket } from "node:net";
import { HTTP2_PREFACE } from "../sniff-protocol.ts";
import { countRequests } from "./first-requests.ts";

const { NGHTTP2_ENHANCE_YOUR_CALM } = http2.constants;

/** Requests beyond its streams that a connection may send before it is closed: it may not have read yet how many it may have. */
export const MAX_INVALID = 100;
/**
 * Bytes that all connections waiting for their turn may hold: what was read of each, and a share for what Node reads of it meanwhile.
 * Honest clients have sent little by then, and many come at once after a restart: there is room for a thousand.
 */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
const SHARE_BYTES = 16 * 1024;

/** What a session begins with. */
interface OpeningParts {
  /** Streams that a new connection may have open at once. It counts the connection. */
  readonly streams: () => number;
  /** Begins a session that announces this many streams. */
  readonly begin: (socket: Socket, streams: number) => void;
}

/**
 * Begins HTTP/2 sessions, one in a turn of the event loop: to make one and to take its first requests costs some hundred microseconds.
 * A connection whose first bytes have more requests than the protocol library would bear is refused from these bytes, which costs a
 * tenth. GOAWAY says that nothing of it was served, so that all may be repeated.
 */
export class SessionOpenings {
  readonly #parts: OpeningParts;
  readonly #waiting: (() => void)[] = [];
  #heldBytes = 0;
  #hasBegun = false;

  constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  /** Begins the session of a connection, now or in one of the next turns. @param first what was read of it and put back, if anything */
  readonly open = (socket: Socket, first?: Buffer): void => {
    const streams = this.#parts.streams();
    const isFlood = first !== undefined && countRequests(first, HTTP2_PREFACE.length) > streams + MAX_INVALID;
    const heldBytes = SHARE_BYTES + (first?.length ?? 0);
    if (isFlood || this.#heldBytes + heldBytes > MAX_HELD_BYTES) {
      refuse(socket);
      return;
    }
    if (!this.#hasBegun) {
      this.#begin(socket, streams);
      return;
    }
    // Nobody else listens while it waits: without a listener, Node ends the process.
    socket.on("error", ignore);
    this.#heldBytes += heldBytes;
    this.#waiting.push(() => {
      this.#heldBytes -= heldBytes;
      if (!socket.destroyed) this.#begin(socket, streams);
    });
  };

  #begin(socket: Socket, streams: number): void {
    this.#hasBegun = true;
    setImmediate(this.#endTurn);
    this.#parts.begin(socket, streams);
  }

  readonly #endTurn = (): void => {
    this.#hasBegun = false;
    while (!this.#hasBegun && this.#waiting.length > 0) this.#waiting.shift()!();
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

function ignore(): void {}
