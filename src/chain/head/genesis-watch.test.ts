import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { GenesisWatch } from "./genesis-watch.ts";

function watch(...genesis: (string | undefined)[]) {
  const warnings: string[] = [];
  const stops: string[] = [];
  let doubts = 0;
  const endpoints = genesis.map((hash, i) => ({
    ...fakeEndpoint(hash === undefined ? {} : { getGenesisHash: () => hash }, `node-${i}`),
    doubt: () => void doubts++,
  }));
  const watched = new GenesisWatch({
    pool: createRpcPool({ endpoints, now: () => 0, warn: () => {} }),
    warn: (message) => void warnings.push(message),
    onForeignChain: (message) => void stops.push(message),
  });
  return { watched, warnings, stops, doubts: () => doubts };
}

test("one node of another chain is reported once and doubted each time", async () => {
  const { watched, warnings, stops, doubts } = watch("ours", "theirs");
  for (let i = 0; i < 3; i++) await watched.check("ours");
  expect(warnings).toEqual([expect.stringContaining("node-1 serves another chain, with genesis theirs")]);
  expect(stops).toEqual([]);
  expect(doubts()).toBe(3);
});

test("if all that answer serve another chain twice in a row, the service is stopped, once", async () => {
  const { watched, stops, warnings } = watch("theirs", undefined);
  await watched.check("ours");
  expect(stops).toEqual([]);
  for (let i = 0; i < 3; i++) await watched.check("ours");
  expect(stops).toEqual([expect.stringContaining("genesis theirs in place of ours")]);
  expect(warnings).toEqual([]);
});

test("silence says nothing", async () => {
  const { watched, stops, warnings } = watch(undefined);
  for (let i = 0; i < 3; i++) await watched.check("ours");
  expect([...stops, ...warnings]).toEqual([]);
});
