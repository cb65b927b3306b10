import { randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type CallRecord, StageClock } from "../call/call-record.ts";
import { Tracing } from "./tracing.ts";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

let collector: Server;
let status: number;
let paths: string[];
let headers: IncomingHttpHeaders;
let spans: Span[];
let warnings: string[];

beforeEach(async () => {
  [status, paths, spans, warnings] = [200, [], [], []];
  collector = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    paths.push(`${request.method} ${request.url}`);
    headers = request.headers;
    if (status === 200) spans.push(...JSON.parse(body).resourceSpans[0].scopeSpans[0].spans);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
});
afterEach(() => void collector.close());

const start = (percent: number) =>
  new Tracing({
    endpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
    headers: { "x-team": "tw 1" },
    serviceName: "tradewire",
    percent,
    randomBytes,
    epochOffsetMs: 1_700_000_000_000,
    warn: (message) => void warnings.push(message),
  });

function call(traceparent?: string): CallRecord {
  const nowMs = [10, 12, 15];
  const stages = new StageClock(() => nowMs.shift()!);
  stages.mark("auth");
  stages.mark("route");
  return { method: "Buy", requestId: "req_1", code: "OK", durationMs: 6, stages, keyId: "key", traceparent };
}

it("takes no order to trace from a caller without a key", async () => {
  const tracing = start(0);
  const order = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
  tracing.record({ ...call(order), keyId: undefined });
  await tracing.close();
  expect(spans).toEqual([]);
});

it("makes a span of each call with a child per stage, without gaps", async () => {
  const tracing = start(100);
  tracing.record(call());
  await tracing.close();
  expect(paths).toEqual(["POST /v1/traces"]);
  expect(headers).toMatchObject({ "x-team": "tw 1", "content-type": "application/json" });
  const [root, auth, route] = spans as [Span, Span, Span];
  expect(spans.map(({ name }) => name)).toEqual(["Buy", "auth", "route"]);
  expect(root.traceId).toMatch(/^[0-9a-f]{32}$/);
  for (const span of [auth, route]) expect(span).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId });
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(3);
  expect(auth.startTimeUnixNano).toBe(root.startTimeUnixNano);
  expect(route.startTimeUnixNano).toBe(auth.endTimeUnixNano);
  expect(BigInt(root.endTimeUnixNano) - BigInt(root.startTimeUnixNano)).toBeGreaterThan(5_999_000n);
});

it("follows the sampling of the client and ignores invalid traces", async () => {
  const tracing = start(0);
  const id = "0af7651916cd43dd8448eb211c80319c";
  tracing.record(call(`00-${id}-b7ad6b7169203331-01`));
  tracing.record(call(`00-${id}-b7ad6b7169203331-00`));
  for (const none of [
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-${id}-${"0".repeat(16)}-01`,
    `00-${id.toUpperCase()}-b7ad6b7169203331-01`,
    `ff-${id}-b7ad6b7169203331-01`,
    "01",
  ])
    tracing.record(call(none));
  await tracing.close();
  expect(spans.filter(({ name }) => name === "Buy")).toMatchObject([{ traceId: id, parentSpanId: "b7ad6b7169203331" }]);
});

it("warns once about a collector that fails and keeps sending", async () => {
  const tracing = start(100);
  status = 503;
  for (const count of [1, 2]) {
    tracing.record(call());
    await expect.poll(() => paths.length).toBe(count);
  }
  await expect.poll(() => warnings).toEqual(["Traces cannot be sent: status 503"]);
  status = 200;
  tracing.record(call());
  await tracing.close();
  expect(spans).toHaveLength(3);
});
