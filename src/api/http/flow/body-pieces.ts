import type { Readable } from "node:stream";

/**
 * Pieces, frames of HTTP/2 or chunks of HTTP/1.1, that one body may come in in one turn of the event loop, and all bodies of one
 * connection. Each takes some microseconds and, while it waits to be read, some 300 bytes, however small it is, and one read has room for
 * 10,900 of a byte. Honest pieces have kilobytes, and bodies come in two or three.
 */
const MOST_OF_BODY = 256;
const MOST_OF_CONNECTION = 1_024;
/**
 * Pieces of one body that may wait unread from one turn to the next, unless their average size is at least this many bytes. A body that is
 * read may come a byte at a time: a proxy may forward it so, and each read of a connection ends a piece.
 */
const MOST_WAITING = 256;
const LEAST_BYTES = 16;
/** The same for one body over its whole time: its reader may keep the pieces. A call has up to 1,800 bytes. */
const MOST_SMALL = 2_048;

/** Turns of the event loop in which pieces came, over all connections. */
let turn = 0;
let isCounting = false;

function endTurn(): void {
  turn++;
  isCounting = false;
}

/** Counts pieces; the count restarts in each turn of the event loop. */
class PieceCount {
  #turn = -1;
  #count = 0;

  /** Counts one piece. @returns the pieces of this turn */
  add(): number {
    if (!isCounting) {
      isCounting = true;
      setImmediate(endTurn);
    }
    if (this.#turn !== turn) {
      this.#turn = turn;
      this.#count = 0;
    }
    return ++this.#count;
  }
}

/** Bounds the pieces in which the bodies of one connection come. */
export class BodyPieces {
  readonly #all = new PieceCount();
  readonly #isShared: boolean;
  readonly #onFlood: () => void;
  #isFlooding = false;

  /**
   * @param isShared whether a proxy sends the requests of many clients over the connection: then a body in too many pieces is cut and
   * refused, but the connection stays
   * @param onFlood called in the middle of a read, once one body, or all together, come in too many pieces
   */
  constructor(isShared: boolean, onFlood: () => void) {
    this.#isShared = isShared;
    this.#onFlood = onFlood;
  }

  /** Counts the pieces of a body from now on, as the protocol library delivers them. @param stream an HTTP/2 stream, or a request */
  watch(stream: Readable): void {
    let own: PieceCount | undefined;
    let pieces = 0;
    let bytes = 0;
    let waiting = 0;
    let isCut = false;
    const { push } = stream;
    stream.push = (piece, encoding) => {
      // A cut body never ends: its received part must not count as the whole body.
      if (piece === null) return isCut || this.#isFlooding ? false : push.call(stream, piece, encoding);
      pieces++;
      bytes += (piece as Buffer).length;
      own ??= new PieceCount();
      const inTurn = own.add();
      // The reader has read everything from earlier turns.
      const { readableLength } = stream;
      if (inTurn === 1 && readableLength === 0) waiting = 0;
      const isUnread = inTurn === 1 && waiting > MOST_WAITING && readableLength < waiting * LEAST_BYTES;
      const isTooMany = inTurn > MOST_OF_BODY || isUnread || (pieces > MOST_SMALL && bytes < pieces * LEAST_BYTES);
      waiting++;
      if ((this.#all.add() > MOST_OF_CONNECTION || isTooMany) && !this.#isShared) this.#flood();
      if (isTooMany && !isCut) {
        isCut = true;
        setImmediate(() => stream.destroy());
      }
      // False: nothing more may be read.
      return !isCut && !this.#isFlooding && push.call(stream, piece, encoding);
    };
  }

  #flood(): void {
    if (this.#isFlooding) return;
    this.#isFlooding = true;
    this.#onFlood();
  }
}
