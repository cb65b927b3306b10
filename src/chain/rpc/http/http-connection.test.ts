import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import tls from "node:tls";
import { afterEach, expect, test, vi } from "vitest";
import type { HttpAnswer } from "./answer-reader.ts";
import { HttpConnection, type HttpExchange } from "./http-connection.ts";
import { TlsSessions } from "./tls-sessions.ts";

const cert = readFileSync("test/fixtures/tls/localhost.pem", "utf8");
const key = readFileSync("test/fixtures/tls/localhost.key", "utf8");
const trusted = tls.getCACertificates("default");
const AT_ONCE = 6;
const HALF = 20_000;

const open: { destroy(): void }[] = [];
let server: Server | undefined;
afterEach(() => {
  vi.useRealTimers();
  tls.setDefaultCACertificates(trusted);
  for (const one of open.splice(0)) one.destroy();
  server?.close();
});

/** Answers of one letter each, in two halves: the second ones go when all first ones have been written. */
function serveHalves(endsConnection: boolean): (socket: Socket) => void {
  const waiting: (() => void)[] = [];
  return (socket) => {
    open.push(socket);
    socket.on("error", () => {});
    socket.on("data", (request) => {
      const half = request.toString().trim().repeat(HALF);
      socket.write(`HTTP/1.1 200 OK\r\n${endsConnection ? "" : `content-length: ${2 * HALF}\r\n`}\r\n${half}`);
      waiting.push(() => (endsConnection ? socket.end(half) : socket.write(half)));
      if (waiting.length === AT_ONCE) setImmediate(() => waiting.forEach((goOn) => void goOn()));
    });
  };
}

function ask(
  connection: HttpConnection,
  request: string,
  reading: Pick<HttpExchange, "maxBytes" | "isPaced">,
): Promise<HttpAnswer> {
  return new Promise((onAnswer, onFailure) => {
    connection.send(request, "latin1", { ...reading, onAnswer, onFailure });
  });
}

test.each([
  [false, false],
  [false, true],
  [true, false],
  [true, true],
])("answers that come in pieces at once stay whole (TLS: %s, ended by the connection: %s)", async (isTls, isEnded) => {
  tls.setDefaultCACertificates([cert]);
  const serve = serveHalves(isEnded);
  server = isTls ? tls.createServer({ cert, key }, serve) : createServer(serve);
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  const letters = Array.from({ length: AT_ONCE }, (_, i) => String.fromCharCode(97 + i));
  const answers = await Promise.all(
    letters.map((letter) => {
      const connection = new HttpConnection(
        { host: "localhost", port, tls: isTls ? new TlsSessions() : undefined },
        () => {},
      );
      open.push(connection);
      return ask(connection, letter, { maxBytes: 100_000, isPaced: isEnded });
    }),
  );
  expect(answers.map(({ body }) => Buffer.from(body!).toString())).toEqual(
    letters.map((letter) => letter.repeat(2 * HALF)),
  );
});

test.each([
  [true, AT_ONCE],
  [false, 1],
])("answers that are there at once are read in turns of the loop if they are paced (%s)", async (isPaced, expected) => {
  // However slow the machine is, none is late.
  vi.useFakeTimers({ toFake: ["performance"] });
  const clients: Socket[] = [];
  const asked = Promise.withResolvers<void>();
  server = createServer((socket) => {
    open.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => void (clients.push(socket) === AT_ONCE && asked.resolve()));
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  const readIn: number[] = [];
  const answers = Array.from({ length: AT_ONCE }, async () => {
    const connection = new HttpConnection({ host: "127.0.0.1", port, tls: undefined }, () => {});
    open.push(connection);
    await ask(connection, "a", { maxBytes: 100, isPaced });
    readIn.push(turn);
  });
  await asked.promise;
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  for (const client of clients) client.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na");
  await Promise.all(answers);
  clearImmediate(counting);
  expect(new Set(readIn).size).toBe(expected);
});
