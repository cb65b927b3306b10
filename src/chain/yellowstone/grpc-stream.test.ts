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
