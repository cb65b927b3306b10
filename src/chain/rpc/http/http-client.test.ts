import { createServer, type Server, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { background } from "../../../primitives/turns/background.ts";
import { HttpClient } from "./http-client.ts";

/** What a server does with each request of a connection, its number counted from 0 over all of them. */
type Serve = (socket: Socket, request: string, number: number) => void;

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server?.close();
});

async function open(
  serve: Serve,
  now = Date.now,
): Promise<{ client: HttpClient; requests: string[]; connections: () => number }> {
  const requests: string[] = [];
  let connections = 0;
  server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      requests.push(data.toString());
      serve(socket, data.toString(), requests.length - 1);
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const client = new HttpClient(new URL(`http://user:p%40ss@127.0.0.1:${port}/rpc?key=1`), { "x-token": "abc" }, now);
  return { client, requests, connections: () => connections };
}

const plain = (text: string, more = "") => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n${more}\r\n${text}`;
const options = { timeoutMs: 20_000, maxBytes: 1_000, isLarge: true };

test("a request is whole, and the next one takes the same connection", async () => {
  const { client, requests, connections } = await open((socket) => socket.write(plain("{}")));
  expect(await client.post('{"a":"é"}', options)).toEqual({ status: 200, text: "{}" });
  expect(await client.post("{}", { ...options, isLarge: false })).toEqual({ status: 200, text: "{}" });
  expect(connections()).toBe(1);
  const [first, second] = requests as [string, string];
  expect(first).toMatch(/^POST \/rpc\?key=1 HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n/);
  expect(first).toContain("\r\nx-token: abc\r\n");
  expect(first).toContain(`\r\nauthorization: Basic ${Buffer.from("user:p@ss").toString("base64")}\r\n`);
  expect(first).toContain('\r\naccept-encoding: gzip\r\ncontent-length: 10\r\n\r\n{"a":"é"}');
  expect(second).not.toContain("accept-encoding");
});

test("calls at once take a connection each", async () => {
  const held: (() => void)[] = [];
  const { client, connections } = await open((socket) => {
    held.push(() => socket.write(plain("1")));
    if (held.length === 2) for (const answer of held) answer();
  });
  await Promise.all([client.post("", options), client.post("", options)]);
  expect(connections()).toBe(2);
});

test("connections at rest keep nothing of their last answers", async () => {
  const [answers, size] = [8, 2 ** 20];
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { client } = await open((socket) => socket.write(plain("a".repeat(size))));
  collect();
  const before = process.memoryUsage().arrayBuffers;
  const asked = Array.from({ length: answers }, () => client.post("", { ...options, maxBytes: size }));
  expect((await Promise.all(asked)).every(({ text }) => text?.length === size)).toBe(true);
  asked.length = 0;
  collect();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((answers * size) / 2);
});

test("a header that would end its line is refused", () => {
  expect(() => new HttpClient(new URL("http://a"), { "x-a": "b\r\nx: y" }, Date.now)).toThrow(TypeError);
});

test("credentials with a bare percent sign are refused by the name of the host, and not shown", () => {
  const open = () => new HttpClient(new URL("https://user:p%word@node.example"), {}, Date.now);
  expect(open).toThrow("The credentials in the URL of node.example hold a % that is not written as %25.");
});

describe("an answer is read in any form that HTTP/1.1 allows, whole or byte by byte", () => {
  const zipped = gzipSync("compressed");
  const forms: readonly [string, string | Buffer, string][] = [
    ["a length", plain("text"), "text"],
    ["no body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["an interim answer first", `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${plain("text")}`, "text"],
    [
      "chunks",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n",
      "abc0123456789",
    ],
    [
      "chunks with a trailer",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-sum: 1\r\n\r\n",
      "a",
    ],
    ["the end of the connection", "HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end"],
    [
      "gzip",
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n`),
        zipped,
      ]),
      "compressed",
    ],
  ];
  test.each(forms)("%s", async (_, bytes, text) => {
    for (const isSplit of [false, true]) {
      const { client } = await open(async (socket) => {
        for (const part of isSplit ? Buffer.from(bytes) : [bytes]) {
          await new Promise((resolve) => socket.write(typeof part === "number" ? Buffer.of(part) : part, resolve));
        }
        if (_.startsWith("the end")) socket.end();
      });
      expect(await client.post("{}", options)).toEqual({ status: text === "" ? 204 : 200, text });
    }
  });
});

describe("an answer whose end is ambiguous fails the call", () => {
  test.each([
    ["something else", "SSH-2.0-OpenSSH\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc"],
    ["a length and chunks", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a length that is no number", "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nab"],
    ["an unknown transfer coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    ["an unknown content coding", "HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\na"],
    ["a chunk longer than it says", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabcd\r\n0\r\n\r\n"],
    ["a chunk without a length", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n"],
    ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["endless interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(9)],
    ["an endless head", `HTTP/1.1 200 OK\r\nx: ${"a".repeat(20_000)}`],
  ])("%s", async (_, bytes) => {
    const { client } = await open((socket) => socket.write(bytes));
    await expect(client.post("{}", options)).rejects.toMatchObject({ code: "BAD_HTTP" });
  });

  test("a redirect is not followed", async () => {
    const { client } = await open((socket) =>
      socket.write("HTTP/1.1 307 X\r\nlocation: /\r\ncontent-length: 0\r\n\r\n"),
    );
    await expect(client.post("{}", options)).rejects.toThrow("redirect");
  });

  test("an answer cut short", async () => {
    const { client } = await open((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"));
    await expect(client.post("{}", options)).rejects.toMatchObject({ code: "ERR_STREAM_PREMATURE_CLOSE" });
  });
});

test.each([
  ["a length", "HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n"],
  ["a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n"],
  ["what comes", `HTTP/1.1 200 OK\r\n\r\n${"a".repeat(1_001)}`],
])("an answer too large by %s is given up, and with it the connection", async (_, bytes) => {
  const { client } = await open((socket) => socket.write(bytes));
  expect(await client.post("{}", options)).toEqual({ status: 200, text: undefined });
  await eventually(() =>
    expect([...sockets].every(({ destroyed, readableEnded }) => destroyed || readableEnded)).toBe(true),
  );
});

test("a compressed answer counts by what it holds", async () => {
  const body = gzipSync("a".repeat(100_000));
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
  const { client } = await open((socket) => socket.write(Buffer.concat([Buffer.from(head), body])));
  expect(await client.post("{}", options)).toEqual({ status: 200, text: undefined });
});

test("a call on a connection that the server has closed meanwhile is made once more, a first call is not", async () => {
  const { client, requests, connections } = await open((socket, _, number) => {
    if (number === 1) socket.destroy();
    else socket.write(plain("{}"));
  });
  await client.post("{}", options);
  expect(await client.post("{}", options)).toEqual({ status: 200, text: "{}" });
  expect([requests.length, connections()]).toEqual([3, 2]);
  const closing = await open((socket) => socket.destroy());
  await expect(closing.client.post("{}", options)).rejects.toMatchObject({
    code: expect.stringMatching(/ERR_STREAM_PREMATURE_CLOSE|ECONNRESET/),
  });
  expect(closing.requests.length).toBe(1);
});

test("a call that takes too long ends, on a connection used before too, and is not made again", async () => {
  const { client, requests } = await open((socket, _, number) => {
    if (number === 0) socket.write(plain("{}"));
  });
  await client.post("{}", options);
  await expect(client.post("{}", { ...options, timeoutMs: 30 })).rejects.toMatchObject({ name: "TimeoutError" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(requests.length).toBe(2);
});

test.each([
  ["says so", plain("{}", "connection: close\r\n")],
  ["keeps it for no longer than a moment", plain("{}", "keep-alive: timeout=1\r\n")],
  ["sends more than the answer", `${plain("{}")}HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad`],
])("a connection is not used again if the server %s", async (_, bytes) => {
  const { client, connections } = await open((socket) => socket.write(bytes));
  for (let i = 0; i < 2; i++) expect(await client.post("{}", options)).toEqual({ status: 200, text: "{}" });
  expect(connections()).toBe(2);
});

describe("idle connections", () => {
  let nowMs: number;

  beforeEach(() => {
    nowMs = 1_000_000;
  });

  /** Makes so many calls at once, all of which are answered only once the last has come. */
  async function openMany(count: number, head = "") {
    const waiting: Socket[] = [];
    const opened = await open(
      (socket, _, number) => {
        if (number >= count) socket.write(plain("{}", head));
        else if (waiting.push(socket) === count) for (const one of waiting) one.write(plain("{}", head));
      },
      () => nowMs,
    );
    await Promise.all(Array.from({ length: count }, () => opened.client.post("{}", options)));
    return opened;
  }

  test.each([
    ["does not say how long it keeps them", "", 29_999, 30_001],
    ["keeps them for a minute", "keep-alive: timeout=60\r\n", 58_999, 59_001],
    ["keeps them for an hour", "keep-alive: timeout=3600\r\n", 59_999, 60_001],
    ["keeps them for less", "keep-alive: timeout=5, max=100\r\n", 3_999, 4_001],
  ])("serve later calls if the server %s", async (_, head, heldMs, goneMs) => {
    const { client, connections } = await openMany(1, head);
    nowMs += heldMs;
    await client.post("{}", options);
    expect(connections()).toBe(1);
    nowMs += goneMs;
    await client.post("{}", options);
    expect(connections()).toBe(2);
  });

  test("are closed but for 24 after a moment", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { connections } = await openMany(40);
      expect(connections()).toBe(40);
      nowMs += 4_000;
      vi.advanceTimersByTime(4_000);
      const closed = () => [...sockets].filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length;
      vi.useRealTimers();
      await eventually(() => expect(closed()).toBe(16));
    } finally {
      vi.useRealTimers();
    }
  });

  test("that have rested are not trusted after a call without an answer", async () => {
    const { client, connections, requests } = await openMany(3);
    nowMs += 4_000;
    // Nobody reads what comes on these any more.
    for (const socket of sockets) socket.removeAllListeners("data").resume();
    await expect(client.post("{}", { ...options, timeoutMs: 30 })).rejects.toMatchObject({ name: "TimeoutError" });
    expect(await client.post("{}", options)).toEqual({ status: 200, text: "{}" });
    expect([connections(), requests.length]).toEqual([4, 4]);
  });
});

test("what comes unasked on an idle connection answers nothing", async () => {
  const { client, connections } = await open((socket, _, number) => {
    socket.write(plain(`${number}`));
    if (number === 0) setImmediate(() => socket.write(plain("bad")));
  });
  expect((await client.post("{}", options)).text).toBe("0");
  await eventually(() =>
    expect([...sockets].some(({ destroyed, readableEnded }) => destroyed || readableEnded)).toBe(true),
  );
  expect((await client.post("{}", options)).text).toBe("1");
  expect(connections()).toBe(2);
});

test.each([
  ["ends", (socket: Socket) => socket.end(plain("1"))],
  [
    "gets bytes that nobody asked for",
    (socket: Socket) => socket.write(plain("1"), () => setTimeout(() => socket.write("more"))),
  ],
])("a connection that %s while its answer waits for a turn is not used again", async (_, answer) => {
  const answers = [answer, (socket: Socket) => socket.write(plain("2"))];
  const { client } = await open((socket, _, number) => answers[number]!(socket));
  // So many wait for a turn before it that the server writes all it has to write first.
  for (let i = 0; i < 1_000; i++) void background.next();
  expect((await client.post("{}", options)).text).toBe("1");
  await eventually(() =>
    expect([...sockets].every(({ destroyed, readableEnded }) => destroyed || readableEnded)).toBe(true),
  );
  expect((await client.post("{}", options)).text).toBe("2");
});
