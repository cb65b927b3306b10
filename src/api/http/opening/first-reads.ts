import type { Socket } from "node:net";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { refuseUnread } from "../closing/refuse-and-close.ts";
import { ConnectionTurns } from "./connection-turns.ts";

/** A first read of at most this many bytes takes no turn: one request of most clients, or some hundred small ones. */
const AT_ONCE_BYTES = 8 * 1024;
/** What the server's parser is handed at a time: a connection whose requests wait is paused between two pieces. */
const PIECE_BYTES = 2 * 1024;

const refusal = new TradewireError(
  "RATE_LIMIT_EXCEEDED",
  "Too many connections sent too much at once. Send less with the first request, or connect again later.",
  { retryAfterMs: 1_000 },
);

interface FirstReadParts {
  /** Makes the id of a refusal. */
  readonly requestIds: () => string;
  /** Has the server read a connection. */
  readonly serve: (socket: Socket) => void;
}

/**
 * Hands the first bytes of HTTP/1.1 connections to the server. Of those that begin with many bytes, one is handed over per turn of the
 * event loop: the server parses everything at once, and hundreds of pipelining clients may arrive in one turn.
 */
export class FirstReads {
  readonly #parts: FirstReadParts;
  readonly #turns = new ConnectionTurns();

  constructor(parts: FirstReadParts) {
    this.#parts = parts;
  }

  /** Serves a connection, now or in one of the next turns. Refuses it if those that wait hold too much. @param first what was read of it */
  readonly begin = (socket: Socket, first: Buffer): void => {
    const { requestIds, serve } = this.#parts;
    putBack(socket, first);
    if (first.length <= AT_ONCE_BYTES) serve(socket);
    else if (!this.#turns.take(socket, first.length, () => serve(socket))) refuseUnread(socket, refusal, requestIds());
  };
}

/** Puts back what was read, in pieces: what is put back whole is parsed whole, hundreds of requests of one connection in a turn. */
function putBack(socket: Socket, read: Buffer): void {
  const last = read.length - (read.length % PIECE_BYTES || PIECE_BYTES);
  for (let from = last; from >= 0; from -= PIECE_BYTES) socket.unshift(read.subarray(from, from + PIECE_BYTES));
}
