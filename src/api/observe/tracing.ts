import type { CallRecord } from "../call/call-record.ts";

interface TracingOptions {
  /** Base URL of the collector; spans are posted to `/v1/traces` below it. */
  readonly endpoint: string;
  /** Sent with every batch, such as the credentials of the collector. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Share of calls to trace if the client's trace does not decide it. 0 to 100. */
  readonly percent: number;
  /** Epoch milliseconds minus the monotonic clock of the records. */
  readonly epochOffsetMs: number;
  /** Random bytes for ids and sampling, from a cryptographic source. */
  readonly randomBytes: (length: number) => Buffer;
  readonly warn: (message: string) => void;
}

const FLUSH_MS = 1_000;
const MAX_WAITING = 10_000;
const SEND_TIMEOUT_MS = 5_000;
const SERVER_SPAN = 2;
const INTERNAL_SPAN = 1;
const STATUS_ERROR = 2;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const RANDOM_BYTES = 4_096;
/** Ids of zeros are invalid, and a collector refuses a whole batch that contains one. @see https://www.w3.org/TR/trace-context/ */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Traces of calls by stage, sent to an OpenTelemetry collector. Spans are made after a call has ended, from times that are
 * recorded anyway, so a call in progress pays nothing. A collector that does not answer loses spans and affects no call.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export class Tracing {
  readonly #options: TracingOptions;
  readonly #url: string;
  readonly #timer: NodeJS.Timeout;
  /** Random bytes for sampling, drawn many at a time: one draw per call would cost more than everything else here. */
  #random: Buffer = Buffer.alloc(0);
  #waiting: object[] = [];
  #failed = false;

  /** Sends spans every second until closed. */
  constructor(options: TracingOptions) {
    this.#options = options;
    this.#url = `${options.endpoint.replace(/\/$/, "")}/v1/traces`;
    this.#timer = setInterval(() => void this.#flush(), FLUSH_MS);
    this.#timer.unref();
  }

  /** Queues the spans of a finished call, if it is sampled and the queue has room. */
  record(call: CallRecord): void {
    const [, traceId, parentSpanId, flags] = TRACEPARENT.exec(call.traceparent ?? "") ?? [];
    const asks = flags === undefined ? undefined : (Number.parseInt(flags, 16) & 1) === 1;
    // Anyone may ask for no trace; only callers with a key may ask for one.
    const isSampled = asks === false || (asks && call.keyId !== undefined) ? asks : this.#samples();
    if (!isSampled || this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(...this.#spansOf(call, traceId ?? this.#randomId(TRACE_ID_BYTES), parentSpanId));
  }

  /** Stops the timer and sends the remaining spans. */
  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#flush();
  }

  #samples(): boolean {
    const { percent, randomBytes } = this.#options;
    if (percent === 0) return false;
    if (this.#random.length === 0) this.#random = randomBytes(RANDOM_BYTES);
    const drawn = this.#random.readUInt32BE();
    this.#random = this.#random.subarray(4);
    return (drawn / 2 ** 32) * 100 < percent;
  }

  #randomId(bytes: number): string {
    return this.#options.randomBytes(bytes).toString("hex");
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const { headers, serviceName, warn } = this.#options;
    const spans = this.#waiting;
    this.#waiting = [];
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        // The headers may hold credentials, which are for this collector alone.
        redirect: "error",
        body: JSON.stringify(requestOf(serviceName, spans)),
        signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`status ${response.status}`);
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) warn(`Traces cannot be sent: ${error instanceof Error ? error.message : String(error)}`);
      this.#failed = true;
    }
  }

  #spansOf(call: CallRecord, traceId: string, parentSpanId: string | undefined): object[] {
    const { epochOffsetMs } = this.#options;
    const nanos = (ms: number) => BigInt(Math.round((ms + epochOffsetMs) * 1e6)).toString();
    const { stages, durationMs } = call;
    const spanId = this.#randomId(SPAN_ID_BYTES);
    const root = {
      traceId,
      spanId,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      name: call.method,
      kind: SERVER_SPAN,
      startTimeUnixNano: nanos(stages.startMs),
      endTimeUnixNano: nanos(stages.startMs + durationMs),
      attributes: [attribute("tradewire.request_id", call.requestId), attribute("tradewire.code", call.code)],
      status: call.code === "OK" ? {} : { code: STATUS_ERROR, message: call.code },
    };
    const children = stages.names.map((name, i) => ({
      traceId,
      spanId: this.#randomId(SPAN_ID_BYTES),
      parentSpanId: spanId,
      name,
      kind: INTERNAL_SPAN,
      startTimeUnixNano: nanos(i === 0 ? stages.startMs : stages.endsMs[i - 1]!),
      endTimeUnixNano: nanos(stages.endsMs[i]!),
      attributes: [],
      status: {},
    }));
    return [root, ...children];
  }
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

function requestOf(serviceName: string, spans: readonly object[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: [attribute("service.name", serviceName)] },
        scopeSpans: [{ scope: { name: "tradewire" }, spans }],
      },
    ],
  };
}
