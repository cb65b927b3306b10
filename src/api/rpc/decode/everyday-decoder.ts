import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { messageMaker } from "../../call/new-message.ts";

/** Decodes a message in everyday form; undefined for any other, which the library decodes or refuses. */
type EverydayDecoder = (bytes: Buffer) => Message | undefined;

/** Reads one value, and moves the place behind it. */
type ReadValue = (place: Place) => unknown;

interface Field {
  readonly localName: string;
  readonly isList: boolean;
  readonly wireType: number;
  readonly read: ReadValue;
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const WIRE_TYPE_BITS = 3;
/** Fields up to 2,047 have tags of two bytes at most. */
const MOST_TAG = 1 << 14;
/** Shifted further, bits of a varint lie beyond 32. */
const LAST_SHIFT = 28;
const ASCII_END = 0x80;

const NOTHING = Buffer.alloc(0);

/** Where a message is read; `at` is NaN once something unusual has been met, and stays so. */
class Place {
  bytes: Buffer = NOTHING;
  at = 0;

  /** A varint of 32 bits at most. */
  varint(): number {
    const { bytes } = this;
    let value = 0;
    for (let shift = 0; shift <= LAST_SHIFT; shift += 7) {
      const byte = bytes[this.at++];
      if (byte === undefined || (shift === LAST_SHIFT && byte > 0x0f)) return this.#stop();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    return this.#stop();
  }

  double(): number {
    const from = this.at;
    if (from + 8 > this.bytes.length) return this.#stop();
    this.at = from + 8;
    return this.bytes.readDoubleLE(from);
  }

  /** The beginning of what has a length; `at` is its end. */
  delimited(): number {
    const length = this.varint();
    const from = this.at;
    this.at = from + length <= this.bytes.length ? from + length : Number.NaN;
    return from;
  }

  /** A text in ASCII. */
  text(): string {
    const from = this.delimited();
    const { bytes, at: end } = this;
    if (Number.isNaN(end)) return "";
    for (let i = from; i < end; i++) if (bytes[i]! >= ASCII_END) return `${this.#stop()}`;
    return bytes.toString("latin1", from, end);
  }

  #stop(): number {
    this.at = Number.NaN;
    return 0;
  }
}

/** What every decoder reads with. */
const place = new Place();

/**
 * Compiles a Protocol Buffers decoder from the descriptor of a request. It makes what `fromBinary` makes, of messages whose fields are
 * known, of the type that the definition says, and whose texts are ASCII.
 */
export function createEverydayDecoder(desc: DescMessage): EverydayDecoder {
  const fields: (Field | undefined)[] = [];
  for (const field of desc.fields) fields[field.number] = fieldOf(field);
  const newMessage = messageMaker(desc);
  const decode = (bytes: Buffer): Message | undefined => {
    const message = newMessage() as Message & Record<string, unknown>;
    while (place.at < bytes.length) {
      const tag = place.varint();
      const field = tag < MOST_TAG ? fields[tag >> WIRE_TYPE_BITS] : undefined;
      if (field === undefined || field.wireType !== (tag & 7)) return undefined;
      const value = field.read(place);
      if (field.isList) (message[field.localName] as unknown[]).push(value);
      else message[field.localName] = value;
    }
    return place.at === bytes.length ? message : undefined;
  };
  return (bytes) => {
    place.bytes = bytes;
    place.at = 0;
    const message = decode(bytes);
    // A request is not kept until the next one.
    place.bytes = NOTHING;
    return message;
  };
}

/** Undefined for a field of a kind that everyday requests do not have. */
function fieldOf(field: DescField): Field | undefined {
  const { localName } = field;
  if (field.oneof !== undefined) return undefined;
  if (field.fieldKind === "enum") {
    return field.enum.open ? { localName, isList: false, wireType: VARINT, read: (at) => at.varint() | 0 } : undefined;
  }
  if (field.fieldKind === "list") {
    if (field.listKind !== "scalar" || field.scalar !== ScalarType.STRING) return undefined;
    return { localName, isList: true, wireType: LENGTH_DELIMITED, read: (at) => at.text() };
  }
  if (field.fieldKind !== "scalar") return undefined;
  switch (field.scalar) {
    case ScalarType.STRING:
      return { localName, isList: false, wireType: LENGTH_DELIMITED, read: (at) => at.text() };
    case ScalarType.BOOL:
      return { localName, isList: false, wireType: VARINT, read: (at) => at.varint() !== 0 };
    case ScalarType.UINT32:
      return { localName, isList: false, wireType: VARINT, read: (at) => at.varint() };
    case ScalarType.DOUBLE:
      return { localName, isList: false, wireType: FIXED_64, read: (at) => at.double() };
    default:
      return undefined;
  }
}
