import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { closeAfter, refuseAndClose } from "./refuse-and-close.ts";

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
      const request = http.get({ port, host: "127.0.0.1", agent: false, headers, timeout: 2_000 }, (response) => {
        response.resume().on("close", () => resolve(response.statusCode));
      });
      request.on("timeout", () => request.destroy()).on("error", resolve);
    });
  const statuses: unknown[] = [];
  for (let i = 0; i < 3; i++) statuses.push(await ask({ upgrade: "websocket" }), await ask({}));
  expect(statuses).toEqual([429, 200, 429, 200, 429, 200]);
});
