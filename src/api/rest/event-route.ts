import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { DescMethodServerStreaming, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { type CallRequest, UnaryCall } from "../call/call.ts";
import { type CallState, responseHeaders, type StartCall } from "../call/call-state.ts";
import { failureOfCall, stoppingRefusal } from "../call/failure.ts";
import type { Gate } from "../call/gate.ts";
import { toEnvelope } from "../http/envelope.ts";
import { beginAnswer } from "../http/lane/answer-bytes.ts";
import { isConnected, isOpen } from "../http/open-response.ts";
import { createJsonDecoder } from "./json-decoder.ts";
import { createJsonEncoder, type JsonEncoder } from "./json-encoder.ts";
import { type RestBinding, restBindingOf } from "./rest-binding.ts";
import { createPathDecoder, type RestRequest, writeFailure } from "./rest-route.ts";

/** How often a stream without news says that it is alive, so that no proxy closes it. Milliseconds. */
const ALIVE_EVERY_MS = 15_000;

/** A server stream of a service. */
export type StreamImplementation = (request: Message, context: HandlerContext) => AsyncIterable<object>;

/** What event routes need of the edge. */
interface EventEdge {
  readonly startCall: StartCall;
  readonly gate: Gate;
  readonly streamOf: (method: DescMethodServerStreaming) => StreamImplementation;
}

/**
 * A server stream as REST serves it: server-sent events whose data are the messages of the typed stream, in the JSON of REST.
 * `end` follows the last message, `error` holds the envelope of a failure; a stream that stops without either was cut.
 */
export class EventRoute {
  readonly method: DescMethodServerStreaming;
  readonly binding: RestBinding;
  /** Name of the events: `trade` for WatchTrade. */
  readonly #event: string;
  readonly #edge: EventEdge;
  readonly #encode: JsonEncoder;
  readonly #decode: (request: RestRequest) => Message;

  constructor(edge: EventEdge, method: DescMethodServerStreaming, binding: RestBinding) {
    this.method = method;
    this.binding = binding;
    this.#event = method.name.replace(/^Watch/, "").toLowerCase();
    this.#edge = edge;
    this.#encode = createJsonEncoder(method.output);
    this.#decode = createPathDecoder(method, binding, createJsonDecoder(method.input, "rest"));
  }

  /** Serves a request until the stream ends or the client disconnects. */
  serve(rest: RestRequest): void {
    const { response } = rest;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    // The client is gone; there is nobody left to report to.
    response.on("error", () => gone.abort());
    const state = this.#edge.startCall(rest.peer);
    state.response = response;
    void this.#run(rest, state, gone.signal);
  }

  async #run(rest: RestRequest, state: CallState, signal: AbortSignal): Promise<void> {
    const { request, response } = rest;
    const { gate, streamOf } = this.#edge;
    const asked: CallRequest = {
      requestMethod: this.binding.verb,
      url: request.url!,
      headers: request.headers,
      decode: () => this.#decode(rest),
    };
    const call = new UnaryCall(this.method as unknown as DescMethodUnary, state, asked, { signal });
    let failure: unknown;
    try {
      await gate.enter(call);
      await this.#send(streamOf(this.method)(call.message, call as unknown as HandlerContext), response, state);
    } catch (error) {
      // A stream whose client disconnected has not failed.
      if (!signal.aborted) failure = error;
    }
    gate.leave(call, failure);
    // The service is closing: nothing has ended or failed, so a stream that has begun is only cut.
    if (failure instanceof ConnectError && !isOpen(response)) failure = undefined;
    if (failure !== undefined)
      this.#refuse(failure instanceof ConnectError ? stoppingRefusal() : failure, response, state);
    else if (isConnected(response)) response.end();
  }

  async #send(messages: AsyncIterable<object>, response: ServerResponse, state: CallState): Promise<void> {
    let alive: NodeJS.Timeout | undefined;
    try {
      for await (const message of messages) {
        if (!isConnected(response)) return;
        if (alive === undefined) {
          // The first message proves that the request can be served.
          writeHead(response, state);
          alive = setInterval(() => {
            if (isConnected(response) && !response.writableNeedDrain) response.write(": alive\n\n");
          }, ALIVE_EVERY_MS);
        }
        if (!response.write(toEvent(this.#event, this.#jsonOf(message)))) await drained(response);
      }
      if (!isConnected(response)) return;
      if (alive === undefined) writeHead(response, state);
      response.write(toEvent("end", "{}"));
    } finally {
      clearInterval(alive);
    }
  }

  #jsonOf(message: object): string {
    const out = beginAnswer();
    this.#encode(message, out);
    return out.text();
  }

  #refuse(error: unknown, response: ServerResponse, state: CallState): void {
    const failure = failureOfCall(this, error);
    if (isOpen(response)) writeFailure(response, failure, state);
    else if (isConnected(response)) response.end(toEvent("error", toEnvelope(failure, state.requestId)));
  }
}

/** An event route for every annotated server stream of a service. */
export function createEventRoutes(edge: EventEdge, service: DescService): readonly EventRoute[] {
  return service.methods.flatMap((method) => {
    const binding = restBindingOf(method);
    if (binding === undefined || method.methodKind !== "server_streaming") return [];
    return [new EventRoute(edge, method as DescMethodServerStreaming, binding)];
  });
}

function writeHead(response: ServerResponse, state: CallState): void {
  const headers = ["Content-Type", "text/event-stream", "Cache-Control", "no-store", "X-Accel-Buffering", "no"];
  response.writeHead(200, [...headers, ...responseHeaders(state)]);
}

/** One event. @param json without line breaks */
const toEvent = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;

/** Resolves once the client has read what waits, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  const until = new AbortController();
  const { signal } = until;
  try {
    await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    until.abort();
  }
}
