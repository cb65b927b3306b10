/**
 * An HTTP/2 server that answers each stream in a turn of its own and keeps nothing of it. Sends its port; answers "collect" with the
 * bytes that a full collection frees beyond one of young objects. Takes `--expose-gc`.
 */
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { getHeapStatistics } from "node:v8";
import "../../src/app/v8-rules.ts";
import { forgetClosedStreams } from "../../src/api/http/flow/session-streams.ts";

const collect = (globalThis as { gc?: (options?: { readonly type: "minor" }) => void }).gc!;

const server = createServer();
server.on("session", forgetClosedStreams);
server.on("stream", (stream) => {
  stream.on("error", () => {});
  setImmediate(() => stream.end("done"));
});
process.on("message", () => {
  collect({ type: "minor" });
  const before = getHeapStatistics().used_heap_size;
  collect();
  process.send!(before - getHeapStatistics().used_heap_size);
});
process.on("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
