import { expect, it } from "vitest";
import { readWholeRequest } from "./whole-request.ts";

const read = (text: string) => readWholeRequest(Buffer.from(text, "latin1"), 8_192);

it("reads a request in the form that most clients send", () => {
  const lines = "\r\nHost: here:80\r\nAuthorization: Bearer key\r\nconnection: keep-alive\r\nContent-Length: 2";
  expect(read(`POST /v1/tx/buy HTTP/1.1${lines}\r\n\r\n{}`)).toMatchObject({
    path: "/v1/tx/buy",
    lines,
    length: "2",
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
