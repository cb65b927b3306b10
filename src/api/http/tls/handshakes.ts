import type { Socket } from "node:net";
import { ConnectionTurns, ignore } from "../opening/connection-turns.ts";

/** What requests begin with, over HTTP/1.1 or as the preface of HTTP/2. */
const PLAIN_HTTP = /^[A-Z]{3,7} /;
const LONGEST_METHOD = 8;

interface HandshakeParts {
  /** Longest time until a connection sends its first bytes. Milliseconds. */
  readonly silentMs: number;
  /** Connections that have sent nothing yet. */
  readonly undecided: Set<Socket>;
  /** Refuses a connection that begins a request without TLS. */
  readonly refusePlain: (socket: Socket) => void;
  /** Has the server begin the handshake of a connection; what was read of it is put back. */
  readonly shakeHands: (socket: Socket) => void;
}

/**
 * Begins TLS handshakes, one in a turn of the event loop, in the order in which clients ask for them: each takes a signature, 0.1 to 1 ms,
 * and a thousand clients may ask in the same turn.
 */
export class Handshakes {
  readonly #parts: HandshakeParts;
  readonly #turns = new ConnectionTurns();

  constructor(parts: HandshakeParts) {
    this.#parts = parts;
  }

  /** Begins a connection's handshake once it has sent something. Closes it if it stays silent or there is no room. */
  begin(socket: Socket): void {
    const { silentMs, undecided, refusePlain, shakeHands } = this.#parts;
    const silent = setTimeout(() => socket.destroy(), silentMs);
    const forget = () => {
      undecided.delete(socket);
      clearTimeout(silent);
    };
    const abandon = () => void socket.destroy();
    const read = () => {
      const first: Buffer | null = socket.read();
      if (first === null) return;
      forget();
      socket.off("readable", read).off("end", abandon).off("close", forget);
      if (PLAIN_HTTP.test(first.toString("latin1", 0, LONGEST_METHOD))) return refusePlain(socket);
      socket.unshift(first);
      if (!this.#turns.take(socket, first.length, () => shakeHands(socket))) socket.destroy();
    };
    undecided.add(socket);
    socket.on("readable", read).on("end", abandon).on("close", forget).on("error", ignore);
  }
}
