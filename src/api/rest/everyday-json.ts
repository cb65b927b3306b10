import type { DescMessage, Message } from "@bufbuild/protobuf";
import { messageMaker } from "../call/new-message.ts";
import { parseJson } from "../http/parse-json.ts";
import { createJsonDecoder, type JsonDialect, type JsonField, jsonFields } from "./json-decoder.ts";

/** Makes a message of a body. @throws TradewireError VALIDATION_ERROR */
export type BodyDecoder = (body: Buffer) => Message;

/** Longer bodies hold long texts, which the platform's parser reads faster. Bytes. */
const MOST_BYTES = 512;
/** Fields that a set of bits has room for. */
const MOST_FIELDS = 31;
/** Whole numbers with as many digits, and powers of ten as high, are doubles exactly: so their quotient is the closest double. */
const MOST_DIGITS = 15;
const POWERS_OF_TEN = Array.from({ length: MOST_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

const [QUOTE, BACKSLASH, SPACE, LAST_PLAIN] = [0x22, 0x5c, 0x20, 0x7e];
const [OPEN, CLOSE, COLON, COMMA] = [0x7b, 0x7d, 0x3a, 0x2c];
const [ZERO, NINE, POINT] = [0x30, 0x39, 0x2e];
const [TRUE, FALSE] = [Buffer.from("true"), Buffer.from("false")];

interface KnownField extends JsonField {
  readonly name: Uint8Array;
  readonly bit: number;
}

/** Compiles a decoder of whole bodies: those in everyday form are read straight from their bytes. */
export function createBodyDecoder(desc: DescMessage, dialect: JsonDialect): BodyDecoder {
  const decode = createJsonDecoder(desc, dialect);
  const decodeEveryday = createEverydayDecoder(desc, dialect);
  return (body) => decodeEveryday(body) ?? decode(parseJson(body));
}

/**
 * Compiles a decoder of one flat object in ASCII, without escapes, exponents or lists, each field once. It makes what the parser and the
 * decoder make of it, without their objects; undefined for any other body, also for one with a fault, which they put into words.
 */
function createEverydayDecoder(desc: DescMessage, dialect: JsonDialect): (body: Buffer) => Message | undefined {
  if (desc.fields.length > MOST_FIELDS) return () => undefined;
  const fields = tableOf(desc, dialect);
  const newMessage = messageMaker(desc);
  return (body) => {
    if (body.length > MOST_BYTES || body[0] !== OPEN) return undefined;
    const message = newMessage() as Message & Record<string, unknown>;
    let seen = 0;
    place.begin(body);
    try {
      do {
        const field = place.field(fields);
        if (field === undefined || (seen & field.bit) !== 0) return undefined;
        seen |= field.bit;
        const value = place.value();
        if (value === undefined) return undefined;
        message[field.localName] = field.decode(value, field.jsonName);
      } while (place.passes(COMMA));
      return place.passes(CLOSE) && place.isEnd() ? message : undefined;
    } catch {
      return undefined;
    } finally {
      place.end();
    }
  };
}

/** Fields by the hash of their names. No two hashes are equal. */
function tableOf(desc: DescMessage, dialect: JsonDialect): readonly (KnownField | undefined)[] {
  const named = Array.from(jsonFields(desc, dialect), ([name, field]) => ({
    ...field,
    name: Buffer.from(name),
    bit: 1 << field.place,
  }));
  for (let size = 64; ; size *= 2) {
    const table = Array.from({ length: size }, (): KnownField | undefined => undefined);
    for (const field of named) table[hashOf(field.name) & (size - 1)] = field;
    if (named.every((field) => table.includes(field))) return table;
  }
}

const hashOf = (name: Uint8Array): number => name.reduce(hashed, 0);
const hashed = (hash: number, byte: number): number => (Math.imul(hash, 31) + byte) | 0;

const NOTHING: Buffer = Buffer.alloc(0);

/** Where a body is read. */
class Place {
  #body: Buffer = NOTHING;
  #at = 0;

  /** Begins behind the first character. */
  begin(body: Buffer): void {
    this.#body = body;
    this.#at = 1;
  }

  /** A request is not kept until the next one. */
  end(): void {
    this.#body = NOTHING;
  }

  isEnd(): boolean {
    return this.#at === this.#body.length;
  }

  /** Goes behind a character, and the spaces around it, if it is next. */
  passes(character: number): boolean {
    const isNext = this.#next() === character;
    if (isNext) {
      this.#at += 1;
      this.#next();
    }
    return isNext;
  }

  /** The next character but for spaces; 0 at the end. */
  #next(): number {
    const body = this.#body;
    while (this.#at < body.length) {
      const byte = body[this.#at]!;
      if (byte !== SPACE) return byte;
      this.#at += 1;
    }
    return 0;
  }

  /** The field whose name and colon are next. */
  field(fields: readonly (KnownField | undefined)[]): KnownField | undefined {
    if (this.#next() !== QUOTE) return undefined;
    const body = this.#body;
    const from = this.#at + 1;
    let hash = 0;
    for (let at = from; at < body.length; at++) {
      const byte = body[at]!;
      if (byte !== QUOTE) {
        hash = hashed(hash, byte);
        continue;
      }
      const field = fields[hash & (fields.length - 1)];
      if (field === undefined || at - from !== field.name.length || !this.#holds(field.name, from)) return undefined;
      this.#at = at + 1;
      return this.passes(COLON) ? field : undefined;
    }
    return undefined;
  }

  /** The text, number or truth value that is next. */
  value(): string | number | boolean | undefined {
    const first = this.#next();
    if (first === QUOTE) return this.#text();
    if (first >= ZERO && first <= NINE) return this.#number();
    if (this.#takes(TRUE)) return true;
    return this.#takes(FALSE) ? false : undefined;
  }

  #text(): string | undefined {
    const body = this.#body;
    const from = this.#at + 1;
    for (let at = from; at < body.length; at++) {
      const byte = body[at]!;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return body.toString("latin1", from, at);
      }
      if (byte < SPACE || byte > LAST_PLAIN || byte === BACKSLASH) return undefined;
    }
    return undefined;
  }

  #number(): number | undefined {
    const from = this.#at;
    const whole = this.#digits(0);
    const wholeDigits = this.#at - from;
    if (wholeDigits > 1 && this.#body[from] === ZERO) return undefined;
    if (this.#body[this.#at] !== POINT) return wholeDigits > MOST_DIGITS ? undefined : whole;
    const point = this.#at++;
    const units = this.#digits(whole);
    const places = this.#at - point - 1;
    return places === 0 || wholeDigits + places > MOST_DIGITS ? undefined : units / POWERS_OF_TEN[places]!;
  }

  /** Reads digits behind those of a number. */
  #digits(before: number): number {
    const body = this.#body;
    let number = before;
    let at = this.#at;
    for (; at < body.length; at++) {
      const digit = body[at]! - ZERO;
      if (digit < 0 || digit > 9) break;
      number = number * 10 + digit;
    }
    this.#at = at;
    return number;
  }

  #takes(word: Uint8Array): boolean {
    const isNext = this.#holds(word, this.#at);
    if (isNext) this.#at += word.length;
    return isNext;
  }

  #holds(word: Uint8Array, from: number): boolean {
    const body = this.#body;
    if (from + word.length > body.length) return false;
    for (let i = 0; i < word.length; i++) if (body[from + i] !== word[i]) return false;
    return true;
  }
}

/** What every decoder reads with. */
const place = new Place();
