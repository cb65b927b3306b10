/** Bytes before each message: whether it is compressed, and its length. */
export const PREFIX_BYTES = 5;
/** The largest account is 10 MiB. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Cuts a stream of bytes into messages. Only a message that spans two chunks is copied: allocating memory outside the heap for each chunk
 * would make the collector's steps longer than the work.
 */
export class FrameReader {
  readonly #onMessage: (message: Uint8Array) => void;
  readonly #mostAtOnce: number;
  /** The beginning of an incomplete message. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Bytes needed to complete it, or to know its length. */
  #wanted = PREFIX_BYTES;

  /**
   * @param onMessage receives each message, which is valid only during the call
   * @param mostAtOnce messages of one chunk read at a time
   */
  constructor(onMessage: (message: Uint8Array) => void, mostAtOnce = Number.POSITIVE_INFINITY) {
    this.#onMessage = onMessage;
    this.#mostAtOnce = mostAtOnce;
  }

  /**
   * @returns the rest, to be read later but before the next chunk
   * @throws Error if a message is compressed or too large
   */
  read(chunk: Buffer): Buffer | undefined {
    let at = 0;
    let read = 0;
    while (this.#length > 0 && this.#length + chunk.length - at >= this.#wanted) at = this.#complete(chunk, at);
    if (this.#length === 0) {
      while (chunk.length - at >= PREFIX_BYTES) {
        const end = at + PREFIX_BYTES + sizeOf(chunk, at);
        if (chunk.length < end) {
          this.#wanted = end - at;
          break;
        }
        this.#onMessage(chunk.subarray(at + PREFIX_BYTES, end));
        at = end;
        if (++read >= this.#mostAtOnce && at < chunk.length) return chunk.subarray(at);
      }
    }
    if (at === chunk.length) return undefined;
    this.#parts.push(chunk.subarray(at));
    this.#length += chunk.length - at;
    return undefined;
  }

  /** Completes the incomplete message from the chunk. @returns where the rest begins */
  #complete(chunk: Buffer, at: number): number {
    const end = at + this.#wanted - this.#length;
    const bytes = Buffer.concat([...this.#parts, chunk.subarray(at, end)], this.#wanted);
    this.#parts = [bytes];
    this.#length = bytes.length;
    if (this.#wanted === PREFIX_BYTES) this.#wanted += sizeOf(bytes, 0);
    if (bytes.length < this.#wanted) return end;
    this.#parts = [];
    this.#length = 0;
    this.#wanted = PREFIX_BYTES;
    this.#onMessage(bytes.subarray(PREFIX_BYTES));
    return end;
  }
}

function sizeOf(bytes: Buffer, at: number): number {
  if (bytes[at] !== 0) throw new Error("a compressed message was sent without being asked for");
  const size = bytes.readUInt32BE(at + 1);
  if (size > MAX_MESSAGE_BYTES) throw new Error(`a message of ${size} bytes is too large`);
  return size;
}
