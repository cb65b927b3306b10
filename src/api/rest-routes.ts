import type { ServerResponse } from "node:http";
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
import { Call } from "./call.ts";
import { answerHeaders, CallState } from "./call-state.ts";
import { failureOf, httpStatusOf, toEnvelope } from "./failure.ts";
import type { Invoker } from "./invoker.ts";
import { createJsonDecoder } from "./json-decoder.ts";
import { createJsonEncoder } from "./json-encoder.ts";
import { isOpen } from "./open-response.ts";
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
  const invoke = edge.invokerOf(method);
  const encode = createJsonEncoder(method.output);
  const decodeJson = createJsonDecoder(method.input, "rest");
  const decodePath = createPathDecoder(method, binding, decodeJson);

  const serve = (request: FastifyRequest, response: ServerResponse, state: CallState, decode: () => Message): void => {
    state.stages.mark("receive");
    const refuse = (error: unknown) => writeFailure(response, failureOf(error), state);
    try {
      const { method: requestMethod, url, headers } = request;
      const output = invoke(new Call(method, state, { requestMethod, url, headers, decode }));
      if (output instanceof Promise) {
        output.then((waited) => writeAnswer(response, encode(waited), state)).catch(refuse);
      } else {
        writeAnswer(response, encode(output), state);
      }
    } catch (error) {
      refuse(error);
    }
  };

  edge.fastify.route({
    method: binding.verb,
    url: binding.path.replace(/\{(\w+)\}/g, ":$1"),
    handler(request, reply) {
      // Answers are written past the router, which has nothing to add to them.
      reply.hijack();
      const state = new CallState(edge.requestIds(), request.ip);
      if (!binding.hasBody) return serve(request, reply.raw, state, () => decodePath(request));
      readBody(request.raw, edge.settings, (body) => {
        if (body instanceof TradewireError) writeFailure(reply.raw, body, state);
        else serve(request, reply.raw, state, () => decodeJson(parseJson(body, request)));
      });
    },
  });
}

const JSON_TYPE = "application/json; charset=utf-8";

/** @param data JSON of ASCII alone, so that it has as many bytes as characters */
function writeAnswer(response: ServerResponse, data: string, state: CallState): void {
  if (!isOpen(response)) return;
  const text = `{"success":true,"data":${data}}`;
  const headers = ["Content-Type", JSON_TYPE, "Content-Length", String(text.length), ...answerHeaders(state)];
  response.writeHead(200, headers).end(text, "latin1");
}

function writeFailure(response: ServerResponse, failure: TradewireError, state: CallState): void {
  if (!isOpen(response)) {
    response.destroy();
    return;
  }
  const text = toEnvelope(failure, state.requestId);
  const length = String(Buffer.byteLength(text));
  const headers = ["Content-Type", JSON_TYPE, "Content-Length", length, ...answerHeaders(state, failure)];
  response.writeHead(httpStatusOf(failure), headers).end(text);
}

/** Answers with the error envelope what never became a call. */
export function sendFailure(reply: FastifyReply, failure: TradewireError, requestId: string): FastifyReply {
  reply.code(httpStatusOf(failure)).header("content-type", JSON_TYPE).header("x-request-id", requestId);
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
