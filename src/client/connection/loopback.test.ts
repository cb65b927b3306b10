import { expect, test } from "vitest";
import { isLoopback, isSameHost } from "./loopback.ts";

const LOCAL = [
  "localhost",
  "LOCALHOST.",
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "0x7f.0.0.1",
  "2130706433",
  "127.8.9.1",
  "0.0.0.0",
  "0",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:0.0.0.0]",
];

test.each(LOCAL)("%s is this machine, and one host with all its other names", (host) => {
  expect(isLoopback(new URL(`http://${host}:8080/path`))).toBe(true);
  for (const other of LOCAL) {
    expect(isSameHost(new URL(`http://${host}:8080`), new URL(`https://${other}:8080/`)), other).toBe(true);
    expect(isSameHost(new URL(`http://${host}:8080`), new URL(`http://${other}:8081`)), other).toBe(false);
  }
});

test.each([
  "localhost.example",
  "notlocalhost",
  "127.0.0.1.example",
  "128.0.0.1",
  "1.0.0.0",
  "[::2]",
  "[::ffff:128.0.0.1]",
  "[1::ffff:127.0.0.1]",
])("%s is another machine", (host) => {
  const url = new URL(`http://${host}`);
  expect(isLoopback(url)).toBe(false);
  expect(isSameHost(url, new URL("http://localhost"))).toBe(false);
});

test("a host is the same over HTTP and HTTPS, with its own port written out, and with a dot at its end", () => {
  const same = [
    "https://trade.example",
    "http://trade.example",
    "https://Trade.Example.:443/v2",
    "http://trade.example:80",
  ];
  for (const url of same) expect(isSameHost(new URL(same[0]!), new URL(url)), url).toBe(true);
  for (const url of ["https://trade.example:8443", "https://a.trade.example", "https://trade.example.org"]) {
    expect(isSameHost(new URL(same[0]!), new URL(url)), url).toBe(false);
  }
});
