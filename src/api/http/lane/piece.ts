/**
 * A piece of an answer that is written again and again, in ASCII. It lies in doubles, eight characters in each: bytes are copied one by
 * one, and characters at half the speed of bytes. The bits of ASCII are those of a number.
 */
export class Piece {
  /** Characters. */
  readonly length: number;
  /** The last one is filled up. */
  readonly doubles: readonly number[];

  /** @throws RangeError if the text is not ASCII */
  constructor(text: string) {
    const bytes = Buffer.from(text);
    if (bytes.some((byte) => byte > 0x7e)) throw new RangeError(`${text} is not ASCII`);
    this.length = bytes.length;
    const filled = Buffer.concat([bytes, Buffer.alloc(8)]);
    this.doubles = Array.from({ length: Math.ceil(bytes.length / 8) }, (_, i) => filled.readDoubleLE(8 * i));
  }
}
