import { Base64Writer } from "../../../primitives/encoding/base64.ts";
import type { Piece } from "./piece.ts";

/**
 * Answers share blocks, as Node's small buffers do: one that waits for its client keeps no more than this in memory, or twice
 * itself. Bytes.
 */
const BLOCK = 8 * 1024;
/** Room in front of a body, for the head that is written once its length is known. Bytes. */
const HEAD_ROOM = 512;
/** Blocks kept for later answers: enough for those of a pass. */
const MOST_FREE = 16;
/** Longer texts are written by Node; for shorter ones its calls cost more than a loop. */
const SHORT = 32;
/**
 * Room after a text: Node stops before a character that does not fit, and the result must then not have the length of an ASCII text. Bytes.
 */
const LONGEST_CHARACTER = 4;

const [QUOTE, BACKSLASH, MINUS, POINT, ZERO] = [0x22, 0x5c, 0x2d, 0x2e, 0x30];
/** By byte: 1 if an ASCII character needs no escape in JSON. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7e && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** The same byte four times. */
const fourOf = (byte: number): number => Math.imul(byte, 0x01010101);
const [FOUR_ONES, FOUR_SPACES, FOUR_QUOTES] = [fourOf(1), fourOf(0x20), fourOf(QUOTE)];
const [FOUR_BACKSLASHES, HIGH_BITS] = [fourOf(BACKSLASH), fourOf(0x80)];

/** The most digits of a whole number that `#digits` writes. */
const MOST_DIGITS = 10;
/** Smaller numbers are written with exponents by JavaScript. */
const LEAST_DECIMAL = 1e-6;
const [MILLION, BILLION] = [1e6, 1e9];
/** No two decimals with at most fifteen digits share a double. */
const FIFTEEN_DIGITS = 1e15;

const base64 = Base64Writer.open();

const double = new Float64Array(1);
const octets = new Uint8Array(double.buffer);

/** Memory that answers share. */
interface Block {
  readonly bytes: Buffer;
  /** The same memory, by four. */
  readonly words: Int32Array;
  readonly view: DataView;
  /** Answers in it that were taken and not released. */
  held: number;
}

function blockOf(size: number): Block {
  const bytes = Buffer.allocUnsafeSlow(size);
  return { bytes, words: new Int32Array(bytes.buffer, 0, size >> 2), view: new DataView(bytes.buffer), held: 0 };
}

/** An answer as it is sent. */
export class TakenAnswer {
  readonly bytes: Buffer;
  readonly #block: Block;
  readonly #free: (block: Block) => void;

  constructor(bytes: Buffer, block: Block, free: (block: Block) => void) {
    this.bytes = bytes;
    this.#block = block;
    this.#free = free;
    block.held += 1;
  }

  /** Gives its memory back, at most once, if nothing reads it any more. One that is not released keeps its memory for itself. */
  release(): void {
    this.#block.held -= 1;
    if (this.#block.held === 0) this.#free(this.#block);
  }
}

/**
 * Writes the bytes of one answer after another, each in one piece: joining texts would allocate an object per field. An answer that was
 * begun and not taken is discarded by the next one.
 */
export class AnswerBytes {
  #home = blockOf(BLOCK);
  #block = this.#home.bytes;
  readonly #free: Block[] = [];
  /** The end of the last answer that was taken, and the room in which it was written. */
  #taken = 0;
  #usual = 0;
  #start = 0;
  #at = 0;
  /** Where the head ended that was written behind its body. */
  #reached = 0;

  /** Begins an answer. @param frontRoom bytes that are expected to be put before it */
  begin(frontRoom = HEAD_ROOM): this {
    if (this.#block.length - this.#taken < Math.max(this.#usual, frontRoom)) this.#use(this.#freeBlock());
    this.#start = this.#taken + frontRoom;
    this.#at = this.#start;
    this.#reached = 0;
    return this;
  }

  /** Bytes written. */
  get length(): number {
    return this.#at - this.#start;
  }

  /** One byte. */
  byte(value: number): void {
    this.#reserve(1);
    this.#block[this.#at++] = value;
  }

  /** A constant piece. */
  piece({ length, doubles }: Piece): void {
    this.#reserve(length + 8);
    const { view } = this.#home;
    const at = this.#at;
    for (let i = 0; i < doubles.length; i++) view.setFloat64(at + 8 * i, doubles[i]!, true);
    this.#at = at + length;
  }

  /** A text whose characters are bytes. */
  latin1(text: string): void {
    const { length } = text;
    this.#reserve(length);
    if (length > SHORT) this.#at += this.#block.write(text, this.#at, "latin1");
    else {
      const block = this.#block;
      const at = this.#at;
      for (let i = 0; i < length; i++) block[at + i] = text.charCodeAt(i);
      this.#at = at + length;
    }
  }

  /** A text in UTF-8, behind its length as a varint. */
  delimitedText(text: string): void {
    const from = this.length;
    this.varint(text.length);
    if (this.#ascii(text)) return;
    this.#at = this.#start + from;
    const bytes = Buffer.from(text, "utf8");
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  /** Writes a text in ASCII. @returns false, with nothing written, for any other text */
  #ascii(text: string): boolean {
    const { length } = text;
    this.#reserve(length + LONGEST_CHARACTER);
    const block = this.#block;
    const at = this.#at;
    if (length > SHORT) {
      // Any other character takes more bytes than units.
      if (block.write(text, at) !== length) return false;
    } else {
      for (let i = 0; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code > 0x7f) return false;
        block[at + i] = code;
      }
    }
    this.#at = at + length;
    return true;
  }

  /** A number as JavaScript writes it, and JSON too if it is finite. */
  number(value: number): void {
    if (value === (value | 0)) this.#whole(value);
    else if (!this.#decimal(value)) this.latin1(`${value}`);
  }

  /** A whole number from 0 on of thousandths, with three places. */
  thousandths(value: number): void {
    this.number(Math.floor(value / 1_000));
    this.#reserve(4);
    const block = this.#block;
    const at = this.#at;
    const rest = value % 1_000;
    block[at] = POINT;
    block[at + 1] = ZERO + ((rest / 100) | 0);
    block[at + 2] = ZERO + (((rest / 10) | 0) % 10);
    block[at + 3] = ZERO + (rest % 10);
    this.#at = at + 4;
  }

  #whole(value: number): void {
    if (value < 0) this.byte(MINUS);
    this.#digits(Math.abs(value));
  }

  /**
   * Writes an amount. A decimal with at most fifteen digits is the only one that its double may stand for, so JavaScript writes it too; but
   * first it looks for the text in a large table, and then it keeps the text there.
   *
   * @param value no whole number
   * @returns false, with nothing written, for any other number
   */
  #decimal(value: number): boolean {
    let places = value < MILLION ? 9 : 6;
    const scale = places === 9 ? BILLION : MILLION;
    const units = Math.round(value * scale);
    if (value < LEAST_DECIMAL || units >= FIFTEEN_DIGITS || units / scale !== value) return false;
    const whole = Math.floor(value);
    let rest = (units - whole * scale) | 0;
    for (; rest % 10 === 0; rest /= 10) places--;
    this.#digits(whole);
    this.#reserve(1 + places);
    const block = this.#block;
    const at = this.#at;
    block[at] = POINT;
    for (let i = places; i > 0; i--) {
      block[at + i] = ZERO + (rest % 10);
      rest = (rest / 10) | 0;
    }
    this.#at = at + 1 + places;
    return true;
  }

  /** A whole number from 0 to 2^31. */
  #digits(value: number): void {
    this.#reserve(MOST_DIGITS);
    const block = this.#block;
    let end = this.#at + 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) end++;
    this.#at = end;
    let rest = value;
    do {
      block[--end] = ZERO + (rest % 10);
      rest = (rest / 10) | 0;
    } while (rest > 0);
  }

  /** A text as JSON in ASCII. Most are base58, base64 or digits and need no escapes. */
  jsonText(text: string): void {
    this.byte(QUOTE);
    const from = this.length;
    if (!this.#ascii(text) || !this.#isPlain(from)) {
      this.#at = this.#start + from;
      this.latin1(escaped(text));
    }
    this.byte(QUOTE);
  }

  /** True if the ASCII text written since then needs no escapes in JSON. Checks four characters at a time. */
  #isPlain(from: number): boolean {
    const block = this.#block;
    const end = this.#at;
    let at = this.#start + from;
    let isPlain = 1;
    for (; at < end && (at & 3) !== 0; at++) isPlain &= PLAIN[block[at]!]!;
    const { words } = this.#home;
    let odd = 0;
    for (; at + 4 <= end; at += 4) {
      const four = words[at >> 2]!;
      // The highest bit of a byte, if it is below a space, above a tilde, a quote or a backslash.
      odd |= (four - FOUR_SPACES) | (four + FOUR_ONES) | ((four ^ FOUR_QUOTES) - FOUR_ONES);
      odd |= (four ^ FOUR_BACKSLASHES) - FOUR_ONES;
    }
    for (; at < end; at++) isPlain &= PLAIN[block[at]!]!;
    return isPlain === 1 && (odd & HIGH_BITS) === 0;
  }

  /** Bytes as a text of JSON in base64. */
  jsonBase64(value: Uint8Array): void {
    this.byte(QUOTE);
    if (base64 === undefined || value.length > Base64Writer.most) this.latin1(Buffer.from(value).toString("base64"));
    else {
      const end = base64.write(value);
      this.#reserve(end);
      this.#at += base64.text.copy(this.#block, this.#at, 0, end);
    }
    this.byte(QUOTE);
  }

  /** Bytes as they are. */
  bytes(value: Uint8Array): void {
    const { length } = value;
    this.#reserve(length);
    const block = this.#block;
    const at = this.#at;
    if (length > SHORT) block.set(value, at);
    else for (let i = 0; i < length; i++) block[at + i] = value[i]!;
    this.#at = at + length;
  }

  /** Eight bytes, the lowest first. */
  float64(value: number): void {
    this.#reserve(8);
    double[0] = value;
    const block = this.#block;
    const at = this.#at;
    block[at] = octets[0]!;
    block[at + 1] = octets[1]!;
    block[at + 2] = octets[2]!;
    block[at + 3] = octets[3]!;
    block[at + 4] = octets[4]!;
    block[at + 5] = octets[5]!;
    block[at + 6] = octets[6]!;
    block[at + 7] = octets[7]!;
    this.#at = at + 8;
  }

  /** A whole number from 0 to 2^53, seven bits in each byte. */
  varint(value: number): void {
    this.#reserve(8);
    const block = this.#block;
    let at = this.#at;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) block[at++] = (rest % 0x80) | 0x80;
    block[at] = rest;
    this.#at = at + 1;
  }

  /** A whole number from 0 to 2^64. */
  longVarint(value: bigint): void {
    let rest = value;
    for (; rest > Number.MAX_SAFE_INTEGER; rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.varint(Number(rest));
  }

  /** Begins a part that its length precedes as a varint. @returns the argument of `endPart` */
  beginPart(): number {
    this.byte(0);
    return this.length;
  }

  /** Puts the length of a part before it. @param begun what `beginPart` has returned */
  endPart(begun: number): void {
    const from = this.#start + begun;
    const length = this.#at - from;
    if (length < 0x80) {
      this.#block[from - 1] = length;
      return;
    }
    // Most parts are short: longer ones are moved to make room for their length.
    let more = 0;
    for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 0x80)) more++;
    this.#reserve(more);
    const at = this.#at;
    const moved = this.#start + begun;
    this.#block.copyWithin(moved + more, moved, at);
    this.#at = moved - 1;
    this.varint(length);
    this.#at = at + more;
  }

  /** Puts a text whose characters are bytes before all that is written. */
  front(text: string): this {
    if (text.length > this.#start - this.#taken) this.#move(text.length);
    this.#start -= text.length;
    this.#block.write(text, this.#start, "latin1");
    return this;
  }

  /** Begins what is to stand before all that is written. @returns the argument of `endFront` */
  beginFront(): number {
    return this.length;
  }

  /** Moves what was written since `beginFront` before the rest. @param begun what `beginFront` has returned */
  endFront(begun: number): this {
    const size = this.length - begun;
    if (size > this.#start - this.#taken) this.#move(size);
    const from = this.#start + begun;
    this.#start -= size;
    this.#block.copyWithin(this.#start, from, from + size);
    this.#reached = this.#at;
    this.#at -= size;
    return this;
  }

  /** The answer. Its memory is its own until it is released. */
  take(): TakenAnswer {
    this.#usual = Math.min(Math.max(this.#at, this.#reached) - this.#taken, BLOCK);
    this.#taken = this.#at;
    return new TakenAnswer(this.#block.subarray(this.#start, this.#at), this.#home, this.#reuse);
  }

  /** The answer as a text whose characters are bytes. */
  text(): string {
    return this.#block.toString("latin1", this.#start, this.#at);
  }

  #reserve(size: number): void {
    if (this.#at + size > this.#block.length) this.#move(0, size);
  }

  /** Moves what is written to a block of its own, with further room in front and behind. */
  #move(front: number, behind = 0): void {
    const [from, { length }] = [this.#block.subarray(this.#start, this.#at), this];
    const left = this.#home;
    const room = HEAD_ROOM + front;
    const size = room + 2 * (length + behind);
    this.#use(size > BLOCK ? blockOf(size) : this.#freeBlock());
    this.#block.set(from, room);
    if (left.held === 0) this.#reuse(left);
    this.#start = room;
    this.#at = room + length;
  }

  #use(block: Block): void {
    this.#home = block;
    this.#block = block.bytes;
    this.#taken = 0;
  }

  #freeBlock(): Block {
    return this.#free.pop() ?? blockOf(BLOCK);
  }

  readonly #reuse = (block: Block): void => {
    const isUsual = block.bytes.length === BLOCK;
    if (block !== this.#home) {
      if (isUsual && this.#free.length < MOST_FREE) this.#free.push(block);
    } else if (isUsual) this.#taken = 0;
    // A block that one long answer needed is not kept for short ones.
    else this.#use(this.#freeBlock());
  };
}

/** As it stands between the quotes of JSON, in ASCII. */
function escaped(text: string): string {
  const json = JSON.stringify(text).slice(1, -1);
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const shared = new AnswerBytes();

/**
 * Begins an answer. It is to be taken, or read as a text, before anything else may begin one.
 *
 * @param frontRoom bytes that are expected to be put before it
 */
export function beginAnswer(frontRoom?: number): AnswerBytes {
  return shared.begin(frontRoom);
}
