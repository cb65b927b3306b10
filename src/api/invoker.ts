import type { IncomingHttpHeaders } from "node:http";
import { create, type DescMethodUnary, isMessage, type Message } from "@bufbuild/protobuf";
import {
  type ContextValues,
  createContextValues,
  type HandlerContext,
  type Interceptor,
  type StreamRequest,
  type UnaryRequest,
} from "@connectrpc/connect";

/**
 * One unary call on its way through the interceptors to the implementation: their request and its context at once. A
 * class with getters on its prototype, because what is rarely asked for (Headers, an abort signal) costs more than the
 * rest of the call. The message is decoded when first asked for, so that a caller without a key is refused before that.
 */
export class Call {
  readonly stream = false as const;
  readonly protocolName = "tradewire";
  readonly method: DescMethodUnary;
  readonly service: DescMethodUnary["parent"];
  readonly requestMethod: string;
  readonly url: string;
  readonly nodeHeaders: IncomingHttpHeaders;
  readonly values: ContextValues;
  #decode: () => Message;
  #message: Message | undefined;
  #signal: AbortSignal | undefined;
  #header: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(
    method: DescMethodUnary,
    requestMethod: string,
    url: string,
    nodeHeaders: IncomingHttpHeaders,
    decode: () => Message,
    signal: AbortSignal | undefined,
    values: ContextValues = createContextValues(),
  ) {
    this.values = values;
    this.method = method;
    this.service = method.parent;
    this.requestMethod = requestMethod;
    this.url = url;
    this.nodeHeaders = nodeHeaders;
    this.#decode = decode;
    this.#signal = signal;
  }

  get message(): Message {
    this.#message ??= this.#decode();
    return this.#message;
  }

  get contextValues(): ContextValues {
    return this.values;
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }

  get header(): Headers {
    this.#header ??= toHeaders(this.nodeHeaders);
    return this.#header;
  }

  get requestHeader(): Headers {
    return this.header;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers();
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  timeoutMs(): undefined {
    return undefined;
  }
}

class Answer {
  readonly stream = false as const;
  readonly call: Call;
  readonly message: Message;

  constructor(call: Call, message: Message) {
    this.call = call;
    this.message = message;
  }

  get service(): Call["service"] {
    return this.call.service;
  }

  get method(): DescMethodUnary {
    return this.call.method;
  }

  get header(): Headers {
    return this.call.responseHeader;
  }

  get trailer(): Headers {
    return this.call.responseTrailer;
  }
}

function toHeaders(nodeHeaders: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(nodeHeaders)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/** A request header by its lower-case name, without building Headers where the call came through an invoker. */
export function headerOf(request: UnaryRequest | StreamRequest, name: string): string | undefined {
  if (request instanceof Call) {
    const value = request.nodeHeaders[name];
    return Array.isArray(value) ? value[0] : value;
  }
  return request.header.get(name) ?? undefined;
}

export type Invoker = (call: Call) => Promise<Message>;

export type UnaryImplementation = (request: Message, context: HandlerContext) => unknown;

/** Runs calls of one method: the interceptors, composed once, around the implementation. The same two that the RPC router has. */
export function createInvoker(
  method: DescMethodUnary,
  implementation: UnaryImplementation,
  interceptors: readonly Interceptor[],
): Invoker {
  const answer = async (call: Call): Promise<Answer> => {
    const output = await implementation(call.message, call as unknown as HandlerContext);
    return new Answer(call, isMessage(output) ? output : create(method.output, output as Record<string, unknown>));
  };
  const chain = interceptors.reduceRight(
    (next, interceptor) => interceptor(next),
    answer as unknown as ReturnType<Interceptor>,
  );
  return async (call) => (await chain(call as unknown as UnaryRequest)).message as Message;
}
