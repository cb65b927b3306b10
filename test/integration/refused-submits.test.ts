import http2 from "node:http2";
import net from "node:net";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Edge, startEdge } from "../support/edge.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ requestTimeoutMs: 200, headersTimeoutMs: 200, timeoutCheckMs: 50 });
});
afterAll(() => edge.close());

const REST = "/v1/tx/submit";
const CONNECT = "/tradewire.v1.TradeService/Submit";
const HOST = "Host: x\r\n";
const TYPE = "Content-Type: application/json\r\n";
const LENGTH = "Content-Length: 2\r\n";
const MANY = Array.from({ length: 70 }, (_, i) => `X-${i}: a\r\n`).join("");

/** What the body of a refusal says in the form of Connect, or in REST's. */
function errorIn(body: string, isConnect: boolean): unknown {
  const { error, details } = JSON.parse(body);
  return isConnect ? details?.[0].debug : error;
}

/** The error that a request over HTTP/1.1 is answered with. */
function overHttp1(request: string, isConnect = false): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(edge.port, edge.host);
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
      const body = /\r\n\r\n(\{.*\})$/s.exec(text)?.[1];
      if (body === undefined) return;
      socket.destroy();
      resolve(errorIn(body, isConnect));
    });
    socket.on("error", reject).write(request, "latin1");
  });
}

/** The same over HTTP/2. */
async function overHttp2(path: string, headers: http2.OutgoingHttpHeaders): Promise<unknown> {
  const session = http2.connect(`http://${edge.host}:${edge.port}`);
  const body = await textOf(session.request({ ":method": "POST", ":path": path, ...headers }).end("{}"));
  session.close();
  return errorIn(body, path === CONNECT);
}

const post = (path: string, headers: string, body = "{}") => `POST ${path} HTTP/1.1\r\n${headers}\r\n${body}`;
const refused = (code: string, safeToRebuild?: boolean) => ({
  code,
  ...(safeToRebuild === undefined ? {} : { safeToRebuild }),
});
const LONG = `X-Long: ${"a".repeat(9_000)}\r\n`;

it.each([
  ["too many headers", "HEADERS_TOO_LARGE", post(REST, HOST + TYPE + MANY + LENGTH)],
  ["too many headers, over Connect", "HEADERS_TOO_LARGE", post(CONNECT, HOST + TYPE + MANY + LENGTH)],
  ["long headers", "HEADERS_TOO_LARGE", post(REST, HOST + TYPE + LONG + LENGTH)],
  ["long headers, over Connect", "HEADERS_TOO_LARGE", post(CONNECT, HOST + TYPE + LONG + LENGTH)],
  ["no host", "VALIDATION_ERROR", post(REST, TYPE + LENGTH)],
  ["a host that is none", "VALIDATION_ERROR", post(REST, `Host: a b\r\n${TYPE}${LENGTH}`)],
  [
    "a type that Connect does not know",
    "VALIDATION_ERROR",
    post(CONNECT, `${HOST}Content-Type: text/plain\r\n${LENGTH}`),
  ],
  ["a broken chunk", "VALIDATION_ERROR", post(REST, `${HOST}${TYPE}Transfer-Encoding: chunked\r\n`, "zz\r\n")],
  [
    "a broken chunk, over Connect",
    "VALIDATION_ERROR",
    post(CONNECT, `${HOST}${TYPE}Transfer-Encoding: chunked\r\n`, "zz\r\n"),
  ],
  ...["constructor", "__proto__", "toString"].map((type) => [
    `a broken chunk, of the type ${type}, which every object has`,
    "VALIDATION_ERROR",
    post(CONNECT, `${HOST}Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n`, "zz\r\n"),
  ]),
  ["a body that does not come, over Connect", "REQUEST_TIMEOUT", post(CONNECT, `${HOST}${TYPE}Content-Length: 9\r\n`)],
  ["a body that does not come", "REQUEST_TIMEOUT", post(REST, `${HOST}${TYPE}Content-Length: 9\r\n`)],
  ["a late body, with a query", "REQUEST_TIMEOUT", post(`${REST}?a=b`, `${HOST}${TYPE}Content-Length: 9\r\n`)],
])("a submit that is refused before it is read, for %s, may be in flight all the same", async (why, code, request) => {
  expect(await overHttp1(request, why.endsWith("over Connect"))).toMatchObject(refused(code, false));
});

it.each([
  ["long headers", "HEADERS_TOO_LARGE", REST, { "content-type": "application/json", "x-long": "a".repeat(9_000) }],
  [
    "long headers, over Connect",
    "HEADERS_TOO_LARGE",
    CONNECT,
    { "content-type": "application/json", "x-long": "a".repeat(9_000) },
  ],
  ["a type that is none and no key, which is asked for first", "AUTH_ERROR", REST, { "content-type": "json" }],
])("so may one over HTTP/2, with %s", async (_, code, path, headers) => {
  expect(await overHttp2(path, headers)).toMatchObject(refused(code, false));
});

it("a build that is refused as early says nothing of a transaction", async () => {
  const build = await overHttp1(post("/v1/tx/buy", HOST + TYPE + MANY + LENGTH));
  expect(build).toMatchObject(refused("HEADERS_TOO_LARGE"));
  expect(build).not.toHaveProperty("safeToRebuild");
});
