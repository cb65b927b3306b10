import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { UnaryCall } from "../call/call.ts";
import { type CallState, forEachHeader, responseHeaders } from "../call/call-state.ts";
import { failureOfCall, toConnectError } from "../call/failure.ts";
import type { Invoker, Output } from "../call/invoker.ts";
import { isOpen } from "../http/open-response.ts";
import { readBody } from "../http/read-body.ts";
import type { ApiSettings } from "../settings.ts";
import { inflaterOf } from "./coding/inflate.ts";
import type { Wire } from "./wire.ts";

/** What one call in everyday form runs with. */
interface ExchangeParts {
  readonly method: DescMethodUnary;
  readonly invoke: Invoker;
  readonly wire: Wire;
  readonly state: CallState;
  readonly settings: ApiSettings;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** One unary call in everyday form, from its body to its response. */
export class UnaryExchange {
  readonly #parts: ExchangeParts;
  #call: UnaryCall | undefined;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** Reads the request, serves the call and writes the response, whatever the outcome. */
  run(): void {
    const { request, settings, wire } = this.#parts;
    const { bodyLimitBytes, requestTimeoutMs } = settings;
    readBody(request, { bodyLimitBytes: bodyLimitBytes + wire.overheadBytes, requestTimeoutMs }, (body) => {
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
    const { method, invoke, wire, state, settings, request } = this.#parts;
    const { url, headers } = request;
    state.stages.mark("receive");
    const deadlineMs = wire.deadlineMs(headers);
    const inflate = inflaterOf(headers[wire.codingHeader], settings.bodyLimitBytes);
    const decode = () => wire.decode(body, inflate);
    const run = (signal: AbortSignal | undefined) => {
      this.#call = new UnaryCall(method, state, {
        requestMethod: "POST",
        url: url!,
        headers,
        decode,
        signal,
        deadlineMs,
      });
      return invoke(this.#call);
    };
    return deadlineMs === undefined ? run(undefined) : runWithin(deadlineMs, run);
  }

  #answer(output: Output): void {
    const { wire, response, state } = this.#parts;
    if (!isOpen(response)) return;
    for (const [name, value] of this.#call?.addedHeader ?? []) response.setHeader(name, value);
    wire.answer(response, output, state, this.#call?.addedTrailer);
  }

  #refuse(error: unknown): void {
    const { method, wire, state, response } = this.#parts;
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
    const { state, response } = this.#parts;
    forEachHeader(responseHeaders(state, failure), (name, value) => response.setHeader(name, value));
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
