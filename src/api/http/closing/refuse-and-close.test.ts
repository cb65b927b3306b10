import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { DEFAULT_API_SETTINGS } from "../../../../test/support/api-settings.ts";
import { PATIENCE_MS } from "../../../../test/support/eventually.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { createHttp1 } from "../http-servers.ts";
import { closeAfter, refuseAndClose, refuseUnread } from "./refuse-and-close.ts";

let server: http.Server | undefined;
afterEach(() => void server?.close());

it("leaves the next connections as they are, though a request is stopped for two reasons", async () => {
  server = http.createServer((request, response) => {
    if (request.headers.upgrade === undefined) {
      response.end();
      return;
    }
    closeAfter(request.socket, response);
    refuseAndClose(request.socket, response, new TradewireError("RATE_LIMIT_EXCEEDED", "Too many."), "req_1");
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (headers: http.OutgoingHttpHeaders) =>
    new Promise((resolve) => {
      const request = http.get({ port, host: "127.0.0.1", agent: false, headers, timeout: PATIENCE_MS }, (response) => {
        response.resume().on("close", () => resolve(response.statusCode));
      });
      request.on("timeout", () => request.destroy()).on("error", resolve);
    });
  const statuses: unknown[] = [];
  for (let i = 0; i < 3; i++) statuses.push(await ask({ upgrade: "websocket" }), await ask({}));
  expect(statuses).toEqual([429, 200, 429, 200, 429, 200]);
});

it("tells a client whose connection is closed unread why, and when to come again", async () => {
  const front = net.createServer((socket) => {
    socket.once("readable", () => {
      refuseUnread(socket, new TradewireError("RATE_LIMIT_EXCEEDED", "Too many.", { retryAfterMs: 1_500 }), "req_1");
    });
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const response = await fetch(`http://127.0.0.1:${(front.address() as AddressInfo).port}/`);
  front.close();
  expect(response.status).toBe(429);
  expect(Object.fromEntries(response.headers)).toMatchObject({ "retry-after": "2", "x-request-id": "req_1" });
  expect(await response.json()).toMatchObject({ success: false, error: { code: "RATE_LIMIT_EXCEEDED" } });
});

it("serves nothing behind a stopped request, even if the parser hands it over", async () => {
  let served = 0;
  const handler: http.RequestListener = (request, response) => {
    served++;
    if (served === 1) server?.emit("request", request, response);
    response.end();
  };
  server = createHttp1(
    DEFAULT_API_SETTINGS,
    handler,
    () => "req_1",
    () => [],
  );
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const socket = net.connect(port, "127.0.0.1").resume();
  const offer = "Connection: upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n";
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${offer}\r\n0\r\n\r\n`);
  await once(socket, "close");
  expect(served).toBe(1);
});
