import type {
  DescMessage,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { type Plain, plainAnswer } from "../answers/plain-answer.ts";
import type { CallControl, ConnectOptions } from "../order/options.ts";
import { timerMs } from "../order/times.ts";
import { TradeError } from "../trade-error.ts";
import { answerWithin } from "../trading/submission.ts";
import { BodyReader } from "./body-reader.ts";
import { toTradeError } from "./connect-error.ts";
import { createBinaryTransport } from "./connect-transport.ts";
import { createKeepAlive, type KeepAlive } from "./keep-alive.ts";
import { KnownFields } from "./known-fields.ts";
import { checkHeader, requestUrl } from "./request-parts.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_KEEP_ALIVE_MS = 60_000;

/** The calls of one client: their address, API key, time limits and end. */
export class ServiceCalls {
  /** Absolute, without a slash at its end. */
  readonly baseUrl: string;
  /** Longest wait for one response unless a call says otherwise. Milliseconds. */
  readonly timeoutMs: number;
  apiKey: string | undefined;
  readonly #transport: Transport;
  readonly #keepAlive: KeepAlive | undefined;
  readonly #fields: KnownFields;
  readonly #closing = new AbortController();

  /**
   * @param signsVersion1 whether the wallet can sign what `maxTransactionVersion` allows
   * @param ping keeps an idle connection open @throws TypeError for a URL or an API key that no request can carry
   */
  constructor(options: ConnectOptions, signsVersion1: boolean, ping: () => Promise<void>) {
    this.#fields = new KnownFields(signsVersion1 ? [] : ["maxTransactionVersion"]);
    const { href } = requestUrl(options.baseUrl, "baseUrl", globalThis.location?.href);
    if (options.apiKey !== undefined) checkHeader(options.apiKey, "apiKey");
    this.baseUrl = href.replace(/\/+$/, "");
    this.timeoutMs = timerMs(options.timeoutMs ?? DEFAULT_TIMEOUT_MS, "timeoutMs");
    this.apiKey = options.apiKey;
    const idleMs = timerMs(options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS, "keepAliveMs");
    this.#keepAlive = idleMs > 0 ? createKeepAlive(ping, idleMs) : undefined;
    this.#transport = options.transport ?? createBinaryTransport(this.baseUrl);
  }

  /** Ends with the caller's signal, and with the client. */
  signal({ signal }: CallControl): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
  }

  /** One call, ended on time whatever the transport does. Its answer is a plain object. @throws TradeError */
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    control: CallControl,
  ): Promise<Plain<MessageShape<O>>> {
    const timeoutMs = this.#timeoutMs(control);
    return this.#call(control, timeoutMs, () =>
      this.#fields.send(method.input, request, async (known) => {
        const answer = this.#transport.unary(method, this.signal(control), timeoutMs, this.#headers(), known);
        return plainAnswer(method.output, (await answer).message);
      }),
    );
  }

  /** The answers to one request, as plain objects. The first has to begin on time; pauses after it have no bound. @throws TradeError */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    request: MessageInitShape<I>,
    control: CallControl,
  ): AsyncGenerator<Plain<MessageShape<O>>, void, undefined> {
    this.#checkOpen();
    const timeoutMs = this.#timeoutMs(control);
    const requests = (async function* () {
      yield request;
    })();
    const caller = this.signal(control);
    const ending = new AbortController();
    const signal = AbortSignal.any([caller, ending.signal]);
    try {
      const begun = this.#transport.stream(method, signal, undefined, this.#headers(), requests);
      const { message: answers } = await answerWithin(timeoutMs, caller, begun);
      for await (const answer of answers) {
        this.#keepAlive?.touch();
        yield plainAnswer(method.output, answer);
      }
    } catch (error) {
      throw failureOf(error, caller);
    } finally {
      ending.abort();
    }
  }

  /** Keeps the connection open. @throws TradeError */
  async ping(control: CallControl): Promise<void> {
    const timeoutMs = this.#timeoutMs(control);
    await this.#call(control, timeoutMs, async () => {
      const signals = [this.signal(control), ...(timeoutMs > 0 ? [AbortSignal.timeout(timeoutMs)] : [])];
      const response = await fetch(`${this.baseUrl}/v1/ping`, { signal: AbortSignal.any(signals), redirect: "error" });
      await new BodyReader(response).rest();
      if (response.ok) return;
      throw new TradeError("CONNECTION_ERROR", `The service answered ping with ${response.status}.`, {
        retryable: true,
      });
    });
  }

  /** Stops keep-alive pings and aborts pending calls. */
  close(): void {
    this.#keepAlive?.close();
    this.#closing.abort();
  }

  #headers(): Record<string, string> {
    return this.apiKey === undefined ? {} : { authorization: `Bearer ${this.apiKey}` };
  }

  /** @throws TradeError ABORTED after `close` */
  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw new TradeError("ABORTED", "This client is closed: connect another.");
  }

  /** How long a call may take. @throws TypeError for an invalid time, that of a submit included, before any submit is made */
  #timeoutMs({ timeoutMs, patienceMs }: CallControl): number {
    timerMs(patienceMs ?? 0, "patienceMs");
    return timerMs(timeoutMs ?? this.timeoutMs, "timeoutMs");
  }

  async #call<T>(control: CallControl, timeoutMs: number, call: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    this.#keepAlive?.touch();
    const caller = this.signal(control);
    try {
      return await answerWithin(timeoutMs, caller, call());
    } catch (error) {
      throw failureOf(error, caller);
    }
  }
}

/** Why a call failed. Only the caller's own signal aborts one: time-outs, and a service that says it was canceled, are lost connections. */
function failureOf(error: unknown, caller: AbortSignal): TradeError {
  const failure = toTradeError(error);
  if (failure.code !== "ABORTED" || caller.aborted) return failure;
  const facts = { retryable: true, cause: error };
  return new TradeError("CONNECTION_ERROR", "The service did not answer, or broke off.", facts);
}
