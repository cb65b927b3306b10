import type { Duplex } from "node:stream";
import { deserialize, serialize } from "node:v8";
import { viewOf } from "../primitives/bytes.ts";

const LENGTH_BYTES = 4;
/** Above the largest program with its envelope. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Values sent over a stream, each behind its length. */
export class Channel {
  readonly #stream: Duplex;
  #chunks: Buffer[] = [];
  #held = 0;

  /** @param receive gets each value that arrives; a stream that carries anything else is destroyed */
  constructor(stream: Duplex, receive: (value: unknown) => void) {
    this.#stream = stream;
    stream.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#held += chunk.length;
      try {
        for (let value = this.#next(); value !== undefined; value = this.#next()) receive(value.value);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
  }

  send(value: unknown): void {
    const body = serialize(value);
    const head = Buffer.alloc(LENGTH_BYTES);
    head.writeUInt32LE(body.length);
    this.#stream.write(head);
    this.#stream.write(body);
  }

  #next(): { readonly value: unknown } | undefined {
    if (this.#held < LENGTH_BYTES) return undefined;
    const first = this.#chunks[0]!.length < LENGTH_BYTES ? this.#join() : this.#chunks[0]!;
    const length = viewOf(first).getUint32(0, true);
    if (length > MAX_MESSAGE_BYTES) throw new RangeError("a message is too long");
    if (this.#held < LENGTH_BYTES + length) return undefined;
    const whole = this.#join();
    const rest = whole.subarray(LENGTH_BYTES + length);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#held = rest.length;
    return { value: deserialize(whole.subarray(LENGTH_BYTES, LENGTH_BYTES + length)) };
  }

  #join(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}
