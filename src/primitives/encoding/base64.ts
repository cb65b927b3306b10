const SEXTETS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const PAD = 0x3d;

/**
 * Writes base64 into memory of its own, from which it is copied to where it is wanted. Node makes a text of it instead, an object
 * as long as the text for every call.
 */
export class Base64Writer {
  /** Where the text is, from `front` on, until the next one is written. */
  readonly text: Buffer;
  readonly front: number;
  /** The longest source. Bytes. */
  readonly most: number;
  readonly #isUrl: boolean;
  /** The same memory as the text. The first character of four is the lowest byte: so is it on every machine that Node runs on. */
  readonly #words: Uint32Array;
  /** Two characters, by the twelve bits that they stand for. */
  readonly #pairs = new Uint16Array(1 << 12);

  /**
   * @param variant "base64url" has no padding
   * @param most the longest source. Bytes
   * @param front room before the text. Bytes, a multiple of four
   */
  constructor(variant: "base64" | "base64url", most: number, front = 0) {
    this.#isUrl = variant === "base64url";
    this.front = front;
    this.most = most;
    this.#words = new Uint32Array(front / 4 + Math.ceil(most / 3));
    this.text = Buffer.from(this.#words.buffer);
    const alphabet = SEXTETS + (this.#isUrl ? "-_" : "+/");
    for (let bits = 0; bits < this.#pairs.length; bits++)
      this.#pairs[bits] = alphabet.charCodeAt(bits >> 6) | (alphabet.charCodeAt(bits & 63) << 8);
  }

  /** Writes the text of the bytes between two places, `most` of them or fewer. @returns its end */
  write(bytes: Uint8Array, from = 0, to = bytes.length): number {
    const words = this.#words;
    const pairs = this.#pairs;
    const whole = to - ((to - from) % 3);
    let word = this.front / 4;
    for (let at = from; at < whole; at += 3) {
      const bits = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      words[word++] = pairs[bits >>> 12]! | (pairs[bits & 0xfff]! << 16);
    }
    const end = 4 * word;
    return whole === to ? end : this.#writeLast(end, bytes[whole]!, whole + 1 === to ? undefined : bytes[whole + 1]!);
  }

  /** Writes the last one or two bytes. */
  #writeLast(at: number, first: number, second: number | undefined): number {
    const { text } = this;
    const bits = (first << 16) | ((second ?? 0) << 8);
    text.writeUInt16LE(this.#pairs[bits >>> 12]!, at);
    text.writeUInt16LE(this.#pairs[bits & 0xfff]!, at + 2);
    const end = at + (second === undefined ? 2 : 3);
    if (this.#isUrl) return end;
    text.fill(PAD, end, at + 4);
    return at + 4;
  }
}
