import type { IncomingHttpHeaders } from "node:http";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Principal } from "../../accounts/port.ts";
import { type CallState, callStateIn, callStateKey, monotonicMs } from "./call-state.ts";

/**
 * One unary call on its way through the gate to the implementation, which sees it as its context. A class with getters on
 * its prototype, because what is rarely asked for (Headers, an abort signal, context values) costs more than the rest of
 * the call. The message is decoded when first asked for, so that a caller without a key is refused before that.
 */
export class Call {
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
      /** Milliseconds that the caller waits for the answer, from now. */
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
    this.#deadlineAtMs = request.deadlineMs === undefined ? undefined : monotonicMs() + request.deadlineMs;
  }

  get message(): Message {
    this.#message ??= this.#decode();
    return this.#message;
  }

  /** A request header by its lower-case name; the first where there are several. */
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

  /** Headers that the implementation adds to the answer; undefined where it asked for none. */
  get addedHeader(): Headers | undefined {
    return this.#responseHeader;
  }

  /** As `addedHeader`, of trailers. */
  get addedTrailer(): Headers | undefined {
    return this.#responseTrailer;
  }

  /** Milliseconds left of what the caller waits. */
  timeoutMs(): number | undefined {
    return this.#deadlineAtMs === undefined ? undefined : this.#deadlineAtMs - monotonicMs();
  }
}

/** The state of the call that an implementation serves, whichever way it came. */
export function stateOf(context: Pick<HandlerContext, "values">): CallState {
  return context instanceof Call ? context.state : callStateIn(context.values);
}

/** Who calls. Known wherever a key is needed. */
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
