import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescService,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { ERRORS } from "../../errors/error-codes.ts";
import { accessOf } from "../call/access.ts";
import { restBindingOf } from "../rest/rest-binding.ts";
import { restEnumName } from "../rest/rest-enum.ts";
import type { Comments } from "./comments.ts";
import { failuresOf, HEADERS, headersOf } from "./responses.ts";

type Json = Record<string, unknown>;

/** The REST surface as an OpenAPI 3.1 document, from the annotations, rules and comments of the definition. */
export function describeRest(services: readonly DescService[], comments: Comments): Json {
  const schemas: Json = { Error: ERROR_SCHEMA };
  const paths: Record<string, Json> = {};
  for (const service of services) {
    for (const method of service.methods) {
      const binding = restBindingOf(method);
      if (binding === undefined) continue;
      const path = binding.path.replace(/\{(\w+)\}/g, (_, name: string) => `{${jsonNameOf(method.input, name)}}`);
      paths[path] = {
        ...paths[path],
        [binding.verb.toLowerCase()]: {
          operationId: method.localName,
          tags: [service.name],
          ...described(comments, `${service.typeName}.${method.name}`),
          security: accessOf(method).needsKey ? [{ apiKey: [] }] : [],
          ...(binding.variables.length === 0
            ? {}
            : {
                parameters: binding.variables.map((name) => {
                  const field = method.input.fields.find((candidate) => candidate.name === name)!;
                  const { description, ...schema } = fieldSchema(field, "request", schemas, comments);
                  return { name: field.jsonName, in: "path", required: true, description, schema };
                }),
              }),
          ...(binding.hasBody
            ? {
                requestBody: {
                  required: true,
                  content: {
                    "application/json": { schema: messageSchema(method.input, "request", schemas, comments) },
                  },
                },
              }
            : {}),
          responses: {
            "200": {
              description: comments.get(method.output.typeName) ?? "",
              headers: headersOf(method, 200),
              content: {
                "application/json": {
                  schema: {
                    type: "object",
                    required: ["success", "data"],
                    properties: {
                      success: { const: true },
                      data: messageSchema(method.output, "response", schemas, comments),
                    },
                  },
                },
              },
            },
            ...failuresOf(method, binding.hasBody),
            default: {
              description: "The call failed otherwise.",
              content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
            },
          },
        },
      };
    }
  }
  paths["/v1/ping"] = {
    get: {
      operationId: "ping",
      description: "Keeps the connection open.",
      security: [],
      responses: { "200": { description: "An empty body." } },
    },
  };
  return {
    openapi: "3.1.0",
    info: {
      title: "Tradewire",
      version: "1",
      description: "Builds unsigned Solana trade transactions and broadcasts them once their owner has signed.",
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas,
      headers: HEADERS,
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "The API key from registration." } },
    },
  };
}

const ERROR_SCHEMA: Json = {
  type: "object",
  required: ["success", "requestId", "error"],
  properties: {
    success: { const: false },
    requestId: { type: "string", description: "Names this call in the service's logs." },
    error: {
      type: "object",
      required: ["code", "message", "retryable"],
      properties: {
        code: {
          type: "string",
          enum: Object.keys(ERRORS),
          description: Object.entries(ERRORS)
            .map(([code, { http }]) => `${code}: ${http}`)
            .join(", "),
        },
        message: { type: "string", description: "What is wrong and what to do about it, for people." },
        retryable: { type: "boolean", description: "True when the same call may succeed later without being changed." },
        safeToRebuild: {
          type: "boolean",
          description: "After a submit: true when nothing of the transaction can land any more.",
        },
        field: { type: "string", description: "The request field at fault." },
        retryAfterMs: { type: "integer", description: "How long to wait before the next attempt." },
        details: { type: "object", description: "Further facts, by name." },
      },
    },
  },
};

type Direction = "request" | "response";

function messageSchema(desc: DescMessage, direction: Direction, schemas: Json, comments: Comments): Json {
  if (schemas[desc.name] === undefined) {
    const properties: Json = {};
    schemas[desc.name] = { type: "object", ...described(comments, desc.typeName), properties };
    for (const field of desc.fields) properties[field.jsonName] = fieldSchema(field, direction, schemas, comments);
    const required = desc.fields
      .filter(
        (field) => direction === "response" || (hasOption(field, fieldRules) && getOption(field, fieldRules).required),
      )
      .map((field) => field.jsonName);
    schemas[desc.name] = {
      ...(schemas[desc.name] as Json),
      ...(required.length > 0 ? { required } : {}),
      ...(direction === "request" ? { additionalProperties: false } : {}),
    };
  }
  return { $ref: `#/components/schemas/${desc.name}` };
}

function fieldSchema(
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
      const schema: Json = { ...scalarSchema(field.scalar), ...rulesOf(field) };
      return { ...schema, ...(nullable ? { type: [schema.type, "null"] } : {}), ...note };
    }
    case "enum":
      return { ...enumSchema(field.enum, schemas, comments), ...note };
    case "message": {
      const schema = messageSchema(field.message, direction, schemas, comments);
      return {
        ...(nullable && OPTIONAL_MESSAGES.has(field.name) ? { anyOf: [schema, { type: "null" }] } : schema),
        ...note,
      };
    }
    case "list":
      return {
        type: "array",
        items:
          field.listKind === "message"
            ? messageSchema(field.message, direction, schemas, comments)
            : field.listKind === "enum"
              ? enumSchema(field.enum, schemas, comments)
              : scalarSchema(field.scalar),
        ...note,
      };
    default:
      throw new Error(`no schema is defined for ${field.toString()}`);
  }
}

/** Messages have presence always; these alone are ever absent from an answer. */
const OPTIONAL_MESSAGES: ReadonlySet<string> = new Set(["trade_result", "remainder"]);

function enumSchema(desc: DescEnum, schemas: Json, comments: Comments): Json {
  schemas[desc.name] ??= {
    type: "string",
    enum: desc.values.filter((value) => value.number !== 0).map(restEnumName),
    ...described(comments, desc.typeName),
  };
  return { $ref: `#/components/schemas/${desc.name}` };
}

function scalarSchema(scalar: ScalarType): Json {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.DOUBLE:
      return { type: "number" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.UINT32:
    case ScalarType.UINT64:
      return { type: "integer", minimum: 0 };
    default:
      throw new Error(`no schema is defined for scalar type ${scalar}`);
  }
}

function rulesOf(field: DescField): Json {
  if (!hasOption(field, fieldRules)) return {};
  const { type, required } = getOption(field, fieldRules);
  const isText = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
  const { pattern = "", maxLen = 0n } = type.case === "string" ? type.value : {};
  if (isText) {
    return {
      // What is required is not empty.
      ...(required && pattern === "" ? { minLength: 1 } : {}),
      ...(pattern === "" ? {} : { pattern }),
      ...(maxLen === 0n ? {} : { maxLength: Number(maxLen) }),
    };
  }
  if (type.case === "double") {
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

function described(comments: Comments, name: string): { description?: string } {
  const description = comments.get(name);
  return description === undefined ? {} : { description };
}

function jsonNameOf(desc: DescMessage, name: string): string {
  return desc.fields.find((field) => field.name === name)?.jsonName ?? name;
}
