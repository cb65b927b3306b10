import {
  type DescMethodUnary,
  type DescService,
  getOption,
  hasOption,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { invalidField, TradewireError } from "../errors/tradewire-error.ts";
import { CallState, callStateKey, writeAnswerHeaders } from "./call-state.ts";
import { failureOf, httpStatusOf, toEnvelope } from "./failure.ts";
import { requestIdKey } from "./interceptors.ts";
import { Call, type Invoker } from "./invoker.ts";
import { createJsonDecoder } from "./json-decoder.ts";
import { createJsonEncoder } from "./json-encoder.ts";
import { readBody } from "./read-body.ts";
import type { ApiSettings } from "./settings.ts";

export interface RestBinding {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As annotated, with variables in braces. */
  readonly path: string;
  /** True when the request is the JSON body, false when it is in the path. */
  readonly hasBody: boolean;
  /** Fields of the request that the path holds. */
  readonly variables: readonly string[];
}

/** How a method is reached over REST, from its google.api.http annotation; undefined when it is not. @throws Error on a form not used here */
export function restBindingOf(method: DescService["methods"][number]): RestBinding | undefined {
  if (method.methodKind !== "unary" || !hasOption(method, http)) return undefined;
  const { pattern, body } = getOption(method, http);
  if (pattern.case === undefined || pattern.case === "custom" || (body !== "" && body !== "*")) {
    throw new Error(`the HTTP annotation of ${method.name} has a form that REST routes do not know`);
  }
  return {
    verb: pattern.case.toUpperCase() as RestBinding["verb"],
    path: pattern.value,
    hasBody: body === "*",
    variables: Array.from(pattern.value.matchAll(/\{(\w+)\}/g), (match) => match[1]!),
  };
}

interface RestEdge {
  readonly fastify: FastifyInstance;
  readonly settings: ApiSettings;
  readonly requestIds: () => string;
  readonly invokerOf: (method: DescMethodUnary) => Invoker;
}

/** Registers every annotated method of a service. */
export function registerRestRoutes(edge: RestEdge, service: DescService): void {
  for (const method of service.methods) {
    const binding = restBindingOf(method);
    if (binding !== undefined) registerRoute(edge, method as DescMethodUnary, binding);
  }
}

function registerRoute(edge: RestEdge, method: DescMethodUnary, binding: RestBinding): void {
  const { bodyLimitBytes, requestTimeoutMs } = edge.settings;
  const invoke = edge.invokerOf(method);
  const encode = createJsonEncoder(method.output);
  const decodeJson = createJsonDecoder(method.input, "rest");
  const decodePath = createPathDecoder(method, binding, decodeJson);

  edge.fastify.route({
    method: binding.verb,
    url: binding.path.replace(/\{(\w+)\}/g, ":$1"),
    async handler(request: FastifyRequest, reply: FastifyReply) {
      const requestId = edge.requestIds();
      const state = new CallState(request.ip);
      let call: Call | undefined;
      try {
        const body = binding.hasBody ? await readBody(request.raw, bodyLimitBytes, requestTimeoutMs) : undefined;
        const decode = body === undefined ? () => decodePath(request) : () => decodeJson(parseJson(body, request));
        state.stages.mark("receive");
        call = new Call(method, request.method, request.url, request.headers, decode, undefined);
        call.values.set(requestIdKey, requestId);
        call.values.set(callStateKey, state);
        const data = encode(await invoke(call));
        reply.header("content-type", "application/json; charset=utf-8").header("x-request-id", requestId);
        writeAnswerHeaders(reply.raw, call.values);
        return `{"success":true,"data":${data}}`;
      } catch (error) {
        if (call !== undefined) writeAnswerHeaders(reply.raw, call.values);
        return sendFailure(reply, failureOf(error), requestId);
      }
    },
  });
}

/** Answers with the error envelope. */
export function sendFailure(reply: FastifyReply, failure: TradewireError, requestId: string): FastifyReply {
  reply.code(httpStatusOf(failure)).header("content-type", "application/json; charset=utf-8");
  reply.header("x-request-id", requestId);
  if (failure.code === "AUTH_ERROR") reply.header("www-authenticate", "Bearer");
  const { retryAfterMs } = failure.facts;
  if (retryAfterMs !== undefined) reply.header("retry-after", String(Math.ceil(retryAfterMs / 1000)));
  return reply.send(toEnvelope(failure, requestId));
}

function parseJson(body: Buffer, request: FastifyRequest): unknown {
  const type = request.headers["content-type"];
  if (type !== "application/json" && !/^application\/json *(;|$)/i.test(type ?? "")) {
    throw invalidField("Content-Type", "Send the request with the header Content-Type: application/json.");
  }
  refuseQuery(request);
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new TradewireError("VALIDATION_ERROR", "The request body is not valid JSON.");
  }
}

function createPathDecoder(
  method: DescMethodUnary,
  binding: RestBinding,
  decode: (json: unknown) => Message,
): (request: FastifyRequest) => Message {
  const fields = binding.variables.map((variable) => {
    const field = method.input.fields.find(({ name }) => name === variable);
    if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
      throw new Error(`the path of ${method.name} holds ${variable}, which is not a string of its request`);
    }
    return { variable, jsonName: field.jsonName };
  });
  return (request) => {
    refuseQuery(request);
    const params = request.params as Readonly<Record<string, string>>;
    return decode(Object.fromEntries(fields.map(({ variable, jsonName }) => [jsonName, params[variable]])));
  };
}

/** A field in the query would otherwise pass for one that was never sent. */
function refuseQuery(request: FastifyRequest): void {
  for (const name in request.query as object) {
    throw invalidField(name, `${name} is not read from the query: send request fields in the body or the path.`);
  }
}
