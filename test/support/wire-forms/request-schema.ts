/** As much of JSON Schema as the requests of the OpenAPI document use. */
export interface RequestSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly contentEncoding?: string;
  readonly format?: string;
  readonly type?: "object" | "array" | "string" | "number" | "integer" | "boolean";
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, RequestSchema>>;
  readonly additionalProperties?: boolean;
  readonly required?: readonly string[];
  readonly anyOf?: readonly RequestSchema[];
  readonly not?: RequestSchema;
  readonly if?: RequestSchema;
  readonly else?: RequestSchema;
  readonly items?: RequestSchema;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

const REFERENCE = "#/components/schemas/";
const BASE64 = /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2,3})?={0,2}$/;

/** True if a value is what a schema describes. @throws Error if the schema uses what is not known here */
export function isDescribed(
  value: unknown,
  schema: RequestSchema,
  schemas: Readonly<Record<string, RequestSchema>>,
): boolean {
  if (schema.$ref !== undefined) return isDescribed(value, schemas[schema.$ref.slice(REFERENCE.length)]!, schemas);
  const isOf = (part: RequestSchema) => (item: unknown) => isDescribed(item, part, schemas);
  const object = value as Readonly<Record<string, unknown>>;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const text = typeof value === "string" ? value : undefined;
  const number = typeof value === "number" ? value : undefined;
  const { type, properties = {} } = schema;
  const rules: Readonly<Record<keyof RequestSchema, () => boolean>> = {
    $ref: () => true,
    description: () => true,
    // How a value is held, not which one it may be.
    format: () => true,
    contentEncoding: () => text === undefined || BASE64.test(text),
    type: () => {
      if (type === "object") return isObject;
      if (type === "array") return Array.isArray(value);
      if (type === "integer" || type === "number")
        return type === "integer" ? Number.isInteger(value) : Number.isFinite(value);
      // Half a surrogate pair is no text.
      return type === "string" ? text?.isWellFormed() === true : typeof value === type;
    },
    enum: () => schema.enum!.includes(value),
    properties: () =>
      !isObject ||
      Object.entries(object).every(([name, own]) => !Object.hasOwn(properties, name) || isOf(properties[name]!)(own)),
    additionalProperties: () => !isObject || Object.keys(object).every((name) => Object.hasOwn(properties, name)),
    required: () => !isObject || schema.required!.every((name) => Object.hasOwn(object, name)),
    anyOf: () => schema.anyOf!.some((one) => isOf(one)(value)),
    not: () => !isOf(schema.not!)(value),
    if: () => isOf(schema.if!)(value) || isOf(schema.else!)(value),
    else: () => true,
    items: () => !Array.isArray(value) || value.every(isOf(schema.items!)),
    maxItems: () => !Array.isArray(value) || value.length <= schema.maxItems!,
    minLength: () => text === undefined || [...text].length >= schema.minLength!,
    maxLength: () => text === undefined || [...text].length <= schema.maxLength!,
    pattern: () => text === undefined || new RegExp(schema.pattern!, "u").test(text),
    minimum: () => number === undefined || number >= schema.minimum!,
    maximum: () => number === undefined || number <= schema.maximum!,
    exclusiveMinimum: () => number === undefined || number > schema.exclusiveMinimum!,
    exclusiveMaximum: () => number === undefined || number < schema.exclusiveMaximum!,
  };
  return Object.keys(schema).every((name) => {
    const keeps = (rules as Readonly<Record<string, () => boolean>>)[name];
    if (keeps === undefined) throw new Error(`${name} of a schema is not known here`);
    return keeps();
  });
}
