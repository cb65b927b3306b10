import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { GenesisWatch } from "./genesis-watch.ts";

function watch(genesis: readonly (string | undefined)[], trustedAt?: number) {
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
    trusted: trustedAt === undefined ? undefined : endpoints[trustedAt],
  });
  return { watched, warnings, stops, doubts: () => doubts };
}

async function checkThrice(genesis: readonly (string | undefined)[], trustedAt?: number) {
  const { watched, ...rest } = watch(genesis, trustedAt);
  for (let i = 0; i < 3; i++) await watched.check("ours");
  return rest;
}

test("one node of another chain is reported once and doubted each time", async () => {
  const { warnings, stops, doubts } = await checkThrice(["ours", "theirs"]);
  expect(warnings).toEqual([expect.stringContaining("node-1 serves another chain, with genesis theirs")]);
  expect(stops).toEqual([]);
  expect(doubts()).toBe(3);
});

test("if most nodes serve another chain twice in a row, the service is stopped, once", async () => {
  const { watched, stops, warnings } = watch(["theirs", undefined, "theirs"]);
  await watched.check("ours");
  expect(stops).toEqual([]);
  for (let i = 0; i < 3; i++) await watched.check("ours");
  expect(stops).toEqual([expect.stringContaining("genesis theirs instead of ours")]);
  expect(warnings).toEqual([]);
});

test("a single node that comes to serve another chain stops the service", async () => {
  expect((await checkThrice(["theirs"])).stops).toHaveLength(1);
});

test.each([
  ["one silent node", ["theirs", undefined]],
  ["two silent nodes", [undefined, "theirs", undefined]],
  ["a silent node and an honest one", ["theirs", undefined, "ours"]],
  ["one silent of four, as liars with it", ["theirs", "theirs", undefined, "ours"]],
])("a liar beside %s stops nothing, and is doubted", async (_beside, genesis) => {
  const { stops, doubts, warnings } = await checkThrice(genesis);
  expect(stops).toEqual([]);
  expect(doubts()).toBe(3 * genesis.filter((one) => one === "theirs").length);
  expect(warnings).toHaveLength(genesis.filter((one) => one === "theirs").length);
});

test("the trusted node decides while it answers", async () => {
  expect((await checkThrice(["theirs", "ours", undefined], 0)).stops).toHaveLength(1);
  expect((await checkThrice(["ours", "theirs", "theirs"], 0)).stops).toEqual([]);
  expect((await checkThrice([undefined, "theirs", "ours"], 0)).stops).toEqual([]);
  expect((await checkThrice([undefined, "theirs", "theirs"], 0)).stops).toHaveLength(1);
});

test("silence says nothing", async () => {
  const { stops, warnings } = await checkThrice([undefined]);
  expect([...stops, ...warnings]).toEqual([]);
});

test("the chain is the one that most nodes name, or the trusted one", async () => {
  expect(await watch(["theirs", "ours", "ours"]).watched.find()).toBe("ours");
  expect(await watch([undefined, "ours"]).watched.find()).toBe("ours");
  expect(await watch(["theirs", "ours"], 1).watched.find()).toBe("ours");
  expect(await watch(["theirs", "ours", "ours", "x".repeat(1_000)]).watched.find()).toBe("ours");
});

test("nodes that are divided name no chain", async () => {
  const divided = await watch(["theirs", "ours"]).watched.find().catch(String);
  expect(divided).toContain("serve different chains; their genesis hashes are: node-0 theirs, node-1 ours");
  await expect(watch([undefined, undefined]).watched.find()).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});
