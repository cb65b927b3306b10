import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { type CallRequest, UnaryCall } from "../call/call.ts";
import { type CallState, forEachHeader, responseHeaders } from "../call/call-state.ts";
import { refusalOfCall } from "../call/failure.ts";
import type { CallOutcome, Invoker, Output } from "../call/invoker.ts";
import { isOpen } from "../http/open-response.ts";
import { type BodyTaker, readBody } from "../http/read-body.ts";
import type { ApiSettings } from "../settings.ts";
import { type Inflate, inflaterOf } from "./coding/inflate.ts";
import type { Wire } from "./wire.ts";

/** What the calls of one method in everyday form run with. */
export interface ExchangeParts {
  readonly method: DescMethodUnary;
  readonly invoke: Invoker;
  readonly settings: ApiSettings;
}

/** One unary call in everyday form, from its body to its response. */
export class UnaryExchange implements CallRequest, CallOutcome, BodyTaker {
  readonly #parts: ExchangeParts;
  readonly #wire: Wire;
  readonly #state: CallState;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #body: Buffer | undefined;
  #inflate: Inflate | undefined;
  #call: UnaryCall | undefined;

  constructor(parts: ExchangeParts, wire: Wire, state: CallState, request: IncomingMessage, response: ServerResponse) {
    this.#parts = parts;
    this.#wire = wire;
    this.#state = state;
    this.#request = request;
    this.#response = response;
  }

  get requestMethod(): string {
    return "POST";
  }

  get url(): string {
    return this.#request.url!;
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  decode(): Message {
    return this.#wire.decode(this.#body!, this.#inflate);
  }

  /** Reads the request, serves the call and writes the response, whatever the outcome. */
  run(): void {
    const { bodyLimitBytes, requestTimeoutMs } = this.#parts.settings;
    const limits = { bodyLimitBytes, overheadBytes: this.#wire.overheadBytes, requestTimeoutMs };
    readBody(this.#request, limits, this);
  }

  takeBody(body: Buffer | TradewireError): void {
    try {
      if (body instanceof TradewireError) throw body;
      this.#invoke(body);
    } catch (error) {
      this.fail(error);
    }
  }

  #invoke(body: Buffer): void {
    const { method, invoke, settings } = this.#parts;
    const { headers } = this.#request;
    this.#state.stages.mark("receive");
    const deadlineMs = this.#leftMs(this.#wire.deadlineMs(headers));
    this.#body = body;
    this.#inflate = inflaterOf(headers, this.#wire.codingHeader, settings.bodyLimitBytes);
    if (deadlineMs === undefined) {
      this.#call = new UnaryCall(method, this.#state, this);
      invoke(this.#call, this);
      return;
    }
    const { signal, outcome } = within(deadlineMs, this);
    this.#call = new UnaryCall(method, this.#state, this, { signal, deadlineMs });
    invoke(this.#call, outcome);
  }

  /** What is left of the client's deadline: the body took time, and so did waiting for a turn. @throws TradewireError REQUEST_TIMEOUT */
  #leftMs(deadlineMs: number | undefined): number | undefined {
    if (deadlineMs === undefined) return undefined;
    const { stages } = this.#state;
    const leftMs = deadlineMs - (stages.nowMs() - stages.startMs);
    if (leftMs <= 0) throw tooLate();
    return leftMs;
  }

  answer(output: Output): void {
    try {
      this.#answer(output);
    } catch (error) {
      this.fail(error);
    }
  }

  #answer(output: Output): void {
    const response = this.#response;
    if (!isOpen(response)) return;
    const added = this.#call?.addedHeader;
    if (added !== undefined) for (const [name, value] of added) response.setHeader(name, value);
    this.#wire.answer(response, output, this.#state, this.#call?.addedTrailer);
  }

  fail(error: unknown): void {
    const { method } = this.#parts;
    const [wire, state, response] = [this.#wire, this.#state, this.#response];
    if (!isOpen(response)) {
      response.destroy();
      return;
    }
    const refusal = refusalOfCall({ method }, error, state.requestId);
    this.#setHeaders(refusal.failure);
    wire.refuse(response, refusal.error, this.#call?.addedTrailer);
  }

  #setHeaders(failure?: TradewireError): void {
    const response = this.#response;
    forEachHeader(responseHeaders(this.#state, failure), (name, value) => response.setHeader(name, value));
    for (const [name, value] of this.#call?.addedHeader ?? []) response.setHeader(name, value);
  }
}

const tooLate = () =>
  new TradewireError("REQUEST_TIMEOUT", "The deadline set by the client passed before the response.");

/** Passes on the outcome of a call, or REQUEST_TIMEOUT if it does not come before the deadline; then the signal is aborted too. */
function within(
  deadlineMs: number,
  outcome: CallOutcome,
): { readonly signal: AbortSignal; readonly outcome: CallOutcome } {
  const controller = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    const error = tooLate();
    controller.abort(error);
    outcome.fail(error);
  }, deadlineMs);
  const inTime = (pass: () => void) => {
    clearTimeout(timer);
    if (!isLate) pass();
  };
  return {
    signal: controller.signal,
    outcome: {
      answer: (output) => inTime(() => outcome.answer(output)),
      fail: (error) => inTime(() => outcome.fail(error)),
    },
  };
}
