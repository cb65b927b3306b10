import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { openGrpcStream } from "./grpc-stream.ts";

let server: Http2Server;
afterEach(() => new Promise<void>((resolve) => void server.close(() => resolve())));

/** How a stream ends whose server says so with this `grpc-message`. */
async function endOf(message: string, isEarly: boolean): Promise<string> {
  server = createServer();
  server.on("stream", (stream) => {
    const status = { "grpc-status": "8", "grpc-message": message };
    if (isEarly) {
      stream.respond({ ":status": 200, ...status }, { endStream: true });
      return;
    }
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(status));
    stream.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => {
    openGrpcStream({ url: `http://127.0.0.1:${port}`, path: "/a.B/C", headers: {}, onMessage() {}, onEnd: resolve });
  });
}

test.each([true, false])(
  "a status whose message is not percent-encoded ends the stream, no more (early: %s)",
  async (isEarly) => {
    expect(await endOf("100% of the quota", isEarly)).toBe("gRPC status 8: 100% of the quota");
    server.close();
    expect(await endOf("too%20many", isEarly)).toBe("gRPC status 8: too many");
  },
);

test("small messages that come together are taken in over many turns, in their order", async () => {
  const count = 3_000;
  const messages = Array.from({ length: count }, (_, i) => Buffer.of(0, 0, 0, 0, 2, i >> 8, i & 0xff));
  server = createServer();
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200 });
    stream.write(Buffer.concat(messages));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const taken: number[] = [];
  let inTurn = 0;
  let most = 0;
  let next = setImmediate(function endTurn() {
    inTurn = 0;
    next = setImmediate(endTurn);
  });
  const onMessage = ([high, low]: Uint8Array) => {
    taken.push((high! << 8) | low!);
    most = Math.max(most, ++inTurn);
  };
  const url = `http://127.0.0.1:${port}`;
  const stream = openGrpcStream({ url, path: "/a.B/C", headers: {}, onMessage, onEnd() {} });
  await expect.poll(() => taken.length).toBe(count);
  clearImmediate(next);
  stream.close();
  expect(taken).toEqual(Array.from({ length: count }, (_, i) => i));
  expect(most).toBeLessThanOrEqual(600);
});
