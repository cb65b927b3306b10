import { moduleOf } from "../wasm/wasm-code.ts";
import { base64Body, base64Constants, CONSTANT_BYTES, ENCODED_BYTES } from "./base64-code.ts";

const PAD = 0x3d;
/** Where the code's constants, the source and the text lie in the memory. Bytes. */
const CONSTANTS = 0;
const FROM = CONSTANT_BYTES;
const TEXT = 32 * 1024;
const MOST = 23 * 1024;

/**
 * Writes base64 on vectors of bytes, into memory of its own, from which it is copied to where it is wanted. Node makes a text of it instead, an
 * object as long as the text for every call.
 */
export class Base64Writer {
  /** The longest source. Bytes. */
  static readonly most = MOST;
  /** Begins with the text, until the next one is written. */
  readonly text: Buffer;
  readonly #source: Uint8Array;
  readonly #encode: (to: number, from: number, count: number) => void;

  private constructor() {
    const module = new WebAssembly.Module(
      moduleOf([{ name: "encode", parameters: 3, body: () => base64Body(CONSTANTS) }]),
    );
    const { memory, encode } = new WebAssembly.Instance(module).exports as unknown as {
      readonly memory: WebAssembly.Memory;
      readonly encode: (to: number, from: number, count: number) => void;
    };
    new Uint8Array(memory.buffer).set(base64Constants("+/"), CONSTANTS);
    this.#source = new Uint8Array(memory.buffer, FROM, TEXT - FROM);
    this.text = Buffer.from(memory.buffer, TEXT);
    this.#encode = encode;
  }

  /** Undefined if the machine has no WebAssembly with vectors. */
  static open(): Base64Writer | undefined {
    try {
      return new Base64Writer();
    } catch {
      return undefined;
    }
  }

  /** Writes the text of at most `most` bytes. @returns its length */
  write(bytes: Uint8Array): number {
    const { length } = bytes;
    const source = this.#source;
    source.set(bytes);
    // The last character may stand for bits beyond the last byte.
    source[length] = 0;
    source[length + 1] = 0;
    this.#encode(TEXT, FROM, Math.ceil(length / ENCODED_BYTES));
    const end = 4 * Math.ceil(length / 3);
    const rest = length % 3;
    if (rest > 0) this.text[end - 1] = PAD;
    if (rest === 1) this.text[end - 2] = PAD;
    return end;
  }
}
