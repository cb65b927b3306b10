import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";

/** A message, or its fields as implementations return them. */
export type MessageFields = Readonly<Record<string, unknown>>;

/** The scalars that encoders support: those of the service's own definition. */
type SupportedScalar =
  | ScalarType.STRING
  | ScalarType.DOUBLE
  | ScalarType.BOOL
  | ScalarType.UINT32
  | ScalarType.SINT32
  | ScalarType.UINT64
  | ScalarType.BYTES;

const SUPPORTED: ReadonlySet<ScalarType> = new Set<SupportedScalar>([
  ScalarType.STRING,
  ScalarType.DOUBLE,
  ScalarType.BOOL,
  ScalarType.UINT32,
  ScalarType.SINT32,
  ScalarType.UINT64,
  ScalarType.BYTES,
]);

/** Of these there may be lists. */
const LISTED: ReadonlySet<ScalarType> = new Set([ScalarType.STRING, ScalarType.SINT32]);

/** True if encoders support the message and all that it contains: no oneof, map, well-known type or rare scalar. */
export function isEncodable(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(desc)) return true;
  seen.add(desc);
  return !desc.typeName.startsWith("google.protobuf.") && desc.fields.every((field) => isFieldEncodable(field, seen));
}

function isFieldEncodable(field: DescField, seen: Set<DescMessage>): boolean {
  if (field.oneof !== undefined) return false;
  switch (field.fieldKind) {
    case "scalar":
      return SUPPORTED.has(field.scalar);
    case "enum":
      return true;
    case "message":
      return !field.delimitedEncoding && isEncodable(field.message, seen);
    case "list":
      return field.listKind === "message"
        ? !field.delimitedEncoding && isEncodable(field.message, seen)
        : field.listKind === "scalar" && LISTED.has(field.scalar);
    default:
      return false;
  }
}

/** The fields of a message in the order of their numbers, in which encoders write them. */
export function byNumber({ fields }: DescMessage): readonly DescField[] {
  return [...fields].sort((a, b) => a.number - b.number);
}

/** True if a field's presence is its own: a present zero is written. */
export function isExplicit({ presence, fieldKind }: DescField): boolean {
  return fieldKind !== "list" && presence !== FeatureSet_FieldPresence.IMPLICIT;
}

/**
 * The value of a field that is written; undefined if it is not: absent, or zero with implicit presence.
 *
 * @param hasDefaults whether they may be a message, whose prototype has the defaults of its absent fields
 */
export function setValue(fields: MessageFields, localName: string, explicit: boolean, hasDefaults: boolean): unknown {
  const value = fields[localName];
  if (!explicit) return isZero(value) ? undefined : value;
  return hasDefaults && value !== undefined && !Object.hasOwn(fields, localName) ? undefined : value;
}

/** True unless it is an object of fields alone. */
export function mayHaveDefaults(message: object): boolean {
  return Object.getPrototypeOf(message) !== Object.prototype;
}

function isZero(value: unknown): boolean {
  switch (typeof value) {
    case "undefined":
      return true;
    case "string":
      return value === "";
    case "bigint":
      return value === 0n;
    case "number":
      // -0 is a value of its own.
      return Object.is(value, 0);
    case "boolean":
      return !value;
    default:
      return (value as { readonly length: number }).length === 0;
  }
}
