import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, TOKEN } from "../support/fake-trades.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());
beforeEach(() => {
  vi.restoreAllMocks();
  vi.spyOn(edge.trades, "build");
});

/** Longer than the server takes to read what has come. Milliseconds. */
const PIECE_GAP_MS = 50;
const BUY = JSON.stringify({ mint: TOKEN.toString(), solAmount: 1, slippage: 0, priority: "fast" });
const PING = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";
/** Ends the connection, so that whatever was to come has come. */
const LAST_PING = "GET /v1/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const LENGTH = `Content-Length: ${BUY.length}\r\n`;
const CHUNKED = `${BUY.length.toString(16)}\r\n${BUY}\r\n0\r\n\r\n`;
const post = (
  headers: string,
  body: string,
  { version = "HTTP/1.1", host = "Host: x\r\n", path = "/v1/tx/buy" } = {},
) =>
  `POST ${path} ${version}\r\n${host}Content-Type: application/json\r\nAuthorization: Bearer ${ALICE.key}\r\n${headers}\r\n${body}`;

/** The statuses of all responses, in order, and whether the server or the client ended the connection. */
async function exchange(...writes: string[]): Promise<string> {
  const socket = net.connect(edge.port, edge.host);
  let text = "";
  socket.on("error", () => {}).setEncoding("latin1");
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const ended = once(socket, "close");
  await once(socket, "connect");
  for (const [i, bytes] of writes.entries()) {
    socket.write(bytes, "latin1");
    const responses = i + 1;
    // Each write but the last is read and answered before the next.
    if (responses < writes.length)
      await expect.poll(() => text.split("HTTP/1.1 ").length > responses || socket.destroyed).toBe(true);
  }
  await ended;
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status).join(" ");
}

/** The statuses of all responses to bytes that arrive one piece after the other. */
async function inPieces(pieces: readonly string[]): Promise<string> {
  const socket = net.connect(edge.port, edge.host).setNoDelay();
  let text = "";
  socket.on("error", () => {}).setEncoding("latin1");
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const ended = once(socket, "close");
  for (const piece of pieces) {
    socket.write(piece, "latin1");
    await sleep(PIECE_GAP_MS);
  }
  await ended;
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status).join(" ");
}

describe("a request whose end could be read in two ways", () => {
  it.each([
    ["a length and chunks", post(`${LENGTH}Transfer-Encoding: chunked\r\n`, CHUNKED)],
    ["chunks and a length", post(`Transfer-Encoding: chunked\r\n${LENGTH}`, CHUNKED)],
    ["two lengths", post(`${LENGTH}Content-Length: 5\r\n`, BUY)],
    ["a list of lengths", post(`Content-Length: ${BUY.length}, ${BUY.length}\r\n`, BUY)],
    ["a length with a sign", post(`Content-Length: +${BUY.length}\r\n`, BUY)],
    ["a length beyond 64 bits", post("Content-Length: 18446744073709551617\r\n", BUY)],
    ["a folded length", post(`Content-Length:\r\n ${BUY.length}\r\n`, BUY)],
    ["a folded header", post(`X-A: b\r\n c\r\n${LENGTH}`, BUY)],
    ["a space before the colon", post("Transfer-Encoding : chunked\r\n", CHUNKED)],
    ["a space before a name", post(` X-A: b\r\n${LENGTH}`, BUY)],
    ["a bare line feed between headers", post(`X-A: b\n${LENGTH}`, BUY)],
    ["a bare carriage return in a header", post(`X-A: b\rX-B: c\r\n${LENGTH}`, BUY)],
    ["a NUL in a header", post(`X-A: b\0c\r\n${LENGTH}`, BUY)],
    ["a bare line feed after a chunk's length", post("Transfer-Encoding: chunked\r\n", CHUNKED.replace("\r\n", "\n"))],
    ["a chunk with a prefix", post("Transfer-Encoding: chunked\r\n", `0x${CHUNKED}`)],
    ["a chunk beyond 64 bits", post("Transfer-Encoding: chunked\r\n", `fffffffffffffffff\r\n${CHUNKED}`)],
    ["a coding before chunked", post("Transfer-Encoding: gzip, chunked\r\n", CHUNKED)],
    ["identity before chunked", post("Transfer-Encoding: identity, chunked\r\n", CHUNKED)],
    ["chunked before a coding", post("Transfer-Encoding: chunked, identity\r\n", CHUNKED)],
    ["chunked in two headers", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", CHUNKED)],
    ["an unknown coding", post("Transfer-Encoding: xchunked\r\n", CHUNKED)],
    ["chunks in HTTP/1.0", post("Transfer-Encoding: chunked\r\n", CHUNKED, { version: "HTTP/1.0" })],
    ["HTTP/0.9", "GET /v1/ping\r\n\r\n"],
    ["HTTP/2.0 without its preface", post(LENGTH, BUY, { version: "HTTP/2.0" })],
    ["two hosts", post(LENGTH, BUY, { host: "Host: x\r\nHost: y\r\n" })],
    ["a host that is none", post(LENGTH, BUY, { host: "Host: a b/c@d\r\n" })],
    ["no host", post(LENGTH, BUY, { host: "" })],
  ])("is refused once, and nothing behind it is served: %s", async (_, request) => {
    expect(await exchange(`${request}${LAST_PING}`)).toBe("400");
    expect(await exchange(`${PING}${request}${LAST_PING}`)).toBe("200 400");
    expect(edge.trades.build).not.toHaveBeenCalled();
  });

  it("is refused if one header that counts is given twice", async () => {
    expect(await exchange(`${post(`Authorization: Bearer x\r\n${LENGTH}`, BUY)}${LAST_PING}`)).toBe("401 200");
    expect(await exchange(`${post(`Content-Type: text/plain\r\n${LENGTH}`, BUY)}${LAST_PING}`)).toBe("400 200");
  });

  it.each(["/v1/tx/buy", "/tradewire.v1.TradeService/Buy"])(
    "is refused on HTTP/2 if one header that counts is given twice: %s",
    async (path) => {
      const lax = { strictSingleValueFields: false };
      const session = http2.connect(`http://${edge.host}:${edge.port}`, lax as http2.ClientSessionOptions);
      const ask = async (more: readonly string[]) => {
        // A list is sent as it is; of an object Node would send one copy.
        const fixed = [":method", "POST", ":path", path, "content-type", "application/json"];
        const stream = session.request([...fixed, "authorization", `Bearer ${ALICE.key}`, ...more] as never);
        stream.resume().end(BUY.replace('"fast"', path.startsWith("/v1") ? '"fast"' : '"PRIORITY_FAST"'));
        const [answer] = await once(stream, "response");
        return answer[":status"];
      };
      expect(await ask([])).toBe(200);
      expect(await ask(["cookie", "a=b", "cookie", "c=d", "x-twice", "1", "x-twice", "1"])).toBe(200);
      expect(await ask(["authorization", "Bearer x"])).toBe(401);
      expect(await ask(["content-type", "text/plain"])).toBeGreaterThanOrEqual(400);
      session.close();
    },
  );

  it.each(["", "application/json, text/plain", "json"])(
    "is told over both versions of HTTP that its content type is not JSON: %j",
    async (type) => {
      const path = "/v1/tx/buy";
      const session = http2.connect(`http://${edge.host}:${edge.port}`);
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        authorization: `Bearer ${ALICE.key}`,
        "content-type": type,
      });
      let answer = "";
      stream.setEncoding("utf8").on("data", (text) => {
        answer += text;
      });
      stream.end(BUY);
      await once(stream, "end");
      session.close();
      const headers = { authorization: `Bearer ${ALICE.key}`, "content-type": type };
      const plain = await fetch(`http://${edge.host}:${edge.port}${path}`, { method: "POST", headers, body: BUY });
      const { requestId: _, ...refusal } = JSON.parse(answer);
      expect(refusal).toMatchObject({ success: false, error: { code: "VALIDATION_ERROR", field: "Content-Type" } });
      expect(await plain.json()).toMatchObject(refusal);
    },
  );

  it.each(["", "application/json, text/plain", "json", "text/plain"])(
    "counts against its limits over both versions of HTTP, and needs a key, whatever its content type is: %j",
    async (type) => {
      const session = http2.connect(`http://${edge.host}:${edge.port}`);
      const ask = async (more: Record<string, string>) => {
        const stream = session.request({ ":method": "POST", ":path": "/v1/tx/buy", "content-type": type, ...more });
        stream.resume().end(BUY);
        const [answer] = await once(stream, "response");
        return [answer[":status"], answer["ratelimit-policy"]];
      };
      const post = async (more: Record<string, string>) => {
        const headers = { "content-type": type, ...more };
        const answer = await fetch(`http://${edge.host}:${edge.port}/v1/tx/buy`, {
          method: "POST",
          headers,
          body: BUY,
        });
        return [answer.status, answer.headers.get("ratelimit-policy")];
      };
      const key = { authorization: `Bearer ${ALICE.key}` };
      for (const send of [ask, post]) {
        expect(await send(key)).toEqual([400, expect.stringMatching(/^"build";/)]);
        expect(await send({})).toEqual([401, expect.stringMatching(/^"address-auth";/)]);
      }
      session.close();
    },
  );

  it("is served in the forms that honest clients send", async () => {
    const [plain, chunked] = [post(LENGTH, BUY), post("Transfer-Encoding: Chunked\r\n", CHUNKED)];
    expect(await exchange(`${plain}${chunked}${LAST_PING}`)).toBe("200 200 200");
    for (const host of ["[::1]:8080", "api.example.com:443", "x_y.internal", ""]) {
      expect(await exchange(`${post(LENGTH, BUY, { host: `Host: ${host}\r\n` })}${LAST_PING}`)).toBe("200 200");
    }
    expect(await exchange(post(LENGTH, BUY, { version: "HTTP/1.0" }))).toBe("200");
  });
});

describe("a request that offers another protocol", () => {
  const offerOf = (protocol: string) =>
    `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABk\r\n`;
  const pingOffering = (protocol: string) => `GET /v1/ping HTTP/1.1\r\nHost: x\r\n${offerOf(protocol)}\r\n`;

  it.each(["websocket", "h2c"])(
    "is the last of its connection if another follows in the same read: %s",
    async (protocol) => {
      const get = pingOffering(protocol);
      const headOnly = "POST /v1/ping HTTP/1.1\r\nHost: x\r\nContent-Length: 400\r\n\r\n";
      const buy = post(`${offerOf(protocol)}${LENGTH}`, BUY);
      expect(await exchange(`${get}${PING}`)).toBe("200");
      // The bytes of a body that arrives after its head was dropped are no request.
      expect(await exchange(`${get}${headOnly}`, post(LENGTH, BUY))).toBe("200");
      expect(await exchange(get, `${get}${headOnly}`, post(LENGTH, BUY))).toBe("200 200");
      expect(edge.trades.build).not.toHaveBeenCalled();
      expect(await exchange(`${buy}${PING}`)).toBe("200");
      expect(await exchange(get, `${buy}${headOnly}`, post(LENGTH, BUY))).toBe("200 200");
      expect(edge.trades.build).toHaveBeenCalledTimes(2);
    },
  );

  it("is the last of its connection if its end cannot be told from that of the request before", async () => {
    const buy = post(`${offerOf("h2c")}${LENGTH}`, BUY);
    expect(await exchange(`${PING}${buy}`)).toBe("200 200");
    expect(await exchange(post(`${offerOf("h2c")}Transfer-Encoding: chunked\r\n`, CHUNKED))).toBe("200");
  });

  it("leaves its connection open if nothing follows in the same read", async () => {
    const get = pingOffering("h2c");
    const buy = post(`${offerOf("h2c")}${LENGTH}`, BUY);
    const [head, body] = [buy.slice(0, -BUY.length), BUY];
    expect(await exchange(get, get, PING, get, LAST_PING)).toBe("200 200 200 200 200");
    expect(await exchange(buy, buy, get, buy, LAST_PING)).toBe("200 200 200 200 200");
    expect(await inPieces([head, body, head, body.slice(0, 9), body.slice(9), LAST_PING])).toBe("200 200 200");
    // What follows the body in its last read is dropped.
    expect(await inPieces([head, `${body}${PING}`])).toBe("200");
    expect(await inPieces([head, body.slice(0, 9), `${body.slice(9)}${PING}`])).toBe("200");
  });

  it("leaves the connections that use its parser afterwards as they are", async () => {
    for (let i = 0; i < 3; i++) {
      expect(await exchange(`${pingOffering("h2c")}${PING}`)).toBe("200");
      expect(await exchange(pingOffering("h2c"), LAST_PING)).toBe("200 200");
      expect(await exchange(`${PING}${PING}${LAST_PING}`)).toBe("200 200 200");
    }
  });
});

describe("a client that waits for 100 Continue", () => {
  it("is asked for its body, unless that is too large", async () => {
    const expecting = `Expect: 100-continue\r\nConnection: close\r\n`;
    expect(await exchange(post(`${expecting}${LENGTH}`, ""), BUY)).toBe("100 200");
    expect(await exchange(post(`${expecting}Content-Length: 100000000\r\n`, ""))).toBe("413");
  });

  it("is asked for a message as long as may be, in its frame", async () => {
    const frame = Buffer.alloc(5 + 16_384, " ");
    frame.writeUIntBE(16_384, 0, 5);
    const path = "/tradewire.v1.TradeService/GetPriority";
    const head = `Host: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Type: application/grpc-web+json\r\n`;
    const request = `POST ${path} HTTP/1.1\r\n${head}Content-Length: ${frame.length}\r\n\r\n`;
    expect(await exchange(request, frame.toString("latin1"))).toBe("100 200");
  });
});

describe("a path that only looks like a method's", () => {
  it.each([
    "/v1//tx/buy",
    "//v1/tx/buy",
    "/v1/%2e/tx/buy",
    "/v1/./tx/buy",
    "/v1/x/../tx/buy",
    "/v1%2ftx%2fbuy",
    "/v1/tx/buy/",
    "/v1/tx/buy;a=b",
    "/v1/tx/buy%00",
    "/V1/TX/BUY",
    "/v1\\tx\\buy",
  ])("is not served: %s", async (path) => {
    expect(await exchange(`${post(LENGTH, BUY, { path })}${LAST_PING}`)).toBe("404 200");
    expect(edge.trades.build).not.toHaveBeenCalled();
  });
});
