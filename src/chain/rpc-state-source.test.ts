import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeSubscriptions, fakeSubscriptions } from "../../test/support/fake-chain.ts";
import { Address } from "../primitives/address.ts";
import type { Account } from "../solana/account.ts";
import { SYSTEM_PROGRAM } from "../solana/programs.ts";
import type { AccountReader, StateSource } from "./port.ts";
import { createRpcStateSource } from "./rpc-state-source.ts";

const key = Address.from(new Uint8Array(32).fill(3));
let nodeSlot: bigint;
let nodeValue: number | null;
let reads: number;
/** Set to hold back a read's answer. */
let gate: Promise<void> | undefined;
let broken: boolean;
let subscriptions: FakeSubscriptions;
let source: StateSource;
let heard: { value: number | null; slot: bigint }[];

const reader: AccountReader = {
  async fetchAccounts(addresses) {
    reads += 1;
    const slot = nodeSlot;
    const value = nodeValue;
    if (broken) throw new Error("down");
    await gate;
    const account = (address: Address): Account | null =>
      value === null
        ? null
        : { address, owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(value), executable: false, slot };
    return { slot, accounts: addresses.map(account) };
  },
  fetchProgramAccounts: async () => "refused",
};

function notice(slot: number, value: number | null): void {
  const data = [Buffer.from([value ?? 0]).toString("base64"), "base64"];
  subscriptions.notify("account", key.toString(), {
    context: { slot },
    value: { lamports: value === null ? 0 : 1, owner: SYSTEM_PROGRAM.toString(), data, executable: false },
  });
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  nodeSlot = 10n;
  nodeValue = 1;
  reads = 0;
  gate = undefined;
  broken = false;
  heard = [];
  subscriptions = fakeSubscriptions();
  source = createRpcStateSource({ reader, subscriptions, now: Date.now, warn: () => {}, commitment: "processed" });
  source.onAccount((_, account, slot) => heard.push({ value: account === null ? null : account.data[0]!, slot }));
});
afterEach(() => {
  source.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test("the first state is read, then changes come by subscription", async () => {
  await source.follow([key]);
  expect(heard).toEqual([{ value: 1, slot: 10n }]);
  subscriptions.slot(10n);
  subscriptions.activate();
  notice(11, 2);
  notice(12, null);
  expect(heard.slice(1)).toEqual([
    { value: 2, slot: 11n },
    { value: null, slot: 12n },
  ]);
});

test("state never goes back, neither by a late notice nor by a lagging read", async () => {
  await source.follow([key]);
  subscriptions.slot(20n);
  subscriptions.activate();
  notice(20, 5);
  notice(19, 4);
  await vi.advanceTimersByTimeAsync(400);
  expect(reads).toBe(2);
  expect(heard.at(-1)).toEqual({ value: 5, slot: 20n });
});

test("a read that was under way when a notice of the same slot came does not undo it", async () => {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  let open = () => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  nodeSlot = 11n;
  nodeValue = 7;
  await vi.advanceTimersByTimeAsync(400);
  notice(11, 8);
  open();
  await vi.advanceTimersByTimeAsync(0);
  expect(heard.at(-1)).toEqual({ value: 8, slot: 11n });
});

test("a subscribed account is current with the slots, once read at or after the subscription's start", async () => {
  await source.follow([key]);
  subscriptions.slot(12n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(300);
  subscriptions.slot(13n);
  // Read at slot 10, subscribed from slot 12: what happened between is not known.
  expect(source.currentAtMs(key)).toBe(1_000_000);
  nodeSlot = 13n;
  await vi.advanceTimersByTimeAsync(100);
  subscriptions.slot(14n);
  expect(source.currentAtMs(key)).toBe(1_000_400);
  const before = reads;
  for (let slot = 15n; slot < 35n; slot++) {
    await vi.advanceTimersByTimeAsync(250);
    subscriptions.slot(slot);
  }
  expect(reads).toBe(before);
  expect(source.currentAtMs(key)).toBe(1_005_400);
});

test("while the slots are silent, what is subscribed to is read too", async () => {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  subscriptions.slot(11n);
  nodeSlot = 16n;
  nodeValue = 3;
  await vi.advanceTimersByTimeAsync(1_400);
  expect(heard.at(-1)).toEqual({ value: 3, slot: 16n });
  expect(source.currentAtMs(key)).toBe(1_001_600);
});

test("a lost subscription leaves the account current up to the last slot heard, and polling takes over", async () => {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  subscriptions.slot(11n);
  broken = true;
  subscriptions.lose();
  await vi.advanceTimersByTimeAsync(3_000);
  subscriptions.slot(12n);
  expect(source.currentAtMs(key)).toBe(1_000_400);
  broken = false;
  nodeSlot = 12n;
  nodeValue = 9;
  await vi.advanceTimersByTimeAsync(400);
  expect(heard.at(-1)).toEqual({ value: 9, slot: 12n });
  expect(source.currentAtMs(key)).toBe(1_003_600);
});

test("a node far behind the head proves nothing current", async () => {
  subscriptions.slot(100n);
  nodeSlot = 100n;
  await source.follow([key]);
  expect(source.currentAtMs(key)).toBe(1_000_000);
  subscriptions.slot(130n);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(source.currentAtMs(key)).toBe(1_000_000);
});

test("even a subscribed account is read again now and then", async () => {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  nodeSlot = 60n;
  nodeValue = 44;
  await vi.advanceTimersByTimeAsync(10_400);
  expect(heard.at(-1)).toEqual({ value: 44, slot: 60n });
});

test("a first read that fails is told, and made good later", async () => {
  broken = true;
  await expect(source.follow([key])).rejects.toThrow("down");
  broken = false;
  await vi.advanceTimersByTimeAsync(400);
  expect(heard).toEqual([{ value: 1, slot: 10n }]);
});

test("what is unfollowed is neither subscribed to nor read", async () => {
  await source.follow([key]);
  source.unfollow([key]);
  expect(subscriptions.count()).toBe(0);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reads).toBe(1);
});
