import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callNode, explorerLink, nodeNetwork } from "./network.ts";

/** What the node answers as the hash of its genesis block. */
let genesis: unknown;
const server = http.createServer((_request, response) => {
  response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: genesis }));
});
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
afterAll(() => void server.close());
const node = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test.each([
  ["5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", "mainnet", "https://explorer.solana.com/tx/sig"],
  ["4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY", "testnet", "https://explorer.solana.com/tx/sig?cluster=testnet"],
  ["EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", "devnet", "https://explorer.solana.com/tx/sig?cluster=devnet"],
])("a node whose genesis is %s serves %s, and its transactions are found there", async (hash, network, link) => {
  genesis = hash;
  expect(await nodeNetwork(node())).toBe(network);
  expect(await explorerLink("sig", undefined, node())).toBe(link);
});

test.each(["constructor", "11111111111111111111111111111111", 7, null])(
  "a node that names its genesis %s serves a network of its own",
  async (hash) => {
    genesis = hash;
    expect(await nodeNetwork(node())).toBe("custom");
  },
);

test("a node that breaks off its answer, or gives none, is not reached", async () => {
  const broken = http.createServer((_request, response) => {
    response.writeHead(200).write("{", () => response.destroy());
  });
  await new Promise<void>((resolve) => void broken.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
  const failure = {
    code: "NODE_UNAVAILABLE",
    message: expect.stringMatching(/^The node 127\.0\.0\.1:\d+ did not answer/),
  };
  await expect(callNode(`${url}/secret`, "getHealth")).rejects.toMatchObject(failure);
  await new Promise((resolve) => broken.close(resolve));
  await expect(callNode(`${url}/secret`, "getHealth")).rejects.toMatchObject(failure);
});

test.each(["<html>", "null", "[]", "{}"])("what answers a call with %s is no node", async (text) => {
  const other = http.createServer((_request, response) => void response.end(text));
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await expect(callNode(url, "getHealth")).rejects.toThrow("What answered is not a node: HTTP 200.");
  other.close();
});
