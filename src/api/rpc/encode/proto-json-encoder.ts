import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { encodeText, needsEscape } from "../../rest/json-encoder.ts";
import { byNumber, isEncodable, isExplicit, type MessageFields, mayHaveDefaults, setValue } from "./fields.ts";

/** Writes a message, or its fields, as ProtoJSON in ASCII. */
type ProtoJsonEncoder = (message: object) => string;

type ValueEncoder = (value: unknown) => string;

/** What stands before the next field of a message: nothing, a value, or a text whose quote is not closed yet. */
const [FIRST, AFTER_VALUE, IN_TEXT] = [0, 1, 2];

/**
 * Compiles a ProtoJSON encoder from the descriptor of a response. It writes what `toJsonString` writes, but for characters beyond
 * ASCII, which it escapes, and takes fields as well as messages. Undefined if the message contains what it does not support.
 */
export function createProtoJsonEncoder(desc: DescMessage): ProtoJsonEncoder | undefined {
  return isEncodable(desc) ? (createFieldsEncoder(desc, new Map()) as ProtoJsonEncoder) : undefined;
}

function createFieldsEncoder(desc: DescMessage, known: Map<DescMessage, ValueEncoder>): ValueEncoder {
  const made = known.get(desc);
  if (made !== undefined) return made;
  const fields: {
    readonly localName: string;
    readonly explicit: boolean;
    readonly isText: boolean;
    /** What stands before its value: if it is the first, after a value, and after a text that is not closed yet. */
    readonly before: readonly [first: string, plain: string, closing: string];
    readonly encode: ValueEncoder;
  }[] = [];
  const encodeAll: ValueEncoder = (message) => {
    const hasDefaults = mayHaveDefaults(message as object);
    let json = "{";
    let state = FIRST;
    for (let index = 0; index < fields.length; index++) {
      const { localName, explicit, isText, before, encode } = fields[index]!;
      const value = setValue(message as MessageFields, localName, explicit, hasDefaults);
      if (value === undefined) continue;
      json += before[state]!;
      if (!isText) json += encode(value);
      else json += needsEscape(value as string) ? encodeText(value as string).slice(1, -1) : (value as string);
      state = isText ? IN_TEXT : AFTER_VALUE;
    }
    return state === IN_TEXT ? `${json}"}` : `${json}}`;
  };
  // Before its fields: a message may contain itself.
  known.set(desc, encodeAll);
  for (const field of byNumber(desc)) {
    const isText = field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
    // Its quotes are a part of what stands before it and after it: each piece is an object until the JSON is written.
    const name = `${JSON.stringify(field.jsonName)}:${isText ? '"' : ""}`;
    fields.push({
      localName: field.localName,
      explicit: isExplicit(field),
      isText,
      before: [name, `,${name}`, `",${name}`],
      encode: createValueEncoder(field, known),
    });
  }
  return encodeAll;
}

function createValueEncoder(field: DescField, known: Map<DescMessage, ValueEncoder>): ValueEncoder {
  switch (field.fieldKind) {
    case "list": {
      const element =
        field.message === undefined ? createScalarEncoder(field.scalar!) : createFieldsEncoder(field.message, known);
      return (value) => {
        const items = value as readonly unknown[];
        let json = "[";
        for (let index = 0; index < items.length; index++)
          json += index === 0 ? element(items[index]) : `,${element(items[index])}`;
        return `${json}]`;
      };
    }
    case "message":
      return createFieldsEncoder(field.message, known);
    case "enum":
      return createEnumEncoder(field.enum);
    default:
      return createScalarEncoder(field.scalar!);
  }
}

function createEnumEncoder(desc: DescEnum): ValueEncoder {
  const names = new Map(desc.values.map(({ number, name }) => [number, JSON.stringify(name)]));
  return (value) => names.get(value as number) ?? String(value);
}

const encodeString: ValueEncoder = (value) => encodeText(value as string);

function createScalarEncoder(scalar: ScalarType): ValueEncoder {
  switch (scalar) {
    case ScalarType.STRING:
      return encodeString;
    case ScalarType.DOUBLE:
      return (value) => (Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`);
    case ScalarType.UINT64:
      return (value) => `"${value}"`;
    case ScalarType.BYTES:
      return (value) => {
        const { buffer, byteOffset, length } = value as Uint8Array;
        return `"${Buffer.from(buffer, byteOffset, length).toString("base64")}"`;
      };
    default:
      return String;
  }
}
