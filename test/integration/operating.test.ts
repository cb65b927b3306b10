import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/grpc/health/v1/health_pb.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let collector: Server;
let client: Tradewire;
const spans: { name: string; traceId: string; parentSpanId?: string }[] = [];
const lines: string[] = [];
const dataDir = mkdtempSync(join(tmpdir(), "tradewire-operating-"));
const PEPPER = "5e".repeat(32);
const TOKEN_KEY = "7a".repeat(32);

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    for (const { scopeSpans } of JSON.parse(body).resourceSpans) spans.push(...scopeSpans[0].spans);
    response.end();
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  service = await startTestService(
    {
      DATA_DIR: dataDir,
      STATE_MAX_AGE_MS: "2000",
      BLOCKHASH_MAX_AGE_MS: "2000",
      LOG_LEVEL: "trace",
      KEY_PEPPER: PEPPER,
      TOKEN_KEYS: `main:${TOKEN_KEY}`,
      LAME_DUCK_MS: "200",
      TRACE_PERCENT: "100",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    },
    { logger: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) },
  );
  client = await service.newClient();
  const mint = service.mintOn("raydium_cpmm");
  await client.buy({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" });
  await service.call("/v1/tx/buy", { mint, solAmount: -1, slippage: 0.05, priority: "fast" }, client.apiKey);
  await service.call("/v1/auth/profile", undefined, `${client.apiKey!.slice(0, -1)}!`);
});

afterAll(async () => {
  await service?.close();
  collector.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const health = async (name = "") => {
  const transport = createGrpcTransport({ baseUrl: service.url });
  const { status } = await createClient(Health, transport).check({ service: name });
  return status;
};

const admin = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${service.app.admin.port}${path}`);
  return { status: response.status, text: await response.text() };
};

it("counts calls by method and code, and times their stages", async () => {
  const { text } = await admin("/metrics");
  expect(text).toContain('tradewire_calls_total{method="Buy",code="OK"} 1');
  expect(text).toContain('tradewire_calls_total{method="Buy",code="VALIDATION_ERROR"} 1');
  expect(text).toContain('tradewire_calls_total{method="Submit",code="OK"} 1');
  // Nobody has called these: an alert on the first error of one needs the 0 before it.
  for (const method of ["Sell", "WatchTrade", "RevokeKey"])
    expect(text).toContain(`tradewire_calls_total{method="${method}",code="INTERNAL_ERROR"} 0`);
  for (const stage of ["receive", "auth", "validate", "snapshot", "route", "seal"]) {
    expect(text).toContain(`tradewire_stage_seconds_count{method="Buy",stage="${stage}"}`);
  }
  for (const stage of ["open", "verify", "claim", "broadcast", "confirm", "receipt"]) {
    expect(text).toContain(`tradewire_stage_seconds_count{method="Submit",stage="${stage}"} 1`);
  }
  expect(Number(/^tradewire_slot (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  for (const line of text.trimEnd().split("\n")) {
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
  }
});

it("counts submissions by outcome and by sender", async () => {
  const { text } = await admin("/metrics");
  expect(text).toContain('tradewire_submissions_total{code="OK"} 1');
  expect(text).toContain('tradewire_sender_broadcasts_total{sender="rpc-1",result="sent"} 1');
  expect(text).toContain('tradewire_landing_seconds_count{event="sent"} 1');
  expect(text).toContain('tradewire_landing_seconds_count{event="confirmed"} 1');
  // A broadcast waits 50 ms for its claim: a busy machine may take longer to write it.
  expect(text).toMatch(/^tradewire_unclaimed_broadcasts_total [01]$/m);
  expect(text).toMatch(/^tradewire_rebroadcasts_total \d+$/m);
});

it("reports health, readiness, and which part is not ready", async () => {
  expect(await admin("/healthz")).toEqual({ status: 200, text: "ok\n" });
  const { status, text } = await admin("/readyz");
  expect({ status, ...JSON.parse(text) }).toEqual({
    status: 200,
    ready: true,
    builds: true,
    submits: true,
    checks: { chain: "ok", store: "ok", process: "ok" },
  });
  await service.sandbox.pause();
  await expect.poll(async () => (await admin("/readyz/builds")).status).toBe(503);
  // Every process would leave the balancer at once, while submits still work.
  const paused = await admin("/readyz");
  expect({ status: paused.status, ...JSON.parse(paused.text) }).toMatchObject({
    status: 200,
    ready: true,
    builds: false,
    submits: true,
    checks: { chain: expect.stringMatching(/ms/) },
  });
  expect((await admin("/readyz/submits")).status).toBe(200);
  expect((await (await fetch(`${service.url}/status.json`)).json()).serving).toBe(false);
  expect(await health()).toBe(Status.SERVING);
  expect(await health("builds")).toBe(Status.NOT_SERVING);
  expect((await admin("/healthz")).status).toBe(200);
  await service.sandbox.resume();
  await expect.poll(async () => (await admin("/readyz/builds")).status).toBe(200);
  // A busy machine may let the state become too old again at any moment.
  await expect.poll(() => health("builds")).toBe(Status.SERVING);
});

it("uses the port it was given in challenges and in its API document", async () => {
  const wallet = client.wallet.publicKey.toString();
  const { body } = await service.call("/v1/auth/challenge", { walletAddress: wallet });
  const { host } = new URL(service.url);
  expect(new URL(service.url).port).not.toBe("0");
  expect(String(body.data!.message)).toMatch(new RegExp(`^${host} wants you to sign in`));
  expect(String(body.data!.message)).toContain(`\nURI: ${service.url}\n`);
  const { servers } = await (await fetch(`${service.url}/v1/openapi.json`)).json();
  expect(servers).toEqual([{ url: service.url }]);
});

it("detects the network of its node", async () => {
  const { rpcUrl, wsUrl } = service.sandbox;
  const other = await startTestService({ SOLANA_RPC_URL: rpcUrl, SOLANA_WS_URL: wsUrl });
  expect((await (await fetch(`${other.url}/status.json`)).json()).network).toBe("localnet");
  const walletAddress = client.wallet.publicKey.toString();
  const { body } = await other.call("/v1/auth/challenge", { walletAddress });
  expect(String(body.data!.message)).toContain("\nChain ID: localnet\n");
  await other.close();
});

it("logs each call under its request id, with its stages", () => {
  const calls = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "call" || msg === "submit");
  expect(calls.length).toBeGreaterThanOrEqual(5);
  for (const call of calls) expect(call.requestId).toMatch(/^req_[0-9a-f]{12}_/);
  expect(calls.find(({ method }) => method === "Buy").stages).toContain("seal;dur=");
  expect(calls.find(({ method }) => method === "Submit").stages).toContain("receipt;dur=");
});

it("sends traces by stage, within the client's own trace if there is one", async () => {
  await expect.poll(() => spans.map(({ name }) => name)).toContain("seal");
  const root = spans.find(({ name }) => name === "Buy")!;
  const children = spans.filter(({ traceId, parentSpanId }) => traceId === root.traceId && parentSpanId !== undefined);
  expect(children.map(({ name }) => name)).toEqual([
    "receive",
    "auth",
    "validate",
    "wait",
    "snapshot",
    "route",
    "seal",
  ]);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  await fetch(`${service.url}/v1/priority`, { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } });
  await expect.poll(() => spans.find((span) => span.traceId === traceId)?.parentSpanId).toBe("b7ad6b7169203331");
});

it("keeps every secret out of the log, the database, metrics and traces", async () => {
  const secrets = [client.apiKey!, client.apiKey!.slice(-20), PEPPER, TOKEN_KEY, "tw1."];
  const database = new DatabaseSync(join(dataDir, "tradewire.sqlite"), { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
  const rows = tables.flatMap(({ name }) => database.prepare(`select * from "${name}"`).all());
  database.close();
  const texts = rows.flatMap((row) =>
    Object.entries(row)
      // What a submit was made of is its recovery record; it is of no use without a key of the same account.
      .filter(([column]) => column !== "submission_token")
      .flatMap(([, value]) =>
        value instanceof Uint8Array
          ? [Buffer.from(value).toString("latin1"), Buffer.from(value).toString("hex")]
          : [String(value)],
      ),
  );
  expect(rows.length).toBeGreaterThan(3);
  const places = { lines, rows: texts, metrics: [(await admin("/metrics")).text], spans: [JSON.stringify(spans)] };
  for (const [place, found] of Object.entries(places)) {
    for (const secret of secrets) {
      expect({ place, hits: found.filter((text) => text.includes(secret)) }).toEqual({ place, hits: [] });
    }
  }
  const kept = readdirSync(dataDir).filter((name) => !name.startsWith("tradewire.sqlite"));
  for (const name of kept) expect(readFileSync(join(dataDir, name), "utf8")).not.toContain(client.apiKey!);
});

it("reports that it is draining while it still serves requests", async () => {
  const drained = service.app.drain();
  expect((await admin("/readyz")).status).toBe(503);
  const answer = await fetch(`${service.url}/v1/ping`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("connection")).toBe("close");
  expect(await health()).toBe(Status.NOT_SERVING);
  expect((await admin("/healthz")).status).toBe(200);
  await drained;
});
