import { type DescEnum, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { didYouMean } from "../../errors/closest.ts";
import { shownName } from "../../errors/shown-name.ts";
import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import { messageMaker } from "../call/new-message.ts";
import { violationsOf } from "../call/validation/validation.ts";
import { restEnumName } from "./rest-enum.ts";

/**
 * "rest": enums by their short names. "proto": ProtoJSON as typed clients send it, with enums by full name or number, and
 * fields also by their names in the definition.
 */
export type JsonDialect = "rest" | "proto";

/** Turns parsed JSON into a message. @throws TradewireError VALIDATION_ERROR naming the field */
export type JsonDecoder = (json: unknown) => Message;

type Fields = Message & Record<string, unknown>;

/** Unknown fields reported at once. */
const MOST_FAULTS = 16;

type ValueDecoder = (value: unknown, field: string) => unknown;

/**
 * Compiles a JSON decoder from the descriptor of a request. Unknown fields, fields of the wrong type and fields given under
 * both of their names are refused by name; null means absent, as in ProtoJSON.
 *
 * @throws Error if the message contains an unsupported kind of field
 */
export function createJsonDecoder(desc: DescMessage, dialect: JsonDialect): JsonDecoder {
  const decodeFields = createFieldsDecoder(desc, dialect);
  return (json) => {
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      throw new TradewireError("VALIDATION_ERROR", "The request body is not a JSON object.");
    }
    const faults: TradewireError[] = [];
    const message = decodeFields(json as Readonly<Record<string, unknown>>, "", faults);
    if (faults.length > 0) throw toFailure(desc, message, faults);
    return message;
  };
}

/** All faults in one error: fields that are unknown, then those that cannot be decoded, then the rest by their rules. */
function toFailure(desc: DescMessage, message: Message, faults: readonly TradewireError[]): TradewireError {
  const decoded = faults.flatMap(({ violations }) => violations);
  const others = violationsOf(desc, message).filter(({ field }) => !decoded.some((fault) => fault.field === field));
  const field = decoded[0]!.field;
  const violations = [...decoded, ...others];
  return new TradewireError("VALIDATION_ERROR", faults.map((fault) => fault.message).join(" "), { field, violations });
}

/** How a field of a message is read. */
interface JsonField {
  /** Among the fields of its message. */
  readonly place: number;
  readonly localName: string;
  readonly jsonName: string;
  readonly decode: ValueDecoder;
}

/** The fields of a message, by each name that they may be given under. */
function jsonFields(desc: DescMessage, dialect: JsonDialect): ReadonlyMap<string, JsonField> {
  const fields = new Map<string, JsonField>();
  for (const [place, field] of desc.fields.entries()) {
    const { localName, jsonName } = field;
    const entry = { place, localName, jsonName, decode: createFieldDecoder(field, dialect) };
    fields.set(jsonName, entry);
    if (dialect === "proto") fields.set(field.name, entry);
  }
  return fields;
}

function createFieldsDecoder(desc: DescMessage, dialect: JsonDialect) {
  const fields = jsonFields(desc, dialect);
  const known = desc.fields.map((field) => field.jsonName).join(", ");
  const newMessage = messageMaker(desc);
  const refuseUnknown = (name: string, path: string): TradewireError => {
    const knownNote = known === "" ? "It has no fields" : `Its fields are ${known}`;
    const hint = didYouMean(name, fields.keys());
    const shown = path + shownName(name);
    return invalidField(shown, `${shown} is not a field of this request.${hint} ${knownNote}.`);
  };
  const decodeField = (
    json: Readonly<Record<string, unknown>>,
    name: string,
    field: JsonField,
    path: string,
    message: Fields,
  ) => {
    // Either could be meant.
    if (name !== field.jsonName && Object.hasOwn(json, field.jsonName)) {
      throw invalidField(path + field.jsonName, `${path + field.jsonName} is given twice. Give it once.`);
    }
    const value = json[name];
    if (value !== null) message[field.localName] = field.decode(value, path + field.jsonName);
  };
  return (json: Readonly<Record<string, unknown>>, path: string, faults?: TradewireError[]): Message => {
    const message = newMessage() as Fields;
    const unknown: string[] = [];
    const undecoded: TradewireError[] = [];
    for (const name in json) {
      const field = fields.get(name);
      if (field === undefined) {
        unknown.push(name);
        continue;
      }
      try {
        decodeField(json, name, field, path, message);
      } catch (error) {
        if (faults === undefined || !(error instanceof TradewireError)) throw error;
        // A field given twice is reported as such, whichever of its names comes first.
        if (name === field.jsonName) undecoded[field.place] ??= error;
        else undecoded[field.place] = error;
      }
    }
    // In a fixed order: the order of an object's members means nothing.
    const refused = unknown.sort().slice(0, MOST_FAULTS);
    for (const name of refused) {
      const fault = refuseUnknown(name, path);
      if (faults === undefined) throw fault;
      faults.push(fault);
    }
    // Entries without a fault are holes, which are skipped.
    undecoded.forEach((fault) => void faults!.push(fault));
    return message;
  };
}

function createFieldDecoder(field: DescField, dialect: JsonDialect): ValueDecoder {
  if (field.oneof !== undefined) throw unsupported(field);
  switch (field.fieldKind) {
    case "scalar":
      return createScalarDecoder(field, dialect);
    case "enum":
      return createEnumDecoder(field.enum, dialect);
    case "message":
      return createNestedDecoder(field.message, dialect);
    case "list": {
      const element =
        field.listKind === "scalar"
          ? createScalarDecoder(field, dialect)
          : field.listKind === "enum"
            ? createEnumDecoder(field.enum, dialect)
            : createNestedDecoder(field.message, dialect);
      return (value, name) => {
        if (!Array.isArray(value)) throw mistyped(name, "a list");
        return value.map((item, i) => element(item, `${name}[${i}]`));
      };
    }
    default:
      throw unsupported(field);
  }
}

function createNestedDecoder(desc: DescMessage, dialect: JsonDialect): ValueDecoder {
  let decodeFields: ReturnType<typeof createFieldsDecoder> | undefined;
  return (value, name) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw mistyped(name, "an object");
    decodeFields ??= createFieldsDecoder(desc, dialect);
    return decodeFields(value as Readonly<Record<string, unknown>>, `${name}.`);
  };
}

function createEnumDecoder(desc: DescEnum, dialect: JsonDialect): ValueDecoder {
  const isProto = dialect === "proto";
  const numbers = new Map<unknown, number>();
  const listed: string[] = [];
  for (const value of desc.values) {
    if (value.number !== 0) listed.push(isProto ? value.name : restEnumName(value));
    if (isProto) numbers.set(value.name, value.number);
    else if (value.number !== 0) numbers.set(restEnumName(value), value.number);
  }
  const names = listed.join(", ");
  return (value, name) => {
    const number = numbers.get(value);
    if (number !== undefined) return number;
    // Numbers without a name are values too. The rules of the field refuse them, as in the binary form.
    if (isProto && typeof value === "number" && (value | 0) === value) return value;
    const hint = typeof value === "string" ? didYouMean(value, listed) : "";
    throw invalidField(name, `${name} must be one of ${names}.${hint}`);
  };
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** True of a single character after the last group of four: it holds no byte. */
const isCut = (base64: string): boolean => base64.replace(/=+$/, "").length % 4 === 1;
const NON_FINITE: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

/** ProtoJSON takes numbers as strings too: whatever JSON would take without the quotes. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const asNumber = (value: unknown): unknown => (typeof value === "string" && NUMBER.test(value) ? Number(value) : value);
const asIs = (value: unknown): unknown => value;

function createScalarDecoder(field: DescField & { readonly scalar: ScalarType }, dialect: JsonDialect): ValueDecoder {
  const numberOf = dialect === "proto" ? asNumber : asIs;
  switch (field.scalar) {
    case ScalarType.STRING:
      return (value, name) => {
        if (typeof value !== "string" || !value.isWellFormed()) throw mistyped(name, "a string");
        return value;
      };
    case ScalarType.BOOL:
      return (value, name) => {
        if (typeof value !== "boolean") throw mistyped(name, "true or false");
        return value;
      };
    case ScalarType.DOUBLE:
      return (value, name) => {
        const number = numberOf(value);
        if (typeof number === "number") return number;
        // JSON cannot write these as numbers. The rules of the field refuse them with a better message.
        const nonFinite = NON_FINITE.get(value);
        if (nonFinite === undefined) throw mistyped(name, "a number");
        return nonFinite;
      };
    case ScalarType.UINT32:
      return (value, name) => {
        const number = numberOf(value);
        if (typeof number !== "number" || number >>> 0 !== number) throw mistyped(name, "a whole number");
        // Not -0.
        return number >>> 0;
      };
    case ScalarType.BYTES:
      return (value, name) => {
        if (typeof value !== "string" || !BASE64.test(value) || isCut(value)) throw mistyped(name, "a base64 string");
        return Buffer.from(value, "base64");
      };
    default:
      throw unsupported(field);
  }
}

function mistyped(field: string, expected: string): TradewireError {
  return invalidField(field, `${field} must be ${expected}.`);
}

function unsupported(field: DescField): Error {
  return new Error(`no JSON form is supported for ${field.toString()}`);
}
