import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { AnswerBytes } from "../../http/lane/answer-bytes.ts";
import { Piece } from "../../http/lane/piece.ts";
import { createListEncoder, encodeBytes, encodeText } from "../../rest/json-encoder.ts";
import { byNumber, isEncodable, isExplicit, type MessageFields, mayHaveDefaults, setValue } from "./fields.ts";

const QUOTE = 0x22;
const [TRUE, FALSE] = [new Piece("true"), new Piece("false")];
const [NO_FIELDS, END] = [new Piece("{}"), new Piece("}")];

/** Writes a message, or its fields, as ProtoJSON in ASCII. */
type ProtoJsonEncoder = (message: object, out: AnswerBytes) => void;

type ValueEncoder = (value: unknown, out: AnswerBytes) => void;

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
    /** What stands before its value: if it is the first, and after another. */
    readonly first: Piece;
    readonly further: Piece;
    readonly encode: ValueEncoder;
  }[] = [];
  const encodeAll: ValueEncoder = (message, out) => {
    const hasDefaults = mayHaveDefaults(message as object);
    let isFirst = true;
    for (let index = 0; index < fields.length; index++) {
      const { localName, explicit, first, further, encode } = fields[index]!;
      const value = setValue(message as MessageFields, localName, explicit, hasDefaults);
      if (value === undefined) continue;
      out.piece(isFirst ? first : further);
      encode(value, out);
      isFirst = false;
    }
    out.piece(isFirst ? NO_FIELDS : END);
  };
  // Before its fields: a message may contain itself.
  known.set(desc, encodeAll);
  for (const field of byNumber(desc)) {
    const name = `${JSON.stringify(field.jsonName)}:`;
    fields.push({
      localName: field.localName,
      explicit: isExplicit(field),
      first: new Piece(`{${name}`),
      further: new Piece(`,${name}`),
      encode: createValueEncoder(field, known),
    });
  }
  return encodeAll;
}

function createValueEncoder(field: DescField, known: Map<DescMessage, ValueEncoder>): ValueEncoder {
  switch (field.fieldKind) {
    case "list":
      return createListEncoder(
        field.message === undefined ? createScalarEncoder(field.scalar!) : createFieldsEncoder(field.message, known),
      );
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
  return (value, out) => out.latin1(names.get(value as number) ?? String(value));
}

function createScalarEncoder(scalar: ScalarType): ValueEncoder {
  switch (scalar) {
    case ScalarType.STRING:
      return encodeText;
    case ScalarType.DOUBLE:
      return (value, out) => {
        if (Number.isFinite(value)) out.number(value as number);
        else out.latin1(`"${value}"`);
      };
    case ScalarType.UINT64:
      return (value, out) => {
        if ((value as bigint) > Number.MAX_SAFE_INTEGER) {
          out.latin1(`"${value}"`);
          return;
        }
        out.byte(QUOTE);
        out.number(Number(value));
        out.byte(QUOTE);
      };
    case ScalarType.BYTES:
      return encodeBytes;
    case ScalarType.BOOL:
      return (value, out) => out.piece(value === true ? TRUE : FALSE);
    default:
      return (value, out) => out.number(value as number);
  }
}
