/** Bytes of control frames that may come at once, and in each second. A WINDOW_UPDATE has 13. */
const BURST_BYTES = 64 * 1024;
const BYTES_PER_SECOND = 16 * 1024;
/** A client acknowledges what it reads: bytes allowed per byte sent to it. */
const PER_BYTE_SENT = 1 / 16;
/** Allowed for a body that declares as much or more. */
const BODY_BYTES = 256 * 1024;
/** Allowed for a body that declares no length: it may be a stream of messages. */
const STREAM_BYTES = 512 * 1024;
/** Frame and field overhead of a request head. */
const HEAD_OVERHEAD = 256;

/**
 * What an HTTP/2 client may send beside its requests. The protocol library handles floods of settings, pings and resets itself but accepts
 * any number of WINDOW_UPDATE frames; here every byte that is not part of a request counts.
 */
export class ControlAllowance {
  #left = BURST_BYTES;
  /** Allowed for bodies that have not arrived yet, until they do. */
  #bodies = 0;
  #read = 0;
  #sent = 0;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /**
   * Adds what a request may take: its head, and its body unless it has none.
   * @returns the part of its body, for `endBody`
   */
  addRequest(rawHeaders: readonly string[], contentLength: string | undefined, hasBody: boolean): number {
    let bytes = HEAD_OVERHEAD;
    for (const text of rawHeaders) bytes += text.length;
    const declared = contentLength === undefined ? STREAM_BYTES : Math.min(Number(contentLength) || 0, BODY_BYTES);
    const body = hasBody ? declared : 0;
    this.#left += bytes + body;
    this.#bodies += body;
    return body;
  }

  /** Adds bytes that were read of a body longer than what is kept for it. */
  credit(bytes: number): void {
    this.#left += bytes;
  }

  /** Ends what is kept for a body, once it has come or its stream is closed. @param bytes of `addRequest` */
  endBody(bytes: number): void {
    this.#bodies -= bytes;
  }

  /** Charges the bytes since the last call. False if the client sent more than it may. @param bytes total so far */
  charge(bytes: { readonly read: number; readonly sent: number }, nowMs: number): boolean {
    const refill = ((nowMs - this.#atMs) / 1_000) * BYTES_PER_SECOND + (bytes.sent - this.#sent) * PER_BYTE_SENT;
    this.#left += refill - (bytes.read - this.#read);
    this.#read = bytes.read;
    this.#sent = bytes.sent;
    this.#atMs = nowMs;
    if (this.#left < 0) return false;
    this.#left = Math.min(this.#left, BURST_BYTES + this.#bodies);
    return true;
  }
}
