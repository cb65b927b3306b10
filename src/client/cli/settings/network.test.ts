import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explorerLink, nodeNetwork } from "./network.ts";

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
