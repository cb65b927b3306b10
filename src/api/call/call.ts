import type { IncomingHttpHeaders } from "node:http";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Principal } from "../../accounts/port.ts";
import { type CallState, callStateIn, callStateKey } from "./call-state.ts";

/** The request of a unary call, on any wire. */
export interface CallRequest {
  readonly requestMethod: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The message, decoded. @throws TradewireError VALIDATION_ERROR if the bytes cannot be */
  decode(): Message;
}

/** The client's own settings for its call. */
interface ClientTerms {
  readonly signal?: AbortSignal | undefined;
  /** The client's own deadline, in milliseconds from now. */
  readonly deadlineMs?: number | undefined;
}

const NO_TERMS: ClientTerms = {};

/**
 * One unary call, passed through the gate to the implementation as its handler context. Rarely used members (Headers, an
 * abort signal, context values) are made on demand by getters on the prototype, because they cost more than the rest of
 * the call. The message is decoded on first use, so a client without a key is refused before that.
 */
export class UnaryCall {
  readonly method: DescMethodUnary;
  readonly state: CallState;
  readonly #request: CallRequest;
  readonly #deadlineAtMs: number | undefined;
  #message: Message | undefined;
  #values: ContextValues | undefined;
  #signal: AbortSignal | undefined;
  #header: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethodUnary, state: CallState, request: CallRequest, { signal, deadlineMs } = NO_TERMS) {
    this.method = method;
    this.state = state;
    this.#request = request;
    this.#signal = signal;
    this.#deadlineAtMs = deadlineMs === undefined ? undefined : state.stages.nowMs() + deadlineMs;
  }

  get protocolName(): string {
    return "tradewire";
  }

  get requestMethod(): string {
    return this.#request.requestMethod;
  }

  get url(): string {
    return this.#request.url;
  }

  /** @throws TradewireError VALIDATION_ERROR if the bytes cannot be decoded */
  get message(): Message {
    this.#message ??= this.#request.decode();
    return this.#message;
  }

  /** A request header by its lower-case name; the first value if there are several. */
  headerOf(name: string): string | undefined {
    const value = this.#request.headers[name];
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
    this.#header ??= toHeaders(this.#request.headers);
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
