import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { openStore } from "./store.ts";

afterEach(() => void vi.useRealTimers());

it("a start waits ten seconds for PostgreSQL: one slow to answer is no reason to end", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { port } = server.address() as AddressInfo;
  const opening = openStore({ dataDir: "", databaseUrl: `postgres://user@127.0.0.1:${port}/store` });
  const failed = expect(opening).rejects.toMatchObject({ cause: { message: "starting up" } });
  const [socket] = (await once(server, "connection")) as [Socket];
  await once(socket, "data");
  vi.advanceTimersByTime(9_000);
  const fields = Buffer.from("SFATAL\0C57P03\0Mstarting up\0\0");
  const head = Buffer.from([0x45, 0, 0, 0, 4 + fields.length]);
  socket.end(Buffer.concat([head, fields]));
  await failed;
  server.close();
});
