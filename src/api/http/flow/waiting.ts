import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/**
 * Bytes that wait for one client to read them, on an HTTP/1.1 connection or an HTTP/2 stream, and since when the client has read none.
 * Checked periodically: a client that reads pays nothing.
 */
interface Waiting {
  /** Checks again. Returns the bytes that wait now. */
  look(nowMs: number): number;
  /** How long nothing was read while something waited. Milliseconds. */
  stalledMs(nowMs: number): number;
}

/** An HTTP/1.1 connection. */
export class WaitingConnection implements Waiting {
  readonly #socket: Socket;
  #written = 0;
  #sinceMs: number | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  look(nowMs: number): number {
    const { writableLength } = this.#socket;
    if (writableLength === 0) {
      this.#sinceMs = undefined;
      return 0;
    }
    const written = this.#socket.bytesWritten - writableLength;
    if (this.#sinceMs === undefined || written !== this.#written) this.#sinceMs = nowMs;
    this.#written = written;
    return writableLength;
  }

  stalledMs(nowMs: number): number {
    return this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
  }
}

/** An HTTP/2 stream. One whose response has ended waits too, until its last frame is sent. */
export class WaitingStream implements Waiting {
  /** Bytes that its connection may send for its body. */
  bodyBytes: number;
  readonly stream: ServerHttp2Stream;
  #length = 0;
  #hasDrained = false;
  #watchesDrain = false;
  #sinceMs: number | undefined;

  constructor(stream: ServerHttp2Stream, bodyBytes: number) {
    this.stream = stream;
    this.bodyBytes = bodyBytes;
  }

  look(nowMs: number): number {
    const { writableLength, writableEnded, closed } = this.stream;
    if (writableLength === 0 && (!writableEnded || closed)) {
      this.#sinceMs = undefined;
      return 0;
    }
    if (this.#sinceMs === undefined || writableLength !== this.#length || this.#hasDrained) this.#sinceMs = nowMs;
    this.#length = writableLength;
    this.#hasDrained = false;
    if (!this.#watchesDrain) {
      this.#watchesDrain = true;
      this.stream.on("drain", () => {
        this.#hasDrained = true;
      });
    }
    return writableLength;
  }

  stalledMs(nowMs: number): number {
    return this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
  }
}
