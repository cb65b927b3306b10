import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { type CallRequest, UnaryCall } from "../call/call.ts";
import { type CallState, forEachHeader, responseHeaders } from "../call/call-state.ts";
import { failureOfCall, toConnectError } from "../call/failure.ts";
import type { Invoker, Output } from "../call/invoker.ts";
import { isOpen } from "../http/open-response.ts";
import { readBody } from "../http/read-body.ts";
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
export class UnaryExchange implements CallRequest {
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
    const limits = { bodyLimitBytes: bodyLimitBytes + this.#wire.overheadBytes, requestTimeoutMs };
    readBody(this.#request, limits, (body) => {
      try {
        if (body instanceof TradewireError) throw body;
        const output = this.#invoke(body);
        if (output instanceof Promise) {
          output.then((waited) => this.#answer(waited)).catch((error) => this.#refuse(error));
        } else this.#answer(output);
      } catch (error) {
        this.#refuse(error);
      }
    });
  }

  #invoke(body: Buffer): Output | Promise<Output> {
    const { method, invoke, settings } = this.#parts;
    const { headers } = this.#request;
    this.#state.stages.mark("receive");
    const deadlineMs = this.#wire.deadlineMs(headers);
    this.#body = body;
    this.#inflate = inflaterOf(headers[this.#wire.codingHeader], settings.bodyLimitBytes);
    if (deadlineMs === undefined) {
      this.#call = new UnaryCall(method, this.#state, this);
      return invoke(this.#call);
    }
    return runWithin(deadlineMs, (signal) => {
      this.#call = new UnaryCall(method, this.#state, this, { signal, deadlineMs });
      return invoke(this.#call);
    });
  }

  #answer(output: Output): void {
    const response = this.#response;
    if (!isOpen(response)) return;
    const added = this.#call?.addedHeader;
    if (added !== undefined) for (const [name, value] of added) response.setHeader(name, value);
    this.#wire.answer(response, output, this.#state, this.#call?.addedTrailer);
  }

  #refuse(error: unknown): void {
    const { method } = this.#parts;
    const [wire, state, response] = [this.#wire, this.#state, this.#response];
    if (!isOpen(response)) {
      response.destroy();
      return;
    }
    if (error instanceof ConnectError) {
      this.#setHeaders();
      wire.refuse(response, error, this.#call?.addedTrailer);
      return;
    }
    const failure = failureOfCall({ method }, error);
    this.#setHeaders(failure);
    wire.refuse(response, toConnectError(failure, state.requestId, method.parent), this.#call?.addedTrailer);
  }

  #setHeaders(failure?: TradewireError): void {
    const response = this.#response;
    forEachHeader(responseHeaders(this.#state, failure), (name, value) => response.setHeader(name, value));
    for (const [name, value] of this.#call?.addedHeader ?? []) response.setHeader(name, value);
  }
}

/** @throws TradewireError REQUEST_TIMEOUT after the deadline; then the signal is aborted too */
async function runWithin(deadlineMs: number, run: (signal: AbortSignal) => Output | Promise<Output>): Promise<Output> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TradewireError("REQUEST_TIMEOUT", "The deadline set by the client passed before the response.");
      controller.abort(error);
      reject(error);
    }, deadlineMs);
  });
  try {
    return await Promise.race([run(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
