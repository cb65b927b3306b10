import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { Address } from "../../primitives/address.ts";
import { NodeError } from "../rpc/node-error.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { createWalletBalances } from "./wallet-balance.ts";

const wallet = Address.from(new Uint8Array(32).fill(7));
const node = (value: unknown) => fakeEndpoint({ getBalance: () => ({ context: { slot: 10 }, value }) });
const away = () => fakeEndpoint({ getBalance: () => Promise.reject(new NodeError("unreachable", "no answer")) });

function readerOf(...endpoints: readonly ReturnType<typeof node>[]) {
  const clock = { ms: 0 };
  const now = () => clock.ms;
  return { clock, reader: createWalletBalances({ pool: createRpcPool({ endpoints, now, warn: () => {} }), now }) };
}

test("no node alone makes a wallet look poor: the most that two name counts", async () => {
  expect(await readerOf(node(0), node(900)).reader.read(wallet)).toEqual({ lamports: 900n, nodes: 2 });
  expect(await readerOf(node(0)).reader.read(wallet)).toEqual({ lamports: 0n, nodes: 1 });
});

test("a node that does not answer, or not with a number, says nothing", async () => {
  for (const useless of [away(), node("much"), node(-1), node(null), fakeEndpoint({})])
    expect(await readerOf(useless, node(5)).reader.read(wallet)).toEqual({ lamports: 5n, nodes: 1 });
  expect(await readerOf(away(), away()).reader.read(wallet)).toBeUndefined();
});

test("its calls stay within their budget", async () => {
  const { clock, reader } = readerOf(node(1), node(1));
  const reads = () => Promise.all(Array.from({ length: 9 }, () => reader.read(wallet)));
  expect((await reads()).filter((one) => one !== undefined)).toHaveLength(4);
  clock.ms += 500;
  expect((await reads()).filter((one) => one !== undefined)).toHaveLength(2);
});
