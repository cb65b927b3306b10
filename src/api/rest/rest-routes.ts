import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type DescMethodUnary,
  type DescService,
  getOption,
  hasOption,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply } from "fastify";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import { Call } from "../call/call.ts";
import { answerHeaders, CallState } from "../call/call-state.ts";
import { failureOfCall, httpStatusOf, toEnvelope } from "../call/failure.ts";
import type { Invoker } from "../call/invoker.ts";
import { isOpen } from "../http/open-response.ts";
import { parseJson } from "../http/parse-json.ts";
import { readBody } from "../http/read-body.ts";
import type { ApiSettings } from "../settings.ts";
import { createJsonDecoder } from "./json-decoder.ts";
import { createJsonEncoder } from "./json-encoder.ts";

interface RestBinding {
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
  readonly settings: ApiSettings;
  readonly requestIds: () => string;
  readonly invokerOf: (method: DescMethodUnary) => Invoker;
}

/** One request for one method, whichever way it was routed. */
interface RestRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The caller's address. */
  readonly peer: string;
  /** What the path holds. */
  readonly variables: Readonly<Record<string, string>>;
  /** Fields after the question mark: none is ever read. */
  readonly query: object;
}

/** A method as REST serves it. */
export interface RestRoute {
  readonly binding: RestBinding;
  serve(request: RestRequest): void;
}

/** Every annotated method of a service. */
export function createRestRoutes(edge: RestEdge, service: DescService): readonly RestRoute[] {
  return service.methods.flatMap((method) => {
    const binding = restBindingOf(method);
    return binding === undefined ? [] : [createRestRoute(edge, method as DescMethodUnary, binding)];
  });
}

/** Registers routes with the router, which has nothing to add to their answers. */
export function registerRestRoutes(fastify: FastifyInstance, routes: readonly RestRoute[]): void {
  for (const { binding, serve } of routes) {
    fastify.route({
      method: binding.verb,
      url: binding.path.replace(/\{(\w+)\}/g, ":$1"),
      handler(request, reply) {
        reply.hijack();
        const variables = request.params as RestRequest["variables"];
        serve({
          request: request.raw,
          response: reply.raw,
          peer: request.ip,
          variables,
          query: request.query as object,
        });
      },
    });
  }
}

function createRestRoute(edge: RestEdge, method: DescMethodUnary, binding: RestBinding): RestRoute {
  const invoke = edge.invokerOf(method);
  const encode = createJsonEncoder(method.output);
  const decodeJson = createJsonDecoder(method.input, "rest");
  const decodePath = createPathDecoder(method, binding, decodeJson);

  const run = ({ request, response }: RestRequest, state: CallState, decode: () => Message): void => {
    state.stages.mark("receive");
    const refuse = (error: unknown) => writeFailure(response, failureOfCall({ method }, error), state);
    try {
      const output = invoke(
        new Call(method, state, { requestMethod: binding.verb, url: request.url!, headers: request.headers, decode }),
      );
      if (output instanceof Promise) {
        output.then((waited) => writeAnswer(response, encode(waited), state)).catch(refuse);
      } else {
        writeAnswer(response, encode(output), state);
      }
    } catch (error) {
      refuse(error);
    }
  };

  return {
    binding,
    serve(rest) {
      const state = new CallState(edge.requestIds(), rest.peer);
      if (!binding.hasBody) return run(rest, state, () => decodePath(rest));
      readBody(rest.request, edge.settings, (body) => {
        if (body instanceof TradewireError) writeFailure(rest.response, failureOfCall({ method }, body), state);
        else run(rest, state, () => decodeJson(parseBody(body, rest)));
      });
    },
  };
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

function parseBody(body: Buffer, { request, query }: RestRequest): unknown {
  const type = request.headers["content-type"];
  if (type !== "application/json" && !/^application\/json *(;|$)/i.test(type ?? "")) {
    throw invalidField("Content-Type", "Send the request with the header Content-Type: application/json.");
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw invalidField("Content-Encoding", "Send the request body as it is, not compressed: no request needs it.");
  }
  refuseQuery(query);
  return parseJson(body);
}

function createPathDecoder(
  method: DescMethodUnary,
  binding: RestBinding,
  decode: (json: unknown) => Message,
): (request: RestRequest) => Message {
  const fields = binding.variables.map((variable) => {
    const field = method.input.fields.find(({ name }) => name === variable);
    if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
      throw new Error(`the path of ${method.name} holds ${variable}, which is not a string of its request`);
    }
    return { variable, jsonName: field.jsonName };
  });
  return ({ variables, query }) => {
    refuseQuery(query);
    return decode(Object.fromEntries(fields.map(({ variable, jsonName }) => [jsonName, variables[variable]])));
  };
}

/** A field in the query would otherwise pass for one that was never sent. */
function refuseQuery(query: object): void {
  for (const name in query) {
    throw invalidField(name, `${name} is not read from the query: send request fields in the body or the path.`);
  }
}
