import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type DescMethod, type DescMethodUnary, type DescService, type Message, ScalarType } from "@bufbuild/protobuf";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { type CallRequest, UnaryCall } from "../call/call.ts";
import { type CallState, responseHeaders, type StartCall } from "../call/call-state.ts";
import { failureOfCall } from "../call/failure.ts";
import type { CallOutcome, Invoker, Output } from "../call/invoker.ts";
import { ENVELOPE_HEADERS, httpStatusOf, toEnvelope } from "../http/envelope.ts";
import { type AnswerBytes, beginAnswer } from "../http/lane/answer-bytes.ts";
import { beginningOfHead, LaneResponse } from "../http/lane/lane-exchange.ts";
import { Piece } from "../http/lane/piece.ts";
import { isOpen } from "../http/open-response.ts";
import { parseJson, requirePlain } from "../http/parse-json.ts";
import { type BodyTaker, readBody } from "../http/read-body.ts";
import type { ApiSettings } from "../settings.ts";
import { createJsonDecoder, type JsonDecoder } from "./json-decoder.ts";
import { createJsonEncoder, type JsonEncoder } from "./json-encoder.ts";
import { createQueryReader } from "./query-fields.ts";
import { type RestBinding, restBindingOf } from "./rest-binding.ts";

/** What REST routes need of the edge. */
interface RestEdge {
  readonly settings: ApiSettings;
  readonly startCall: StartCall;
  readonly invokerOf: (method: DescMethodUnary) => Invoker;
}

/** One request for one method, routed by Fastify or directly. */
export interface RestRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client's address. */
  readonly peer: string;
  /** Values of the path's variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Fields of the query string, accepted for request fields of methods without a body. */
  readonly query: object;
}

/** Where the fields of a request without a body stand. */
type RestFields = Pick<RestRequest, "variables" | "query">;

/** A method as REST serves it. */
export class RestRoute {
  readonly method: DescMethodUnary;
  readonly binding: RestBinding;
  readonly encode: JsonEncoder;
  readonly #edge: RestEdge;
  readonly #invoke: Invoker;
  readonly #decodeJson: JsonDecoder;
  readonly #decodePath: (request: RestFields) => Message;

  constructor(edge: RestEdge, method: DescMethodUnary, binding: RestBinding) {
    this.method = method;
    this.binding = binding;
    this.#edge = edge;
    this.#invoke = edge.invokerOf(method);
    this.encode = createJsonEncoder(method.output);
    this.#decodeJson = createJsonDecoder(method.input, "rest");
    this.#decodePath = createPathDecoder(method, binding, this.#decodeJson);
  }

  /** Serves a request to the end of its response, whatever the outcome. */
  serve(rest: RestRequest): void {
    const state = this.#edge.startCall(rest.peer);
    state.response = rest.response;
    const exchange = new RestExchange(this, rest, state);
    if (this.binding.hasBody) readBody(rest.request, this.#edge.settings, exchange);
    else exchange.run();
  }

  /** Serves the call of an exchange that has been read. */
  run(exchange: RestExchange, state: CallState): void {
    state.stages.mark("receive");
    this.#invoke(new UnaryCall(this.method, state, exchange), exchange);
  }

  /** The message of a request. @param body undefined if the method has none. @throws TradewireError VALIDATION_ERROR */
  decode(rest: Omit<RestRequest, "peer">, body: Buffer | undefined): Message {
    if (body === undefined) return this.#decodePath(rest);
    requirePlain(rest.request, rest.query);
    return this.#decodeJson(parseJson(body));
  }
}

/** A request as its call reads it, and where its outcome goes. */
class RestExchange implements Omit<RestRequest, "peer">, CallRequest, CallOutcome, BodyTaker {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly variables: RestRequest["variables"];
  readonly query: object;
  readonly #route: RestRoute;
  readonly #state: CallState;
  #body: Buffer | undefined;

  constructor(route: RestRoute, { request, response, variables, query }: RestRequest, state: CallState) {
    this.request = request;
    this.response = response;
    this.variables = variables;
    this.query = query;
    this.#route = route;
    this.#state = state;
    this.#body = undefined;
  }

  takeBody(body: Buffer | TradewireError): void {
    if (body instanceof TradewireError) this.fail(body);
    else {
      this.#body = body;
      this.run();
    }
  }

  run(): void {
    this.#route.run(this, this.#state);
  }

  answer(output: Output): void {
    try {
      if (!isOpen(this.response)) return;
      const out = beginAnswer();
      out.piece(SUCCESS);
      this.#route.encode(output, out);
      out.piece(END);
      writeAnswer(this.response, out, this.#state);
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    writeFailure(this.response, failureOfCall(this.#route, error), this.#state);
  }

  get requestMethod(): string {
    return this.#route.binding.verb;
  }

  get url(): string {
    return this.request.url!;
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  decode(): Message {
    return this.#route.decode(this, this.#body);
  }
}

/** A route for every annotated method of a service. */
export function createRestRoutes(edge: RestEdge, service: DescService): readonly RestRoute[] {
  return service.methods.flatMap((method) => {
    const binding = restBindingOf(method);
    if (binding === undefined || method.methodKind !== "unary") return [];
    return [new RestRoute(edge, method as DescMethodUnary, binding)];
  });
}

const [CACHE, NO_STORE, TYPE, JSON_TYPE] = ENVELOPE_HEADERS;
const JSON_HEAD = beginningOfHead(`\r\n${CACHE}: ${NO_STORE}\r\n${TYPE}: ${JSON_TYPE}\r\nContent-Length: `);

const SUCCESS = new Piece('{"success":true,"data":');
const END = new Piece("}");

function writeAnswer(response: ServerResponse, body: AnswerBytes, state: CallState): void {
  const lane = LaneResponse.unset(response);
  if (lane !== undefined) {
    lane.answer(JSON_HEAD, state, body);
    return;
  }
  const headers = [...ENVELOPE_HEADERS, "Content-Length", String(body.length), ...responseHeaders(state)];
  response.writeHead(200, headers).end(body.text(), "latin1");
}

/** Writes the envelope of a failure; breaks a response off that has begun. */
export function writeFailure(response: ServerResponse, failure: TradewireError, state: CallState): void {
  if (!isOpen(response)) {
    response.destroy();
    return;
  }
  const text = toEnvelope(failure, state.requestId);
  const length = String(Buffer.byteLength(text));
  const headers = [...ENVELOPE_HEADERS, "Content-Length", length, ...responseHeaders(state, failure)];
  response.writeHead(httpStatusOf(failure), headers).end(text);
}

/**
 * Decodes the request of a method without a body, from the path and the query.
 *
 * @throws Error if a variable of the path is not a string field
 */
export function createPathDecoder(
  method: DescMethod,
  binding: RestBinding,
  decode: (json: unknown) => Message,
): (request: RestFields) => Message {
  const fields = binding.variables.map((variable) => {
    const field = method.input.fields.find(({ name }) => name === variable);
    if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
      throw new Error(`the path of ${method.name} contains ${variable}, which is not a string field of its request`);
    }
    return { variable, jsonName: field.jsonName };
  });
  const readQuery = createQueryReader(method.input, binding);
  return ({ variables, query }) => {
    const inPath = fields.map(({ variable, jsonName }) => [jsonName, variables[variable]]);
    return decode({ ...readQuery(query), ...Object.fromEntries(inPath) });
  };
}
