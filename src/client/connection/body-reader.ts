import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Bytes of an answer at most, once decompressed. One without end would fill the memory of a process that may hold the only record
 * of what it signed.
 */
const MOST_BYTES = 1 << 22;

/** Reads the body of a response in parts, or to its end. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #chunks: Uint8Array[] = [];
  #length = 0;

  readonly #most: number;

  /** @param most bytes of the body, or of one part of it, that are read */
  constructor({ body }: Pick<Response, "body">, most = MOST_BYTES) {
    this.#reader = body?.getReader();
    this.#most = most;
  }

  /** The next bytes. @throws ConnectError if the body ends before them, or if they are too many */
  async take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (length > this.#most) throw tooLong(this.#most);
    while (this.#length < length) {
      if (!(await this.#more())) throw new ConnectError("the stream ended early", Code.Unknown);
    }
    const bytes = this.#join();
    this.#chunks = [bytes.subarray(length)];
    this.#length = bytes.length - length;
    return bytes.subarray(0, length);
  }

  /** All bytes to the end, which closes the body. @throws ConnectError if they are too many */
  async rest(): Promise<Uint8Array<ArrayBuffer>> {
    try {
      while (await this.#more()) if (this.#length > this.#most) throw tooLong(this.#most);
      return this.#join();
    } finally {
      await this.close();
    }
  }

  /** Reads no more. */
  async close(): Promise<void> {
    await this.#reader?.cancel().catch(() => undefined);
  }

  async #more(): Promise<boolean> {
    const { done = true, value } = (await this.#reader?.read()) ?? {};
    if (done || value === undefined) return false;
    this.#chunks.push(value);
    this.#length += value.length;
    return true;
  }

  /** Joined once for all that wait, so that many small parts cost no more than few large ones. */
  #join(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }
}

function tooLong(most: number): ConnectError {
  return new ConnectError(`the response is longer than ${most} bytes`, Code.Unknown);
}
