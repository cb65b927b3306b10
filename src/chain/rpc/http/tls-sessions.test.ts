import { readFileSync } from "node:fs";
import tls from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HttpClient } from "./http-client.ts";

const cert = readFileSync("test/fixtures/tls/localhost.pem", "utf8");
const key = readFileSync("test/fixtures/tls/localhost.key", "utf8");
const trusted = tls.getCACertificates("default");
const options = { timeoutMs: 20_000, maxBytes: 100, isLarge: false };

let server: tls.Server;
let client: HttpClient;
/** Of each connection in turn: whether it resumed a session. */
let resumed: boolean[];
/** Connections whose request is not answered yet, and how many of them there must be before they are. */
let asked: tls.TLSSocket[];
let atOnce: number;

beforeEach(async () => {
  tls.setDefaultCACertificates([cert]);
  [resumed, asked, atOnce] = [[], [], 1];
  server = tls.createServer({ cert, key }, (socket) => {
    resumed.push(socket.isSessionReused());
    socket.on("error", () => {});
    socket.on("data", () => {
      asked.push(socket);
      if (asked.length < atOnce) return;
      for (const one of asked.splice(0)) one.end("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  client = new HttpClient(new URL(`https://localhost:${(server.address() as { port: number }).port}`), {}, Date.now);
});
afterEach(() => {
  server.close();
  tls.setDefaultCACertificates(trusted);
});

test("a connection resumes the session of an earlier one, as do several at once", async () => {
  await client.post("{}", options);
  atOnce = 3;
  await Promise.all([1, 2, 3].map(() => client.post("{}", options)));
  expect(resumed).toEqual([false, true, true, true]);
});

test("a server that resumes no session any more is connected to all the same", async () => {
  await client.post("{}", options);
  server.setTicketKeys(Buffer.alloc(48, 1));
  await client.post("{}", options);
  await client.post("{}", options);
  expect(resumed).toEqual([false, false, true]);
});

test("a server that is not trusted stays so", async () => {
  tls.setDefaultCACertificates(trusted);
  for (let i = 0; i < 2; i++) await expect(client.post("{}", options)).rejects.toThrow("certificate");
});
