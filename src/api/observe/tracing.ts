import { randomBytes } from "node:crypto";
import type { CallRecord } from "../call/call-record.ts";

interface TracingOptions {
  /** Where the collector is; `/v1/traces` is put after it. */
  readonly endpoint: string;
  /** Sent with every batch: what the collector knows its customers by. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Calls traced when their caller has not decided it. */
  readonly percent: number;
  /** Epoch milliseconds minus the monotonic clock that records are timed by. */
  readonly epochOffsetMs: number;
  readonly warn: (message: string) => void;
}

interface Tracing {
  record(call: CallRecord): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
const MAX_WAITING = 10_000;
const SEND_TIMEOUT_MS = 5_000;
const SERVER_SPAN = 2;
const INTERNAL_SPAN = 1;
const STATUS_ERROR = 2;
/** Ids of zeros are none, and a collector refuses all that comes with one. @see https://www.w3.org/TR/trace-context/ */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Traces of calls by stage, sent to an OpenTelemetry collector. Spans are made when a call has ended, from times noted
 * anyway, so that a call in progress pays nothing for them. A collector that does not answer costs the spans, never a call.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export function createTracing(options: TracingOptions): Tracing {
  let waiting: object[] = [];
  let failed = false;
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const spans = waiting;
    waiting = [];
    try {
      const response = await fetch(`${options.endpoint.replace(/\/$/, "")}/v1/traces`, {
        method: "POST",
        headers: { ...options.headers, "content-type": "application/json" },
        // What proves who sends is for this collector alone.
        redirect: "error",
        body: JSON.stringify(requestOf(options.serviceName, spans)),
        signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`status ${response.status}`);
      failed = false;
    } catch (error) {
      if (!failed) options.warn(`Traces cannot be sent: ${error instanceof Error ? error.message : String(error)}`);
      failed = true;
    }
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();

  return {
    record(call) {
      const [, traceId, parentSpanId, flags] = TRACEPARENT.exec(call.traceparent ?? "") ?? [];
      const sampled =
        flags === undefined ? Math.random() * 100 < options.percent : (Number.parseInt(flags, 16) & 1) === 1;
      if (!sampled || waiting.length >= MAX_WAITING) return;
      for (const span of spansOf(call, traceId ?? randomId(16), parentSpanId, options.epochOffsetMs))
        waiting.push(span);
    },
    close() {
      clearInterval(timer);
      return flush();
    },
  };
}

const randomId = (bytes: number): string => randomBytes(bytes).toString("hex");

function spansOf(call: CallRecord, traceId: string, parentSpanId: string | undefined, epochOffsetMs: number): object[] {
  const nanos = (ms: number) => BigInt(Math.round((ms + epochOffsetMs) * 1e6)).toString();
  const { stages, durationMs } = call;
  const spanId = randomId(8);
  const spans: object[] = [
    {
      traceId,
      spanId,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      name: call.method,
      kind: SERVER_SPAN,
      startTimeUnixNano: nanos(stages.startMs),
      endTimeUnixNano: nanos(stages.startMs + durationMs),
      attributes: [attribute("tradewire.request_id", call.requestId), attribute("tradewire.code", call.code)],
      status: call.code === "OK" ? {} : { code: STATUS_ERROR, message: call.code },
    },
  ];
  let fromMs = stages.startMs;
  stages.names.forEach((name, i) => {
    const endMs = stages.endsMs[i]!;
    spans.push({
      traceId,
      spanId: randomId(8),
      parentSpanId: spanId,
      name,
      kind: INTERNAL_SPAN,
      startTimeUnixNano: nanos(fromMs),
      endTimeUnixNano: nanos(endMs),
      attributes: [],
      status: {},
    });
    fromMs = endMs;
  });
  return spans;
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
