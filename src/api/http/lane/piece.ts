/**
 * A constant ASCII piece of an answer. Stored as doubles, eight characters in each, because bytes are copied one by one and characters at
 * half that speed. ASCII bits always form an ordinary number.
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
