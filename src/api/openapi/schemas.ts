import { type DescEnum, type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type FieldRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { amountForms } from "../call/validation/amount-forms.ts";
import { restEnumName } from "../rest/rest-enum.ts";
import type { Comments } from "./comments.ts";

type Json = Record<string, unknown>;

/** Whether a schema describes a request or a response: they differ in presence. */
type Direction = "request" | "response";

/** The schema of a message as a reference; adds it, and what it contains, to `schemas`. */
export function messageSchema(desc: DescMessage, direction: Direction, schemas: Json, comments: Comments): Json {
  if (schemas[desc.name] === undefined) {
    const properties: Json = {};
    schemas[desc.name] = { type: "object", ...described(comments, desc.typeName), properties };
    for (const field of desc.fields) properties[field.jsonName] = fieldSchema(field, direction, schemas, comments);
    const required = desc.fields
      .filter((field) => direction === "response" || isRequired(field))
      .map((field) => field.jsonName);
    schemas[desc.name] = {
      ...(schemas[desc.name] as Json),
      ...(required.length > 0 ? { required } : {}),
      ...(direction === "request" ? { additionalProperties: false, ...exactlyOneOf(desc) } : {}),
    };
  }
  return { $ref: `#/components/schemas/${desc.name}` };
}

/** An amount is given in exactly one of its forms. */
function exactlyOneOf(desc: DescMessage): Json {
  const forms = amountForms(desc);
  if (forms === undefined) return {};
  const { whole, raw, share } = forms;
  return exactlyOneIn((share === undefined ? [whole, raw] : [whole, raw, share]).map(({ jsonName }) => jsonName));
}

/**
 * At least one, and no two of them. As conditions, which generators of clients leave alone: of a schema with `oneOf` they make a type
 * without its own fields.
 */
function exactlyOneIn(names: readonly string[]): Json {
  const pairs = names.flatMap((name, at) => names.slice(at + 1).map((other) => ({ required: [name, other] })));
  return { ...oneOfThese(names), not: pairs.length === 1 ? pairs[0] : { anyOf: pairs } };
}

const oneOfThese = ([name, ...others]: readonly string[]): Json =>
  others.length === 0 ? { required: [name] } : { if: { required: [name] }, else: oneOfThese(others) };

/** True if a request must have the field. */
export const isRequired = (field: DescField): boolean =>
  hasOption(field, fieldRules) && getOption(field, fieldRules).required;

/** The schema of a field; adds the messages and enums it refers to to `schemas`. */
export function fieldSchema(
  field: DescField,
  direction: Direction,
  schemas: Json,
  comments: Comments,
): Json & { description?: string } {
  const note = described(comments, `${field.parent.typeName}.${field.name}`);
  const nullable =
    direction === "response" && field.presence === FeatureSet_FieldPresence.EXPLICIT && field.fieldKind !== "list";
  switch (field.fieldKind) {
    case "scalar": {
      const schema: Json = { ...scalarSchema(field.scalar), ...rulesOf(field.scalar, rulesOn(field)) };
      return { ...schema, ...(nullable ? { type: [schema.type, "null"] } : {}), ...note };
    }
    case "enum":
      return { ...enumSchema(field.enum, schemas, comments), ...note };
    case "message": {
      const schema = messageSchema(field.message, direction, schemas, comments);
      return {
        ...(nullable && isOptional(field) ? { anyOf: [schema, { type: "null" }] } : schema),
        ...note,
      };
    }
    case "list": {
      const rules = rulesOn(field)?.type;
      const { maxItems = 0n, items } = rules?.case === "repeated" ? rules.value : {};
      return {
        type: "array",
        items:
          field.listKind === "message"
            ? messageSchema(field.message, direction, schemas, comments)
            : field.listKind === "enum"
              ? enumSchema(field.enum, schemas, comments)
              : { ...scalarSchema(field.scalar), ...rulesOf(field.scalar, items) },
        ...(maxItems === 0n ? {} : { maxItems: Number(maxItems) }),
        ...note,
      };
    }
    default:
      throw new Error(`no schema is defined for ${field.toString()}`);
  }
}

/** Message fields that may be absent from a response; all others are always present. */
const OPTIONAL_MESSAGES: ReadonlySet<string> = new Set([
  "trade_result",
  "remainder",
  "worst_case",
  "price_movement",
  "quoted",
  "failure",
  "diagnosis",
  "worst_case",
  "TradeRecord.costs",
]);

const isOptional = ({ name, parent }: DescField): boolean =>
  OPTIONAL_MESSAGES.has(name) || OPTIONAL_MESSAGES.has(`${parent.name}.${name}`);

function enumSchema(desc: DescEnum, schemas: Json, comments: Comments): Json {
  schemas[desc.name] ??= {
    type: "string",
    enum: desc.values.filter((value) => value.number !== 0).map(restEnumName),
    ...described(comments, desc.typeName),
  };
  return { $ref: `#/components/schemas/${desc.name}` };
}

/** The schema of a scalar. Without a format, generated clients take 32 bits for a number, which holds 7 digits of an amount. */
function scalarSchema(scalar: ScalarType): Json {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.UINT32:
    case ScalarType.UINT64:
      return { type: "integer", format: "int64", minimum: 0 };
    case ScalarType.SINT32:
      return { type: "integer", format: "int32" };
    default:
      throw new Error(`no schema is defined for scalar type ${scalar}`);
  }
}

const rulesOn = (field: DescField): FieldRules | undefined =>
  hasOption(field, fieldRules) ? getOption(field, fieldRules) : undefined;

function rulesOf(scalar: ScalarType, rules: FieldRules | undefined): Json {
  if (rules === undefined) return {};
  const { type, required } = rules;
  const isText = scalar === ScalarType.STRING || scalar === ScalarType.BYTES;
  const { pattern = "", maxLen = 0n } = type.case === "string" ? type.value : {};
  if (isText) {
    return {
      // A required string is not empty.
      ...(required && pattern === "" ? { minLength: 1 } : {}),
      ...(pattern === "" ? {} : { pattern }),
      ...(maxLen === 0n ? {} : { maxLength: Number(maxLen) }),
    };
  }
  if (type.case === "double" || type.case === "uint32") {
    const { greaterThan, lessThan } = type.value;
    return {
      ...(greaterThan.case === "gt" ? { exclusiveMinimum: greaterThan.value } : {}),
      ...(greaterThan.case === "gte" ? { minimum: greaterThan.value } : {}),
      ...(lessThan.case === "lt" ? { exclusiveMaximum: lessThan.value } : {}),
      ...(lessThan.case === "lte" ? { maximum: lessThan.value } : {}),
    };
  }
  return {};
}

/** The comment on a definition, as a description; empty if there is none. */
export function described(comments: Comments, name: string): { description?: string } {
  const description = comments.get(name);
  return description === undefined ? {} : { description };
}
