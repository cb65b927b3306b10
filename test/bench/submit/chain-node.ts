/**
 * Two nodes of one chain, in a process of their own: the embedded chain behind two HTTP ports that count calls, note when
 * transactions arrive and answer no sooner than a set time.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { answerParent } from "../child.ts";

/** What to set, if anything; then what to answer. */
export interface NodeQuestion {
  /** Least time from a call to its answer. Milliseconds. */
  readonly latencyMs?: number;
  /** Forgets what was counted so far. */
  readonly reset?: boolean;
}

export interface NodeAnswer {
  /** Calls by method, over both nodes. */
  readonly calls: Readonly<Record<string, number>>;
  /** When each transaction, in base64, came first. Epoch milliseconds. */
  readonly sentAt: Readonly<Record<string, number>>;
}

export interface NodeReady {
  readonly urls: readonly [string, string];
  readonly wsUrl: string;
  readonly mints: readonly string[];
}

const sandbox = await startSandbox({ slotMs: Number(process.argv[2] ?? 400) });
const upstream = new URL(sandbox.rpcUrl);
const agent = new Agent({ keepAlive: true });
let latencyMs = 0;
let calls: Record<string, number> = {};
let sentAt: Record<string, number> = {};

const urls = [await open(), await open()] as const;
const mints = [...new Set(sandbox.world.tokens.map(({ mint }) => mint.toString()))];
answerParent({ urls, wsUrl: sandbox.wsUrl, mints } satisfies NodeReady, (question: NodeQuestion): NodeAnswer => {
  latencyMs = question.latencyMs ?? latencyMs;
  const answer = { calls, sentAt };
  if (question.reset === true) [calls, sentAt] = [{}, {}];
  return answer;
});

async function open(): Promise<string> {
  const server = createServer((incoming, response) => void relay(incoming, response));
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function relay(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const atMs = performance.timeOrigin + performance.now();
  const dueMs = performance.now() + latencyMs;
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  note(JSON.parse(body.toString()), atMs);
  const asked = request({
    host: upstream.hostname,
    port: upstream.port,
    method: "POST",
    agent,
    headers: { "content-type": "application/json", "content-length": body.length },
  });
  asked.on("response", async (answered) => {
    const parts: Buffer[] = [];
    for await (const part of answered) parts.push(part);
    const whole = Buffer.concat(parts);
    const answer = () => {
      response.writeHead(answered.statusCode!, { "content-type": "application/json", "content-length": whole.length });
      response.end(whole);
    };
    const restMs = dueMs - performance.now();
    if (restMs > 0) setTimeout(answer, restMs);
    else answer();
  });
  asked.on("error", () => response.destroy());
  asked.end(body);
}

function note(call: { readonly method: string; readonly params: readonly unknown[] }, atMs: number): void {
  // A batch counts each of its calls.
  for (const { method, params } of Array.isArray(call) ? call : [call]) {
    calls[method] = (calls[method] ?? 0) + 1;
    if (method === "sendTransaction") sentAt[String(params[0])] ??= atMs;
  }
}
