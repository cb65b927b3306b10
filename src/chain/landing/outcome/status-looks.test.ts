import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeEndpoint, fakeEndpoint } from "../../../../test/support/fake-chain.ts";
import { NodeError } from "../../rpc/node-error.ts";
import { createRpcPool } from "../../rpc/rpc-pool.ts";
import { StatusLooks } from "./status-looks.ts";

const status = { slot: 7, err: null, confirmationStatus: "confirmed" };
const seen = { slot: 7n, error: null, commitment: "confirmed" };

/** Calls that the node has yet to answer, oldest first. */
let unanswered: PromiseWithResolvers<unknown>[];
let node: FakeEndpoint;
let looks: StatusLooks;

beforeEach(() => {
  vi.useFakeTimers();
  unanswered = [];
  node = fakeEndpoint({
    getSignatureStatuses: () => {
      const call = Promise.withResolvers<unknown>();
      unanswered.push(call);
      return call.promise;
    },
  });
  looks = new StatusLooks(createRpcPool({ endpoints: [node], now: Date.now, warn: () => {} }));
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const look = (signature: string, mayBeOld = false) => looks.look(node, signature, mayBeOld);
const asked = () => node.calls.map(({ params }) => params[0]);
const answer = (...value: unknown[]) => unanswered.shift()!.resolve({ context: { slot: 9 }, value });
const turn = () => vi.advanceTimersByTimeAsync(0);

test("looks of one turn share a call, and those that come before its answer the next one", async () => {
  const first = [look("a"), look("b")];
  await turn();
  const later = [look("c"), look("a"), look("d")];
  await turn();
  expect(asked()).toEqual([["a", "b"]]);
  answer(status, null);
  expect(await Promise.all(first)).toEqual([seen, null]);
  await turn();
  expect(asked()).toEqual([
    ["a", "b"],
    ["c", "a", "d"],
  ]);
  answer(null, status, status);
  expect(await Promise.all(later)).toEqual([null, seen, seen]);
});

test("a call that is not answered for long holds up no later look", async () => {
  const first = look("a");
  await turn();
  const second = look("b");
  await vi.advanceTimersByTimeAsync(99);
  expect(asked()).toEqual([["a"]]);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked()).toEqual([["a"], ["b"]]);
  answer(null);
  answer(status);
  expect(await Promise.all([first, second])).toEqual([null, seen]);
});

test("a call that fails fails its own looks alone", async () => {
  const first = look("a");
  await turn();
  const second = look("b");
  unanswered.shift()!.reject(new Error("away"));
  await expect(first).rejects.toThrow("away");
  await turn();
  answer(status);
  expect(await second).toEqual(seen);
});

test("looks whose call the node refuses for one of them are made one by one", async () => {
  const both = Promise.allSettled([look("a"), look("no signature")]);
  await turn();
  const refusal = () => new NodeError("answered", "Invalid param: WrongSize", { rpcCode: -32602 });
  unanswered.shift()!.reject(refusal());
  await turn();
  answer(status);
  unanswered.shift()!.reject(refusal());
  expect(await both).toMatchObject([{ status: "fulfilled", value: seen }, { status: "rejected" }]);
  expect(asked()).toEqual([["a", "no signature"], ["a"], ["no signature"]]);
});

test("a status that cannot be read fails its own look alone", async () => {
  const both = Promise.allSettled([look("a"), look("b")]);
  await turn();
  answer({ slot: "none" }, status);
  expect(await both).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: seen }]);
});

test("the history is searched for what a node may have forgotten, in a call of its own", async () => {
  const both = [look("old", true), look("new")];
  await turn();
  answer(null, null);
  await turn();
  expect(node.calls.at(-1)!.params).toEqual([["old"], { searchTransactionHistory: true }]);
  answer(status);
  expect(await Promise.all(both)).toEqual([seen, null]);
  expect(asked()).toHaveLength(2);
});
