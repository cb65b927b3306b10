import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createRandom } from "../../../primitives/random.ts";
import { readWholeRequest, type WholeRequest } from "./whole-request.ts";

const read = (text: string, last?: WholeRequest) => {
  const bytes = Buffer.from(text, "latin1");
  return readWholeRequest(bytes, bytes.length, 8_192, last);
};

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

it("keeps no memory of other buffers with the head of a connection", () => {
  const connections = 200;
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  const kept = Array.from({ length: connections }, (_, place) => {
    for (let others = 0; others < 100; others++) Buffer.from("x".repeat(800));
    return read(`POST /a HTTP/1.1\r\nhost: a\r\nx: ${place}\r\ncontent-length: 0\r\n\r\n`);
  });
  collectGarbage();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(connections * 16_384);
  expect(kept).not.toContain(undefined);
});

it("reads a request in the form that most clients send", () => {
  const lines = "\r\nHost: here:80\r\nAuthorization: Bearer key\r\nconnection: keep-alive\r\nContent-Length: 2";
  expect(read(`POST /v1/tx/buy HTTP/1.1${lines}\r\n\r\n{}`)).toMatchObject({
    path: "/v1/tx/buy",
    lines,
    length: 2,
  });
  expect(read(`POST /v1/tx/buy HTTP/1.1${lines}\r\n\r\n{} `)).toBeUndefined();
  expect(read(`POST /v1/tx/buy HTTP/1.1${lines}\r\n\r\n{`)).toBeUndefined();
});

it("refuses a head as long as may be at its last byte, and in one pass", () => {
  for (const line of ["a: b", "a:  b", "a:", "a: ", "a:\t \t", "a: a: a: a:", "host: a", "content-length: 1"]) {
    for (const end of ["x: \x01", "x: \xff", "x", ": y", "x : y", "\r\nx: y", "x: y\n", ""]) {
      // An expression that tried each line in two ways would not end.
      expect(read(`POST /a HTTP/1.1${`\r\n${line}`.repeat(63)}\r\n${end}\r\n\r\n`)).toBeUndefined();
    }
  }
  expect(read(`POST /${"a/".repeat(3_000)} HTTP/1.0\r\nhost: a\r\ncontent-length: 0\r\n\r\n`)).toBeUndefined();
  expect(read(`POST /a HTTP/1.1\r\nhost: a\r\n${"a".repeat(7_000)}\r\ncontent-length: 0\r\n\r\n`)).toBeUndefined();
});

it.each([
  ["a host twice", "Host: a\r\nhost: a\r\ncontent-length: 2"],
  ["a length twice", "host: a\r\ncontent-length: 2\r\nContent-Length: 2"],
  ["no host", "content-length: 2"],
  ["no length", "host: a"],
  ["a length after spaces", "host: a\r\ncontent-length:  2"],
  ["a length before a space", "host: a\r\ncontent-length: 2 "],
  ["a length with a sign", "host: a\r\ncontent-length: +2"],
  ["a host with a path", "host: a/b\r\ncontent-length: 2"],
  ["a connection that closes", "host: a\r\nConnection: close\r\ncontent-length: 2"],
  ["a connection with options", "host: a\r\nconnection: keep-alive, x\r\ncontent-length: 2"],
  ["another transfer coding", "host: a\r\nTransfer-Encoding: chunked\r\ncontent-length: 2"],
  ["an expectation", "host: a\r\nEXPECT: 100-continue\r\ncontent-length: 2"],
  ["a page's origin", "host: a\r\norigin: null\r\ncontent-length: 2"],
  ["a folded line", "host: a\r\nx: y\r\n z\r\ncontent-length: 2"],
  ["a bare line break", "host: a\r\nx: y\nte: z\r\ncontent-length: 2"],
  ["a bare return", "host: a\r\nx: y\rte: z\r\ncontent-length: 2"],
  ["a space before the colon", "host: a\r\ncontent-length : 2\r\ncontent-length: 2"],
])("leaves %s to the server", (_, lines) => {
  expect(read(`POST /a HTTP/1.1\r\n${lines}\r\n\r\n{}`)).toBeUndefined();
});

it("gives headers as Node does, whatever their names; none if one stands there twice", () => {
  const headers = (lines: string) => read(`POST /a HTTP/1.1\r\nhost: a\r\n${lines}content-length: 0\r\n\r\n`)!.headers;
  const given = headers("X-A:  b \t\r\n__proto__: c\r\nconstructor:\r\n")!;
  expect(Object.entries(given)).toEqual([
    ["host", "a"],
    ["x-a", "b"],
    ["__proto__", "c"],
    ["constructor", ""],
    ["content-length", "0"],
  ]);
  expect(headers("X-A: b\r\nx-a: b\r\n")).toBeUndefined();
  expect(headers("__proto__: b\r\n__PROTO__: b\r\n")).toBeUndefined();
});

it("gives usual headers as all others, however they are written", () => {
  const lines = "HOST: a\r\nContent-Type: b\r\nACCEPT:\r\nauthorization:  Bearer c \r\ncontent-length: 0";
  const given = (more: string) => ({ ...read(`POST /a HTTP/1.1\r\n${lines}${more}\r\n\r\n`)!.headers! });
  const sent = Object.entries(given("")).filter(([, value]) => value !== undefined);
  expect(Object.fromEntries(sent)).toEqual({
    host: "a",
    "content-type": "b",
    accept: "",
    authorization: "Bearer c",
    "content-length": "0",
  });
  expect(given("\r\nx-other: d")).toEqual({ ...Object.fromEntries(sent), "x-other": "d" });
  const usual = read("POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")!.headers!;
  for (const name of ["constructor", "__proto__", "toString", "origin"]) expect(usual[name]).toBeUndefined();
  expect(read(`POST /a HTTP/1.1\r\n${lines}\r\nAccept: e\r\n\r\n`)!.headers).toBeUndefined();
});

it("reads a request like an earlier one of its connection as it reads it alone", () => {
  const random = createRandom(11);
  const pick = <T>(of: readonly T[]): T => of[random.u32() % of.length]!;
  const rarely = (one: string, other: string): string => (random.u32() % 8 === 0 ? one : other);
  const lines = (key: string, length: string) => [
    rarely("Host: b", "Host: a"),
    rarely(pick([`authorization:Bearer ${key} `, "X-Other: c", "Accept: d"]), `Authorization: Bearer ${key}`),
    rarely(`content-length:${length}`, `Content-Length: ${length}`),
  ];
  const write = (): string => {
    const body = "x".repeat(pick([7, 10, 12, 12, 99, 100]));
    const key = rarely(pick(["api_\x01", "api_\t", " api ", "ap\r\ni", "api_12"]), pick(["api_1", "api_2"]));
    const length = rarely(pick([`0${body.length}`, "1x", `${body.length + 1}`]), `${body.length}`);
    const inOrder = lines(key, length);
    const head = (random.u32() % 8 === 0 ? inOrder.toReversed() : inOrder).join("\r\n");
    return `POST ${rarely("/b", "/a")} HTTP/1.1\r\n${head}\r\n\r\n${body}`;
  };
  const shown = (request: WholeRequest | undefined, text: string) =>
    request === undefined
      ? undefined
      : {
          path: request.path,
          length: request.length,
          lines: request.lines,
          headers: request.headers,
          hasItsBytes: request.withBody(Buffer.from(text.slice(request.headBytes))).toString("latin1") === text,
        };
  let last: WholeRequest | undefined;
  let same = 0;
  for (let round = 0; round < 8_000; round++) {
    const text = write();
    const alone = shown(read(text), text);
    const alike = read(text, last);
    expect(shown(alike, text)).toEqual(alone);
    if (alone !== undefined) expect(alone.hasItsBytes).toBe(true);
    if (last?.readAlike(Buffer.from(text, "latin1"), text.length) !== undefined) same += 1;
    last = alike ?? last;
  }
  expect(same).toBeGreaterThan(100);
});
