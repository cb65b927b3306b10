import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import http2 from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BuyRequestSchema, BuyResponseSchema } from "../../../../gen/tradewire/v1/trade_pb.ts";
import { Priority } from "../../../../gen/tradewire/v1/types_pb.ts";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import { ALICE, TOKEN } from "../../../../test/support/fake-trades.ts";

const RPC = "/tradewire.v1.TradeService/Buy";
const BODY_LIMIT_BYTES = 4_096;

/** Serves calls on the streams themselves. */
let edge: Edge;
/** Lets web pages call, so the router serves all: by Node's request and response. */
let byRouter: Edge;
beforeAll(async () => {
  const settings = {
    bodyLimitBytes: BODY_LIMIT_BYTES,
    headerLimitBytes: 2_048,
    headersTimeoutMs: 300,
    requestTimeoutMs: 300,
  };
  edge = await startEdge(settings);
  byRouter = await startEdge({ ...settings, corsOrigins: ["https://page.example"] });
});
afterAll(async () => {
  await edge.close();
  await byRouter.close();
});

function message(slippage = 0.01): Uint8Array {
  const asked = { mint: TOKEN.toString(), solAmount: 0.1, slippage, priority: Priority.FAST };
  return toBinary(BuyRequestSchema, create(BuyRequestSchema, asked));
}

function framed(payload: Uint8Array, flags = 0): Buffer {
  const head = Buffer.from([flags, 0, 0, 0, 0]);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

interface Asked {
  readonly headers?: http2.OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  /** True if the body never ends. */
  readonly isOpen?: boolean;
}

const GRPC = { "content-type": "application/grpc+proto", te: "trailers" };
const buy: Asked = { body: framed(message()) };

/** Makes a call on a connection of its own; resolves with everything that came back. */
async function ask(server: Edge, { headers = {}, body, isOpen = false }: Asked) {
  const session = http2.connect(`http://127.0.0.1:${server.port}`);
  session.on("error", () => {});
  const fixed = { ":method": "POST", ":path": RPC, authorization: `Bearer ${ALICE.key}` };
  const stream = session.request({ ...fixed, ...GRPC, ...headers });
  let answer: object = {};
  let trailers: object = {};
  const chunks: Buffer[] = [];
  stream.on("response", (fields) => (answer = { ...fields }));
  stream.on("trailers", (fields) => (trailers = { ...fields }));
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => {});
  if (body !== undefined) stream.write(body);
  if (!isOpen) stream.end();
  await once(stream, "close");
  session.destroy();
  return { answer, trailers, length: Buffer.concat(chunks).length, rst: stream.rstCode };
}

/** Without what differs from call to call, and from edge to edge. */
function alike(value: object): string {
  return JSON.stringify(value, (name, field) => {
    if (/^(date|server-timing|ratelimit|x-request-id|vary|access-control-.*)$/i.test(name)) return undefined;
    if (name === "grpc-status-details-bin") return "details";
    return field;
  }).replace(/req_test_\w+/g, "id");
}

const cases: Readonly<Record<string, Asked>> = {
  "a buy": buy,
  "a buy with a deadline": { ...buy, headers: { "grpc-timeout": "10S" } },
  "a deadline years ahead": { ...buy, headers: { "grpc-timeout": "99999999H" } },
  "a deadline that cannot be read": { ...buy, headers: { "grpc-timeout": "soon" } },
  "a deadline that has passed": { ...buy, headers: { "grpc-timeout": "0n" } },
  "a buy that breaks a rule": { body: framed(message(7)) },
  "an unknown key": { ...buy, headers: { authorization: "Bearer api_unknown" } },
  "no body": {},
  "two messages": { body: Buffer.concat([buy.body!, buy.body!]) },
  "half a message": { body: buy.body!.subarray(0, 12) },
  "bytes that are no message": { body: framed(Buffer.from("????????")) },
  "a compressed message of which no header says how": { body: framed(message(), 1) },
  "a coding that nobody knows": { ...buy, headers: { "grpc-encoding": "lz9" } },
  "a body above the limit": { body: framed(Buffer.alloc(BODY_LIMIT_BYTES + 1)) },
  "a body that does not end": { ...buy, isOpen: true },
  "headers above the limit": { ...buy, headers: { filler: "x".repeat(2_048) } },
  "another method": { ...buy, headers: { ":method": "PUT" } },
  "an expectation": { ...buy, headers: { expect: "100-continue" } },
  "JSON in Connect's form": {
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01 })),
  },
  "an error in Connect's form": { headers: { "content-type": "application/proto" }, body: message(7) },
  "gRPC-Web": { ...buy, headers: { "content-type": "application/grpc-web+proto" } },
};

it.each([0, 50])(
  "leaves an answer alone that waits at %i bytes for its client while others are written",
  async (initialWindowSize) => {
    const own = await startEdge();
    const url = `http://127.0.0.1:${own.port}`;
    const [slow, quick] = [http2.connect(url, { settings: { initialWindowSize } }), http2.connect(url)];
    const fields = { ":method": "POST", ":path": RPC, authorization: `Bearer ${ALICE.key}`, ...GRPC };
    const tokenOf = async (stream: http2.ClientHttp2Stream) => {
      const body = Buffer.concat(await stream.toArray());
      return fromBinary(BuyResponseSchema, body.subarray(5)).submissionToken;
    };
    const waiting = slow.request(fields).end(buy.body);
    await once(waiting, "response");
    const tokens: string[] = [];
    for (let i = 0; i < 30; i++) tokens.push(await tokenOf(quick.request(fields).end(buy.body)));
    slow.settings({ initialWindowSize: 65_535 });
    tokens.push(await tokenOf(waiting));
    for (const token of tokens) expect(token).toMatch(/^token_\d+$/);
    expect(new Set(tokens).size).toBe(31);
    slow.destroy();
    quick.destroy();
    await own.close();
  },
);

describe("calls on HTTP/2 streams", () => {
  it.each(Object.entries(cases))("answer %s as the router does", async (_, asked) => {
    const [ours, theirs] = [await ask(edge, asked), await ask(byRouter, asked)];
    expect(alike(ours)).toBe(alike(theirs));
    expect(Object.keys(ours.answer).length + ours.rst).toBeGreaterThan(0);
  });

  it("are served however far their deadline is", async () => {
    for (const deadline of ["10M", "99999999H"])
      expect(await ask(edge, { ...buy, headers: { "grpc-timeout": deadline } })).toMatchObject({
        trailers: { "grpc-status": "0" },
      });
  });

  it("are refused once their deadline passes, though their body comes later", async () => {
    const session = http2.connect(`http://127.0.0.1:${edge.port}`);
    const fixed = { ":method": "POST", ":path": RPC, authorization: `Bearer ${ALICE.key}`, ...GRPC };
    const stream = session.request({ ...fixed, "grpc-timeout": "50m" });
    const ended = once(stream.resume(), "trailers");
    await new Promise((resolve) => setTimeout(resolve, 150));
    stream.end(buy.body);
    const [trailers] = await ended;
    expect(trailers["grpc-status"]).toBe("4");
    session.destroy();
  });

  it("make no request of Node's in everyday form, and do in any other", async () => {
    const read = vi.spyOn(http2.Http2ServerRequest.prototype, "_read");
    await ask(edge, buy);
    expect(read).not.toHaveBeenCalled();
    await ask(edge, { ...buy, headers: { expect: "100-continue" } });
    expect(read).toHaveBeenCalled();
    read.mockRestore();
  });

  it("survive clients that give up at any moment, and free their places", async () => {
    const session = http2.connect(`http://127.0.0.1:${edge.port}`);
    session.on("error", () => {});
    const fixed = { ":method": "POST", ":path": RPC, authorization: `Bearer ${ALICE.key}`, ...GRPC };
    const body = buy.body!;
    for (let turns = 0; turns < 12; turns++) {
      const stream = session.request(fixed);
      stream.on("error", () => {}).resume();
      if (turns % 3 === 0) stream.write(body.subarray(0, 9));
      else stream.end(body);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      stream.close(http2.constants.NGHTTP2_CANCEL);
      if (!stream.destroyed) await once(stream, "close");
    }
    expect(await ask(edge, buy)).toMatchObject({ trailers: { "grpc-status": "0" } });
    session.destroy();
    await expect.poll(() => edge.load().streams).toBe(0);
    expect(edge.errors).toEqual([]);
  });

  it("lets go of a call once its stream has closed: the protocol library keeps the stream for a while", async () => {
    const made: http2.ServerHttp2Stream[] = [];
    const note = (message: unknown) => made.push((message as { readonly stream: http2.ServerHttp2Stream }).stream);
    subscribe("http2.server.stream.created", note);
    for (const server of [edge, byRouter]) await ask(server, buy);
    unsubscribe("http2.server.stream.created", note);
    await expect.poll(() => made.map((stream) => stream.eventNames())).toEqual([["error"], ["error"]]);
  });
});
