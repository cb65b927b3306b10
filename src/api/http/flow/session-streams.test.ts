import { once } from "node:events";
import { type ClientHttp2Session, connect, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { forgetClosedStreams } from "./session-streams.ts";

let server: Http2Server | undefined;
let client: ClientHttp2Session | undefined;
afterEach(() => {
  client?.destroy();
  server?.close();
});

/** Opens streams of one session. @returns those of the server by their paths */
async function open(paths: readonly string[]): Promise<ReadonlyMap<string, ServerHttp2Stream>> {
  const served = new Map<string, ServerHttp2Stream>();
  const all = Promise.withResolvers<void>();
  server = createServer();
  server.on("session", forgetClosedStreams);
  server.on("stream", (stream, { ":path": path }) => {
    stream.on("error", () => {});
    served.set(path!, stream);
    if (served.size === paths.length) all.resolve();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  for (const path of paths) {
    const stream = client.request({ ":path": path });
    stream.on("error", () => {});
    stream.resume();
  }
  await all.promise;
  return served;
}

test("a session that is destroyed closes each of its streams", async () => {
  const served = await open(["/1", "/2", "/3"]);
  const closed = Promise.all([...served.values()].map((stream) => once(stream, "close")));
  served.get("/1")!.session!.destroy();
  await closed;
});

test("a session that closes waits for its streams, in whatever order they end", async () => {
  const served = await open(["/1", "/2", "/3"]);
  const session = served.get("/1")!.session!;
  const closed = once(session, "close");
  session.close();
  for (const path of ["/2", "/3", "/1"]) {
    expect(session.destroyed).toBe(false);
    const stream = served.get(path)!;
    stream.end("done");
    await once(stream, "close");
  }
  await closed;
});
