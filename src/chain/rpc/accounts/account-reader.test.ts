import bs58 from "bs58";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fakeEndpoint } from "../../../../test/support/fake-chain.ts";
import { Address } from "../../../primitives/address.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import { NodeError } from "../node-error.ts";
import { createRpcPool } from "../rpc-pool.ts";
import { createAccountReader } from "./account-reader.ts";

const addresses = Array.from({ length: 250 }, (_, i) => Address.from(Uint8Array.from({ length: 32 }, () => i + 1)));
const value = { lamports: 5, owner: SYSTEM_PROGRAM.toString(), data: ["AQI=", "base64"], executable: false };

function readerOf(methods: Parameters<typeof fakeEndpoint>[0]) {
  const endpoint = fakeEndpoint(methods);
  const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
  return { endpoint, reader: createAccountReader({ pool, commitment: "processed" }) };
}

test("accounts come in the order asked, a hundred per call, null if there is none", async () => {
  let slot = 12;
  const { endpoint, reader } = readerOf({
    getMultipleAccounts: (keys: readonly string[]) => ({
      context: { slot: --slot },
      value: keys.map((key) => (key === addresses[1]!.toString() ? null : value)),
    }),
  });
  const read = await reader.fetchAccounts(addresses, 7n);
  expect(read.slot).toBe(9n);
  expect(read.accounts.length).toBe(250);
  expect(read.accounts[1]).toBe(null);
  expect(read.accounts[0]).toMatchObject({ address: addresses[0], owner: SYSTEM_PROGRAM, lamports: 5n, slot: 11n });
  expect([...read.accounts[0]!.data]).toEqual([1, 2]);
  expect(read.accounts[249]).toMatchObject({ address: addresses[249], slot: 9n });
  expect(endpoint.calls.map(({ params }) => (params[0] as string[]).length)).toEqual([100, 100, 50]);
  expect(endpoint.calls[0]!.params[1]).toEqual({ encoding: "base64", commitment: "processed", minContextSlot: 7 });
});

test("an account without lamports is closed", async () => {
  const { reader } = readerOf({
    getMultipleAccounts: () => ({ context: { slot: 1 }, value: [{ ...value, lamports: 0 }] }),
  });
  expect((await reader.fetchAccounts([addresses[0]!])).accounts).toEqual([null]);
});

test.each([
  null,
  {},
  { context: { slot: -1 }, value: [] },
  { context: { slot: 1 }, value: "no" },
  { context: { slot: 1 }, value: [] },
  { context: { slot: 1 }, value: [value, value] },
  { context: { slot: 1 }, value: [{ ...value, lamports: 1.5 }] },
  { context: { slot: 1 }, value: [{ ...value, owner: "nobody" }] },
  { context: { slot: 1 }, value: [{ ...value, data: ["x", "base58"] }] },
])("an answer that is not what it should be is an UPSTREAM_ERROR (%#)", async (answer) => {
  const { reader } = readerOf({ getMultipleAccounts: () => answer });
  await expect(reader.fetchAccounts([addresses[0]!])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

test("a node that leaves accounts out of its answer is asked after one that gives all", async () => {
  const [short, whole] = [[value], [value, null, value]].map((values, i) =>
    fakeEndpoint({ getMultipleAccounts: () => ({ context: { slot: 1 }, value: values }) }, `node ${i}`),
  );
  const doubts = vi.spyOn(short!, "doubt");
  const pool = createRpcPool({ endpoints: [short!, whole!], now: Date.now, warn: () => {} });
  const reader = createAccountReader({ pool, commitment: "processed" });
  const { accounts } = await reader.fetchAccounts(addresses.slice(0, 3));
  expect(accounts.map((account) => account?.lamports)).toEqual([5n, undefined, 5n]);
  expect(doubts).toHaveBeenCalledTimes(1);
});

test("a program's accounts are searched by size and bytes", async () => {
  const { endpoint, reader } = readerOf({
    getProgramAccounts: () => ({
      context: { slot: 3 },
      value: [{ pubkey: addresses[4]!.toString(), account: value }],
    }),
  });
  const bytes = Uint8Array.of(1, 2, 3);
  const found = await reader.fetchProgramAccounts({
    program: TOKEN_PROGRAM,
    dataSize: 165,
    memcmp: [{ offset: 8, bytes }],
  });
  expect(found).toMatchObject([{ address: addresses[4], lamports: 5n, slot: 3n }]);
  expect(endpoint.calls[0]!.params[1]).toMatchObject({
    filters: [{ dataSize: 165 }, { memcmp: { offset: 8, bytes: bs58.encode(bytes) } }],
  });
});

test("a search that must be answered at once is not made in parts", async () => {
  const { endpoint, reader } = readerOf({
    getProgramAccounts: () => {
      throw new NodeError("malformed", "too large");
    },
  });
  expect(await reader.fetchProgramAccounts({ program: TOKEN_PROGRAM, memcmp: [], atOnce: true })).toBe("oversized");
  expect(endpoint.calls.length).toBe(1);
});

test("a search whose answer is too large is made in parts, and loses nothing", async () => {
  const found = addresses.slice(0, 250);
  const account = { ...value, owner: TOKEN_PROGRAM.toString() };
  const { endpoint, reader } = readerOf({
    getProgramAccounts: (_program: string, { dataSlice }: { readonly dataSlice?: object }) => {
      if (dataSlice === undefined) throw new NodeError("malformed", "too large");
      const slim = { ...account, data: ["", "base64"] };
      return { context: { slot: 3 }, value: found.map((address) => ({ pubkey: address.toString(), account: slim })) };
    },
    getMultipleAccounts: (keys: readonly string[]) => ({ context: { slot: 4 }, value: keys.map(() => account) }),
  });
  const accounts = await reader.fetchProgramAccounts({ program: TOKEN_PROGRAM, memcmp: [] });
  if (typeof accounts === "string") throw new Error(accounts);
  expect(accounts.map(({ address, slot, data }) => [address, slot, ...data])).toEqual(
    found.map((address) => [address, 4n, 1, 2]),
  );
  expect(endpoint.calls.map(({ method }) => method)).toEqual([
    "getProgramAccounts",
    "getProgramAccounts",
    ...Array.from({ length: 3 }, () => "getMultipleAccounts"),
  ]);
});

test("a search that cannot be made in parts either fails as the whole did", async () => {
  const { reader } = readerOf({
    getProgramAccounts: () => {
      throw new NodeError("malformed", "too large");
    },
  });
  const search = reader.fetchProgramAccounts({ program: TOKEN_PROGRAM, memcmp: [] });
  await expect(search).rejects.toMatchObject({ code: "UPSTREAM_ERROR", kind: "malformed" });
});

test("a node that does not serve searches says refused; one that is down throws", async () => {
  const filter = { program: TOKEN_PROGRAM, memcmp: [] };
  expect(await readerOf({}).reader.fetchProgramAccounts(filter)).toBe("refused");
  const { reader } = readerOf({
    getProgramAccounts: () => {
      throw new NodeError("unreachable", "down");
    },
  });
  await expect(reader.fetchProgramAccounts(filter)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

test("state of a slot the chain cannot be at is not taken: another node is asked, and goes first for a while", async () => {
  const nodes = [900, 12].map((slot) =>
    fakeEndpoint({
      getMultipleAccounts: (keys: readonly string[]) => ({ context: { slot }, value: keys.map(() => value) }),
    }),
  );
  const doubted = vi.spyOn(nodes[0]!, "doubt");
  const reader = createAccountReader({
    pool: createRpcPool({ endpoints: nodes, now: Date.now, warn: () => {} }),
    commitment: "processed",
    isCredible: (slot) => slot < 100n,
  });
  expect((await reader.fetchAccounts(addresses.slice(0, 1))).slot).toBe(12n);
  expect(doubted).toHaveBeenCalledOnce();
});

test("concurrent calls are bounded, and each answer lands in its place", async () => {
  let underWay = 0;
  let most = 0;
  const { reader } = readerOf({
    getMultipleAccounts: async (keys: string[]) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay -= 1;
      return { context: { slot: 1 }, value: keys.map((key) => ({ ...value, lamports: key.charCodeAt(0) })) };
    },
  });
  const many = Array.from({ length: 40 }, () => addresses).flat();
  const { accounts } = await reader.fetchAccounts(many);
  expect(most).toBe(16);
  expect(accounts.map((account) => account?.lamports)).toEqual(
    many.map((address) => BigInt(address.toString().charCodeAt(0))),
  );
});

test("concurrent searches are bounded, and the rest run in order", async () => {
  const answers: (() => void)[] = [];
  let most = 0;
  const { endpoint, reader } = readerOf({
    getProgramAccounts: () =>
      new Promise((resolve) => {
        answers.push(() => resolve({ context: { slot: 1 }, value: [] }));
        most = Math.max(most, answers.length);
      }),
  });
  const found = Promise.all(
    addresses.slice(0, 200).map((program) => reader.fetchProgramAccounts({ program, memcmp: [] })),
  );
  while (endpoint.countOf("getProgramAccounts") < 200 || answers.length > 0) {
    await new Promise(setImmediate);
    answers.shift()?.();
  }
  expect(await found).toHaveLength(200);
  expect(most).toBe(64);
  expect(endpoint.calls.map(({ params }) => params[0])).toEqual(addresses.slice(0, 200).map(String));
});

test("a search that fails hands its place on", async () => {
  const { reader } = readerOf({
    getProgramAccounts: () => Promise.reject(new NodeError("unreachable", "The node is away.")),
  });
  const found = await Promise.allSettled(
    addresses.slice(0, 130).map((program) => reader.fetchProgramAccounts({ program, memcmp: [] })),
  );
  expect(found.every(({ status }) => status === "rejected")).toBe(true);
});

test("a search made again begins at another node than the one that answered", async () => {
  const answer = (of: string) => () => ({
    context: { slot: 1 },
    value: of === "liar" ? [] : [{ pubkey: addresses[0]!.toString(), account: value }],
  });
  const endpoints = ["liar", "honest"].map((name) => fakeEndpoint({ getProgramAccounts: answer(name) }, name));
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  const reader = createAccountReader({ pool, commitment: "processed" });
  const search = (size: number) => reader.fetchProgramAccounts({ program: TOKEN_PROGRAM, dataSize: size, memcmp: [] });
  expect(await search(1)).toEqual([]);
  // An odd number of others in between.
  await search(2);
  expect((await search(1)).length).toBe(1);
  expect(await search(1)).toEqual([]);
});

describe("at a node that takes so many searches a second", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function limitedReader(perSecond: number) {
    let left = perSecond;
    const { endpoint, reader } = readerOf({
      getProgramAccounts: () => {
        if (left-- <= 0) throw new NodeError("unreachable", "HTTP 429", { isOverLimit: true });
        return { context: { slot: 3 }, value: [] };
      },
    });
    const renewing = setInterval(() => {
      left = perSecond;
    }, 1_000);
    const search = async (count: number) => {
      const found = Promise.allSettled(
        addresses.slice(0, count).map((program) => reader.fetchProgramAccounts({ program, memcmp: [] })),
      );
      await vi.advanceTimersByTimeAsync(10_000);
      return (await found).filter(({ status }) => status === "fulfilled").length;
    };
    return { endpoint, search, end: () => clearInterval(renewing) };
  }

  test("all searches of a token are answered, and only those refused are made again", async () => {
    const { endpoint, search, end } = limitedReader(10);
    expect(await search(17)).toBe(17);
    expect(endpoint.countOf("getProgramAccounts")).toBe(17 + 7);
    end();
  });

  test("none is made more than four times", async () => {
    const { endpoint, search, end } = limitedReader(2);
    expect(await search(17)).toBe(8);
    expect(endpoint.countOf("getProgramAccounts")).toBe(17 + 15 + 13 + 11);
    end();
  });

  test("a search made in parts is made again too", async () => {
    let slimCalls = 0;
    const { reader } = readerOf({
      getProgramAccounts: (_program: string, { dataSlice }: { readonly dataSlice?: object }) => {
        if (dataSlice === undefined) throw new NodeError("oversized", "too large");
        if (slimCalls++ === 0) throw new NodeError("unreachable", "HTTP 429", { isOverLimit: true });
        return { context: { slot: 3 }, value: [] };
      },
    });
    const found = reader.fetchProgramAccounts({ program: TOKEN_PROGRAM, memcmp: [] }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([await found, slimCalls]).toEqual([[], 2]);
  });

  test("one that answers none is waited for only once", async () => {
    const { endpoint, search, end } = limitedReader(0);
    expect(await search(17)).toBe(0);
    expect(await search(17)).toBe(0);
    expect(endpoint.countOf("getProgramAccounts")).toBe(4 * 17 + 17);
    end();
  });
});
