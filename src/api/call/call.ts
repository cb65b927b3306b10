import type { IncomingHttpHeaders } from "node:http";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Principal } from "../../accounts/port.ts";
import { type CallState, callStateIn, callStateKey } from "./call-state.ts";

/**
 * One unary call, passed through the gate to the implementation as its handler context. Rarely used members (Headers, an
 * abort signal, context values) are made on demand by getters on the prototype, because they cost more than the rest of
 * the call. The message is decoded on first use, so a client without a key is refused before that.
 */
export class UnaryCall {
  readonly method: DescMethodUnary;
  readonly state: CallState;
  readonly requestMethod: string;
  readonly url: string;
  readonly nodeHeaders: IncomingHttpHeaders;
  readonly protocolName = "tradewire";
  readonly #decode: () => Message;
  readonly #deadlineAtMs: number | undefined;
  #message: Message | undefined;
  #values: ContextValues | undefined;
  #signal: AbortSignal | undefined;
  #header: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(
    method: DescMethodUnary,
    state: CallState,
    request: {
      readonly requestMethod: string;
      readonly url: string;
      readonly headers: IncomingHttpHeaders;
      readonly decode: () => Message;
      readonly signal?: AbortSignal | undefined;
      /** The client's own deadline, in milliseconds from now. */
      readonly deadlineMs?: number | undefined;
    },
  ) {
    this.method = method;
    this.state = state;
    this.requestMethod = request.requestMethod;
    this.url = request.url;
    this.nodeHeaders = request.headers;
    this.#decode = request.decode;
    this.#signal = request.signal;
    this.#deadlineAtMs = request.deadlineMs === undefined ? undefined : state.stages.nowMs() + request.deadlineMs;
  }

  /** @throws TradewireError VALIDATION_ERROR if the bytes cannot be decoded */
  get message(): Message {
    this.#message ??= this.#decode();
    return this.#message;
  }

  /** A request header by its lower-case name; the first value if there are several. */
  headerOf(name: string): string | undefined {
    const value = this.nodeHeaders[name];
    return Array.isArray(value) ? value[0] : value;
  }

  get service(): DescMethodUnary["parent"] {
    return this.method.parent;
  }

  get values(): ContextValues {
    this.#values ??= createContextValues().set(callStateKey, this.state);
    return this.#values;
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }

  get requestHeader(): Headers {
    this.#header ??= toHeaders(this.nodeHeaders);
    return this.#header;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers();
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  /** Response headers set by the implementation; undefined if it set none. */
  get addedHeader(): Headers | undefined {
    return this.#responseHeader;
  }

  /** Response trailers set by the implementation; undefined if it set none. */
  get addedTrailer(): Headers | undefined {
    return this.#responseTrailer;
  }

  /** Milliseconds left before the client's deadline; undefined without one. */
  timeoutMs(): number | undefined {
    return this.#deadlineAtMs === undefined ? undefined : this.#deadlineAtMs - this.state.stages.nowMs();
  }
}

/** The state of the call behind a handler context, on any wire. */
export function stateOf(context: Pick<HandlerContext, "values">): CallState {
  return context instanceof UnaryCall ? context.state : callStateIn(context.values);
}

/** The authenticated client. @throws Error if the method needs no key */
export function principalOf(context: Pick<HandlerContext, "values">): Principal {
  const { principal } = stateOf(context);
  if (principal === undefined) throw new Error("the call was not authenticated");
  return principal;
}

function toHeaders(nodeHeaders: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(nodeHeaders)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}
