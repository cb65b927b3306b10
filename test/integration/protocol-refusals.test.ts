import { once } from "node:events";
import http2 from "node:http2";
import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { endStreamFromJson, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ErrorDetailSchema } from "../../gen/tradewire/v1/errors_pb.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, TOKEN } from "../support/fake-trades.ts";

let edge: Edge;
let session: http2.ClientHttp2Session;
beforeAll(async () => {
  edge = await startEdge();
  session = http2.connect(`http://${edge.host}:${edge.port}`);
});
afterAll(async () => {
  session.close();
  await edge.close();
});

const SERVICE = "/tradewire.v1.TradeService";
const BUY = JSON.stringify({ mint: TOKEN.toString(), solAmount: 1, slippage: 0, priority: "PRIORITY_FAST" });
const QUOTE = JSON.stringify({ inputMint: "SOL", outputMint: TOKEN.toString(), amount: 1 });
const HEAD = 5;

/** A message in its frame. @param length that the frame says */
function framed(message: Uint8Array | string, flags = 0, length?: number): Buffer {
  const bytes = Buffer.from(message as string);
  const head = Buffer.alloc(HEAD);
  head[0] = flags;
  head.writeUInt32BE(length ?? bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly trailers: Record<string, string>;
  readonly body: Buffer;
}

async function ask(path: string, type: string, body: Buffer, more: Record<string, string> = {}): Promise<Answer> {
  const fixed = { ":method": "POST", ":path": `${SERVICE}/${path}`, authorization: `Bearer ${ALICE.key}` };
  return exchange({ ...fixed, "content-type": type, te: "trailers", ...more }, body);
}

async function exchange(head: http2.OutgoingHttpHeaders, body: Buffer): Promise<Answer> {
  const stream = session.request(head);
  const chunks: Buffer[] = [];
  const named = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(":"))) as Record<string, string>;
  let [status, headers, trailers] = [0, {}, {}];
  stream.on("response", (fields) => {
    status = fields[":status"]!;
    headers = named(fields);
  });
  stream.on("trailers", (fields) => {
    trailers = named(fields);
  });
  stream.on("data", (chunk) => chunks.push(chunk)).end(body);
  await once(stream, "close");
  return { status, headers, trailers, body: Buffer.concat(chunks) };
}

const connectError = ({ status, headers, body }: Answer): ConnectError | undefined =>
  status === 200 ? undefined : errorFromJsonBytes(body, new Headers(headers), new ConnectError("none"));

interface Wire {
  readonly name: string;
  readonly method: "Buy" | "WatchQuote";
  readonly type: string;
  readonly codingHeader: string;
  readonly timeoutHeader: string;
  readonly isFramed: boolean;
  readonly errorOf: (answer: Answer) => ConnectError | undefined;
}

const grpcHeaders = { codingHeader: "grpc-encoding", timeoutHeader: "grpc-timeout", isFramed: true };
const grpc = {
  ...grpcHeaders,
  errorOf: ({ headers, trailers }: Answer) => findTrailerError(new Headers({ ...headers, ...trailers })),
};
const web = { ...grpcHeaders, errorOf: ({ body }: Answer) => findTrailerError(trailerParse(body.subarray(HEAD))) };
const connect = { timeoutHeader: "connect-timeout-ms" };
const wires: readonly Wire[] = [
  { name: "gRPC", method: "Buy", type: "application/grpc+json", ...grpc },
  { name: "gRPC-Web", method: "Buy", type: "application/grpc-web+json", ...web },
  {
    name: "Connect",
    method: "Buy",
    type: "application/json",
    ...connect,
    codingHeader: "content-encoding",
    isFramed: false,
    errorOf: connectError,
  },
  { name: "a stream of gRPC", method: "WatchQuote", type: "application/grpc+json", ...grpc },
  { name: "a stream of gRPC-Web", method: "WatchQuote", type: "application/grpc-web+json", ...web },
  {
    name: "a stream of Connect",
    method: "WatchQuote",
    type: "application/connect+json",
    ...connect,
    codingHeader: "connect-content-encoding",
    isFramed: true,
    errorOf: ({ body }) => endStreamFromJson(body.subarray(HEAD)).error,
  },
];

const bodyOf = ({ method, isFramed }: Wire) => {
  const message = method === "Buy" ? BUY : QUOTE;
  return { message, whole: isFramed ? framed(message) : Buffer.from(message) };
};

/** What a wire says of a request. */
async function refusalOf({ method, type, errorOf }: Wire, body: Buffer, more: Record<string, string> = {}) {
  const error = errorOf(await ask(method, type, body, more));
  const [detail] = error?.findDetails(ErrorDetailSchema) ?? [];
  return { status: error?.code, code: detail?.code, field: detail?.field, message: detail?.message };
}

describe.each(wires)("a request that breaks the protocol, over $name", (wire) => {
  const { whole } = bodyOf(wire);

  it("is told which header is at fault", async () => {
    const { codingHeader, timeoutHeader } = wire;
    expect(await refusalOf(wire, whole, { [codingHeader]: "zstd" })).toEqual({
      status: Code.Unimplemented,
      code: "VALIDATION_ERROR",
      field: codingHeader,
      message: "The request is compressed with zstd; the service reads gzip,br.",
    });
    const late = await refusalOf(wire, whole, { [timeoutHeader]: "5x" });
    expect(late).toMatchObject({ status: Code.InvalidArgument, code: "VALIDATION_ERROR", field: timeoutHeader });
    expect(late.message).toMatch(/ must be one to (eight|ten) digits/);
  });

  it("is told which content types are read", async () => {
    for (const type of [
      "text/plain",
      "application/grpc+thrift",
      "application/grpc-web-text",
      "application/json; charset=latin1",
      "application/json, text/plain",
      "json",
    ]) {
      const { status, body } = await ask(wire.method, type, whole);
      expect(status).toBe(415);
      expect(JSON.parse(body.toString())).toMatchObject({
        success: false,
        error: {
          code: "VALIDATION_ERROR",
          field: "Content-Type",
          message: expect.stringMatching(/^Send application\//),
        },
      });
    }
  });
});

describe.each(wires)("a request that no call begins with, over $name", (wire) => {
  const { whole } = bodyOf(wire);

  it("is refused in the form of its protocol for its headers", async () => {
    const tooMany = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`x-${i}`, "a"]));
    for (const headers of [{ "x-long": "a".repeat(9_000) }, tooMany]) {
      expect(await refusalOf(wire, whole, headers)).toMatchObject({
        status: Code.ResourceExhausted,
        code: "HEADERS_TOO_LARGE",
      });
    }
  });

  it("is told in that form that the service has no such method", async () => {
    expect(await refusalOf({ ...wire, method: "By" as "Buy" }, whole)).toEqual({
      status: Code.Unimplemented,
      code: "NOT_FOUND",
      field: undefined,
      message: expect.stringContaining(`Did you mean ${SERVICE}/Buy?`),
    });
    // Of Connect's unary calls the HTTP status is a part of the protocol.
    const { status } = await ask("By" as "Buy", wire.type, whole);
    expect(status).toBe(wire.isFramed ? 200 : 404);
  });
});

describe.each(wires.filter(({ isFramed }) => isFramed))("a path that names no method, over $name", (wire) => {
  it.each([
    ["%zz", Code.InvalidArgument, "VALIDATION_ERROR"],
    ["Buy/Buy", Code.Unimplemented, "NOT_FOUND"],
    ["../Buy", Code.Unimplemented, "NOT_FOUND"],
    ["", Code.Unimplemented, "NOT_FOUND"],
  ])("is refused in the form of its protocol: %s", async (method, status, code) => {
    const refusal = await refusalOf({ ...wire, method: method as "Buy" }, bodyOf(wire).whole);
    expect(refusal).toMatchObject({ status, code });
  });

  it.each(["/Buy", "/TradeService/Buy", "/%"])("is told so without a package: %s", async (path) => {
    const error = wire.errorOf(await ask("", wire.type, bodyOf(wire).whole, { ":path": path }));
    expect(error?.code).toBe(path === "/%" ? Code.InvalidArgument : Code.Unimplemented);
  });
});

// Everyday calls need no host.
describe.each(wires.filter(({ method }) => method === "WatchQuote"))("a stream, over $name", (wire) => {
  it("is told in the form of its protocol that its host is none", async () => {
    expect(await refusalOf(wire, bodyOf(wire).whole, { ":authority": "[" })).toMatchObject({
      status: Code.InvalidArgument,
      code: "VALIDATION_ERROR",
      field: "Host",
    });
  });
});

describe.each(wires.filter(({ isFramed }) => isFramed))("a request in frames, over $name", (wire) => {
  const { message, whole } = bodyOf(wire);

  it("is told what is wrong with its frames", async () => {
    const shape = async (body: Buffer) => {
      const { status, code, message } = await refusalOf(wire, body);
      return [status, code, message];
    };
    expect(await shape(Buffer.alloc(0))).toEqual([
      Code.Unimplemented,
      "VALIDATION_ERROR",
      "The request contains no message.",
    ]);
    expect(await shape(Buffer.concat([whole, whole]))).toEqual([
      Code.Unimplemented,
      "VALIDATION_ERROR",
      "The request contains more than one message.",
    ]);
    for (const cut of [whole.subarray(0, 3), whole.subarray(0, -1), framed(message, 0, 0xffffffff)]) {
      expect(await shape(cut)).toEqual([Code.InvalidArgument, "VALIDATION_ERROR", "The request message is truncated."]);
    }
    expect(await shape(framed(gzipSync(message), 1))).toEqual([
      Code.Internal,
      "VALIDATION_ERROR",
      "The message is compressed, but no header says how.",
    ]);
    // Such as the end of a stream, which only answers have.
    for (const flags of [2, 3, 0x80]) {
      expect(await shape(framed("{}", flags))).toEqual([
        Code.InvalidArgument,
        "VALIDATION_ERROR",
        "The frame has a flag that no request has: only compression may be set.",
      ]);
    }
  });
});

describe("a request of HTTP/2 that Node would answer with an empty body", () => {
  it("is told that the service is no tunnel", async () => {
    const head = { ":method": "CONNECT", ":authority": "elsewhere.example:443" };
    const { status, headers, body } = await exchange(head, Buffer.alloc(0));
    expect([status, headers.allow]).toEqual([405, "GET, HEAD, POST, DELETE"]);
    expect(JSON.parse(body.toString())).toMatchObject({
      success: false,
      requestId: headers["x-request-id"],
      error: { code: "METHOD_NOT_ALLOWED", message: expect.stringContaining("CONNECT") },
    });
  });

  it("is served whatever it expects, as over HTTP/1.1", async () => {
    const { status, body } = await ask("Buy", "application/json", Buffer.from(BUY), { expect: "patience" });
    expect([status, JSON.parse(body.toString()).platform]).toEqual([200, "fake"]);
  });
});

describe("a request refused before its body has come, over HTTP/2", () => {
  it.each([
    ["a path that is none", "/v1/nothing", 404, 20_000, 500],
    ["a method that a path does not take", "/v1/ping", 405, 20_000, 500],
    ["a long body", "/v1/tx/buy", 413, 300_000, 2_500],
    ["a body longer than any that is read to its end", "/v1/tx/buy", 413, 9_000_000, 500],
  ])("reaches a client that goes on writing: %s", async (_, path, status, length, silentMs) => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stream = session.request({ ":method": "POST", ":path": path, "content-length": length });
    let code = 0;
    stream.on("response", (fields) => {
      code = fields[":status"]!;
    });
    stream.write(Buffer.alloc(1_000));
    await once(stream.resume(), "end");
    await new Promise((resolve) => session.ping(resolve));
    // A client that writes on a stream that was reset drops the answer.
    expect([code, stream.closed]).toEqual([status, false]);
    vi.advanceTimersByTime(silentMs);
    await once(stream, "close");
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
  });

  it.each([
    ["of a long body", "/v1/tx/buy", 413, { "content-length": 3_000_000 }],
    ["of a path that is none", "/v1/nothing", 404, { "content-length": 3_000_000 }],
    ["of a long body that declares no length", "/v1/tx/buy", 413, {}],
    ["of a path that is none, and no length declared", "/v1/nothing", 404, {}],
  ])("lets a client that writes a whole body before it reads come to its end: %s", async (_, path, status, length) => {
    const stream = session.request({ ":method": "POST", ":path": path, ...length });
    const answered = once(stream.resume(), "response");
    // Written as the service allows: after a reset the end would never come.
    await new Promise((resolve, reject) => {
      stream.once("close", () => reject(new Error("closed before the whole body was written")));
      stream.write(Buffer.alloc(3_000_000), resolve);
    });
    expect((await answered)[0]).toMatchObject({ ":status": status });
    await once(stream.end(), "close");
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
    const next = session.request({ ":path": "/v1/ping" }).resume();
    expect((await once(next, "response"))[0]).toMatchObject({ ":status": 200 });
  });

  it.each([
    ["/v1/nothing", {}],
    ["/v1/tx/buy", {}],
    ["/v1/tx/buy", { "content-length": 3_000_000 }],
    ["/v1/ping", {}],
    ["/tradewire.v1.TradeService/Buy", { "content-type": "application/grpc" }],
    ["/tradewire.v1.TradeService/WatchTrade", { "content-type": "application/grpc" }],
    ["/tradewire.v1.TradeService/Nothing", { "content-type": "application/grpc" }],
  ])("gives back the place of a stream that its client resets: %s %j", async (path, head) => {
    for (let i = 0; i < 40; i++) {
      const reset = session.request({ ":method": "POST", ":path": path, ...head });
      reset.on("error", () => {}).write(Buffer.alloc(1_000));
      if (i % 2 === 1) await new Promise((resolve) => session.ping(resolve));
      reset.close(http2.constants.NGHTTP2_CANCEL);
      await new Promise((resolve) => session.ping(resolve));
    }
    const stream = session.request({ ":method": "POST", ":path": "/v1/nothing", "content-length": 3_000_000 });
    await new Promise((resolve, reject) => {
      stream.resume().once("close", () => reject(new Error("closed before the whole body was written")));
      stream.write(Buffer.alloc(3_000_000), resolve);
    });
    stream.end();
    await once(stream, "close");
  });

  it("loses its stream, and no more, if the client sends ever more of it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stream = session.request({ ":method": "POST", ":path": "/v1/nothing", "content-length": 9_000_000 });
    stream.write(Buffer.alloc(300_000));
    await once(stream.resume(), "close");
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
    const next = session.request({ ":path": "/v1/ping" }).resume();
    expect((await once(next, "response"))[0]).toMatchObject({ ":status": 200 });
  });
});
