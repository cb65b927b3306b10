import type { DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { ERRORS } from "../../errors/error-codes.ts";
import { accessOf } from "../call/access.ts";
import { type RestBinding, restBindingOf } from "../rest/rest-binding.ts";
import type { Comments } from "./comments.ts";
import { failuresOf, HEADERS, headersOf } from "./responses.ts";
import { described, fieldSchema, isRequired, messageSchema } from "./schemas.ts";
import { SUMMARIES } from "./summaries.ts";

type Json = Record<string, unknown>;

/** Answers by operation: an envelope, or the events of a stream. */
type Answers = Readonly<Record<string, unknown>>;

/**
 * Describes REST as an OpenAPI 3.1 document, from the annotations, rules and comments of the definition.
 *
 * @param answers an example of each operation
 */
export function describeRest(services: readonly DescService[], comments: Comments, answers: Answers): Json {
  const schemas: Json = { Error: ERROR_SCHEMA };
  const paths: Record<string, Json> = {};
  for (const method of services.flatMap((service) => service.methods)) {
    const binding = restBindingOf(method);
    if (binding === undefined) continue;
    const path = binding.path.replace(/\{(\w+)\}/g, (_, name: string) => `{${jsonNameOf(method.input, name)}}`);
    paths[path] = {
      ...paths[path],
      [binding.verb.toLowerCase()]: operationOf(method, binding, schemas, comments, answers),
    };
  }
  paths["/v1/ping"] = {
    get: {
      operationId: "ping",
      summary: SUMMARIES.ping,
      description: "Keeps the connection alive.",
      security: [],
      responses: { "200": { description: "An empty body." } },
    },
  };
  return {
    openapi: "3.1.0",
    info: {
      title: "Tradewire",
      version: "1",
      description:
        "Builds unsigned Solana trade transactions and broadcasts them once the wallet has signed. In a request body, null stands for an absent field.",
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

function operationOf(
  method: DescMethod,
  binding: RestBinding,
  schemas: Json,
  comments: Comments,
  answers: Answers,
): Json {
  const example = answers[method.localName];
  return {
    operationId: method.localName,
    summary: SUMMARIES[method.localName],
    tags: [method.parent.name],
    ...described(comments, `${method.parent.typeName}.${method.name}`),
    security: accessOf(method).needsKey ? [{ apiKey: [] }] : [],
    ...parametersOf(method, binding, schemas, comments),
    ...(binding.hasBody
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: messageSchema(method.input, "request", schemas, comments) } },
          },
        }
      : {}),
    responses: {
      "200": (method.methodKind === "unary" ? successOf : eventsOf)(method, schemas, comments, example),
      ...failuresOf(method, binding.hasBody),
      default: {
        description: "Any other error.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function parametersOf(
  method: DescMethod,
  { variables, hasBody }: RestBinding,
  schemas: Json,
  comments: Comments,
): Json {
  const inQuery = hasBody ? [] : method.input.fields.filter(({ name }) => !variables.includes(name));
  const inPath = variables.map((name) => method.input.fields.find((candidate) => candidate.name === name)!);
  const parameters = [...inPath, ...inQuery].map((field) => {
    const { description, ...schema } = fieldSchema(field, "request", schemas, comments);
    const place = inQuery.includes(field)
      ? { in: "query", ...(isRequired(field) ? { required: true } : {}) }
      : { in: "path", required: true };
    return { name: field.jsonName, ...place, description, schema };
  });
  return parameters.length === 0 ? {} : { parameters };
}

function successOf(method: DescMethod, schemas: Json, comments: Comments, example: unknown): Json {
  const data = messageSchema(method.output, "response", schemas, comments);
  const schema = {
    type: "object",
    required: ["success", "data"],
    properties: { success: { const: true }, data },
  };
  return {
    description: comments.get(method.output.typeName) ?? "",
    headers: headersOf(method, 200),
    content: { "application/json": { schema, example } },
  };
}

interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

const toText = ({ event, data }: StreamEvent): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Server-sent events: the data of each is one message. */
function eventsOf(method: DescMethod, schemas: Json, comments: Comments, example: unknown): Json {
  return {
    description:
      "Server-sent events. The data of each is one message; `end` follows the last, `error` holds a failure.",
    headers: headersOf(method, 200),
    content: {
      "text/event-stream": {
        schema: messageSchema(method.output, "response", schemas, comments),
        example: (example as readonly StreamEvent[]).map(toText).join(""),
      },
    },
  };
}

const ERROR_SCHEMA: Json = {
  type: "object",
  required: ["success", "requestId", "error"],
  properties: {
    success: { const: false },
    requestId: { type: "string", description: "Identifies this call in the service's logs." },
    error: {
      type: "object",
      required: ["code", "message", "retryable", "doc_url"],
      properties: {
        code: {
          type: "string",
          enum: Object.keys(ERRORS),
          description: Object.entries(ERRORS)
            .map(([code, { http }]) => `${code}: ${http}`)
            .join(", "),
        },
        message: { type: "string", description: "What is wrong and what to do about it, for people." },
        retryable: { type: "boolean", description: "True if the same call may succeed later, unchanged." },
        safeToRebuild: {
          type: "boolean",
          description:
            "After a submit: true if building again is safe: the transaction can no longer land, or it is the trade of another build.",
        },
        field: { type: "string", description: "The request field at fault." },
        retryAfterMs: {
          type: "integer",
          format: "int64",
          description: "Milliseconds to wait before the next attempt.",
        },
        details: { type: "object", description: "Further facts, by name." },
        violations: {
          type: "array",
          description: "Every field at fault, the first of them in `field`.",
          items: {
            type: "object",
            required: ["field", "message"],
            properties: { field: { type: "string" }, message: { type: "string" } },
          },
        },
        doc_url: { type: "string", description: "Where the code is explained, relative to this server." },
      },
    },
  },
};

function jsonNameOf(desc: DescMessage, name: string): string {
  return desc.fields.find((field) => field.name === name)?.jsonName ?? name;
}
