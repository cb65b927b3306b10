import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import { resolve } from "node:path";
import tls from "node:tls";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { childEnvironment } from "../support/child-environment.ts";

const PACKAGES = resolve(import.meta.dirname, "../../clients/python");
const CERT = "test/fixtures/tls/localhost.pem";
const hasPackages = spawnSync("python3", ["-c", "import cryptography"]).status === 0;

let server: Server;
const sockets: Socket[] = [];

/** Serves whole requests, each with its number and the number of its connection, both from 1. Returns the port. */
async function serve(
  answer: (call: number, connection: number, socket: Socket) => void,
  secure = false,
): Promise<number> {
  let calls = 0;
  sockets.length = 0;
  const accept = (socket: Socket) => {
    const connection = sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => answer(++calls, connection, socket));
  };
  server = secure
    ? tls.createServer({ cert: readFileSync(CERT), key: readFileSync("test/fixtures/tls/localhost.key") }, accept)
    : net.createServer(accept);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return (server.address() as AddressInfo).port;
}

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const answerOf = (data: object): string => {
  const body = JSON.stringify({ success: true, data });
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

/** What a program that has a client prints, line by line. */
async function run(url: string, program: string): Promise<string[]> {
  const lines = ["import os, sys", "from tradewire import Tradewire", "client = Tradewire(sys.argv[1])", program];
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1", SSL_CERT_FILE: resolve(CERT) });
  const { stdout } = await promisify(execFile)("python3", ["-c", lines.join("\n"), url], { env });
  return stdout.trim().split("\n");
}

const where = hasPackages ? "" : " (not run: cryptography is not here)";

describe.runIf(hasPackages)(`a connection that the client in Python has kept${where}`, () => {
  test("is closed after a hint: the answer that follows it is none to the next call", async () => {
    const port = await serve((call, connection, socket) => {
      if (call === 1) socket.write("HTTP/1.1 103 Early Hints\r\n\r\n");
      else socket.write(answerOf({ call: connection }));
    });
    const ask = `
try:
    client.get_priority()
except Exception as hint:
    print(type(hint).__name__)
print(client.get_priority()["call"])`;
    expect(await run(`http://127.0.0.1:${port}`, ask)).toEqual(["TradewireError", "2"]);
  });

  test("takes no call while TLS holds bytes of it that nobody asked for", async () => {
    const pad = "x".repeat(12_000);
    const port = await serve((call, _, socket) => {
      socket.write(call === 1 ? answerOf({ call, pad }) + answerOf({ call: "unasked" }) : answerOf({ call }));
    }, true);
    const ask = 'print(client.get_priority()["call"], client.get_priority()["call"])';
    expect(await run(`https://localhost:${port}`, ask)).toEqual(["1 2"]);
  });

  test("is followed by a new one if it breaks: a call is sent twice at most", async () => {
    const held: [Socket, number][] = [];
    const port = await serve((call, _, socket) => {
      if (call > 3) {
        if (call < 6) socket.destroy();
        else socket.write(answerOf({ call }));
        return;
      }
      // The first three come at once, so that three connections wait.
      held.push([socket, call]);
      if (held.length === 3) for (const [each, number] of held) each.write(answerOf({ call: number }));
    });
    const ask = `
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    list(pool.map(lambda _: client.get_priority(), range(3)))
try:
    client.get_priority()
except ConnectionError as broken:
    print("broken")
print(client.get_priority()["call"])`;
    expect(await run(`http://127.0.0.1:${port}`, ask)).toEqual(["broken", "6"]);
    expect(sockets.length).toBe(4);
  });

  test("stays with its process: a child of it asks on another", async () => {
    const port = await serve((_, connection, socket) => socket.write(answerOf({ connection })));
    const ask = `
print(client.get_priority()["connection"], flush=True)
if os.fork() == 0:
    print(client.get_priority()["connection"], flush=True)
    os._exit(0)
os.wait()
print(client.get_priority()["connection"])`;
    expect(await run(`http://127.0.0.1:${port}`, ask)).toEqual(["1", "2", "1"]);
  });
});

describe.runIf(hasPackages)(`an answer to the client in Python that never ends${where}`, () => {
  const HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const REFUSAL = "HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n";
  const ask = `
from tradewire import TradewireError, transport
transport.TIMEOUT = 1
for _ in range(3):
    try:
        client.get_priority()
    except TimeoutError as late:
        print(late)
    except TradewireError as refused:
        print(refused.status, refused.retryable)`;

  test.each([["http", false] as const, ["https", true] as const])(
    "is cut on time over %s: in the head of a chunk, after the last one, and in a refusal",
    async (scheme, secure) => {
      const drips: NodeJS.Timeout[] = [];
      const drip = (socket: Socket, text: string) => drips.push(setInterval(() => socket.write(text), 50));
      const port = await serve((call, _, socket) => {
        socket.write([`${HEAD}2;name=`, `${HEAD}2\r\n{}\r\n0\r\n`, `${REFUSAL}2;name=`][call - 1]!);
        drip(socket, call === 2 ? "Trailer: value\r\n" : "a");
      }, secure);
      const host = secure ? "localhost" : "127.0.0.1";
      const said = await run(`${scheme}://${host}:${port}`, ask);
      for (const each of drips) clearInterval(each);
      expect(said).toEqual(["the answer took too long", "the answer took too long", "503 True"]);
    },
  );
});
