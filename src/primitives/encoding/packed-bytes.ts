/** Longer data is not packed. Bytes. */
const MAX_BYTES = 64 * 1024;
/** Bytes that are kept or left out together. */
const WORD = 8;
const MAX_MAP = MAX_BYTES / WORD / 8;

/** The part of the bytes that the packed form takes at most. */
const MOST_KEPT = 0.75;

/** The packed form while it is written or read: the map, then the words. */
const scratch = new Uint8Array(MAX_MAP + MAX_BYTES);
/** The same as pairs of halves of words; typed arrays of eight bytes an item would read bigints. */
const scratchHalves = new Int32Array(scratch.buffer);

/**
 * Bytes without their zeros: a bit for each word of eight bytes that says whether it holds anything, those that do, and what follows the
 * last whole word. It lies in the heap as text, one character a byte: a small array of bytes would take several hundred bytes more.
 */
export class PackedBytes {
  readonly length: number;
  readonly #text: string;
  #unpacked: WeakRef<Uint8Array> | undefined;

  private constructor(length: number, text: string) {
    this.length = length;
    this.#text = text;
  }

  /** Undefined if it would save less than a quarter, or for more than 64 KiB. */
  static of(bytes: Uint8Array): PackedBytes | undefined {
    const { length } = bytes;
    if (length > MAX_BYTES) return undefined;
    const halves = halvesOf(bytes);
    const mapBytes = mapBytesOf(length);
    scratch.fill(0, 0, mapBytes);
    let out = mapBytes >> 2;
    const end = (MOST_KEPT * length) >> 2;
    for (let at = 0; at < halves.length; at += 2) {
      const [low, high] = [halves[at]!, halves[at + 1]!];
      if ((low | high) === 0) continue;
      if (out >= end) return undefined;
      const word = at >> 1;
      scratch[word >> 3]! |= 1 << (word & 7);
      scratchHalves[out++] = low;
      scratchHalves[out++] = high;
    }
    let size = out << 2;
    for (let at = length - (length % WORD); at < length; at++) scratch[size++] = bytes[at]!;
    return new PackedBytes(length, Buffer.prototype.latin1Slice.call(scratch, 0, size));
  }

  /** The bytes, the same array for as long as anybody keeps it. It is not to be written to. */
  get bytes(): Uint8Array {
    const known = this.#unpacked?.deref();
    if (known !== undefined) return known;
    const bytes = this.#unpack();
    this.#unpacked = new WeakRef(bytes);
    return bytes;
  }

  equals(other: PackedBytes): boolean {
    return this.length === other.length && this.#text === other.#text;
  }

  #unpack(): Uint8Array {
    const { length } = this;
    Buffer.prototype.latin1Write.call(scratch, this.#text, 0, this.#text.length);
    const bytes = new Uint8Array(length);
    const halves = halvesOf(bytes);
    const mapBytes = mapBytesOf(length);
    let from = mapBytes >> 2;
    for (let at = 0; at < mapBytes; at++) {
      for (let bits = scratch[at]!; bits !== 0; bits &= bits - 1) {
        const to = (at << 4) + ((31 - Math.clz32(bits & -bits)) << 1);
        halves[to] = scratchHalves[from++]!;
        halves[to + 1] = scratchHalves[from++]!;
      }
    }
    let last = from << 2;
    for (let at = length - (length % WORD); at < length; at++) bytes[at] = scratch[last++]!;
    return bytes;
  }
}

/** Of the bits for as many bytes, in whole words. */
const mapBytesOf = (length: number): number => Math.ceil(Math.floor(length / WORD) / 64) * WORD;

/** The halves of the whole words. */
function halvesOf(bytes: Uint8Array): Int32Array {
  // Not `slice`: Node's buffers answer it with a view of the same memory.
  const { buffer, byteOffset, length } = isAligned(bytes) ? bytes : new Uint8Array(bytes);
  return new Int32Array(buffer, byteOffset, (length >> 3) << 1);
}

const isAligned = ({ byteOffset }: Uint8Array): boolean => byteOffset % 4 === 0;
