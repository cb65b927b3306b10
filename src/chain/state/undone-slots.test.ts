import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeSubscriptions, fakeSubscriptions } from "../../../test/support/fake-chain.ts";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { createRpcStateSource } from "./rpc-state-source.ts";
import type { LiveStateSource } from "./state-source.ts";

const key = Address.from(new Uint8Array(32).fill(3));
let node: { slot: bigint; value: number };
let subscriptions: FakeSubscriptions;
let source: LiveStateSource;
/** What the account holds, as last delivered. */
let held: number | undefined;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  node = { slot: 10n, value: 1 };
  subscriptions = fakeSubscriptions();
  source = createRpcStateSource({
    reader: {
      async fetchAccounts(addresses) {
        const { slot, value } = node;
        const account = { owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(value), executable: false, slot };
        return { slot, accounts: addresses.map((address): Account => ({ ...account, address })) };
      },
      fetchProgramAccounts: async () => "refused",
    },
    ...{ subscriptions, now: Date.now, warn: () => {}, commitment: "processed", auditMs: 60_000 },
  });
  source.onAccount((address, account) => {
    if (address === key) held = account?.data[0];
  });
});
afterEach(() => {
  source.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** A second later, a slot begins on its parent, and is named to the service. */
function begin(slot: number, parent: number): void {
  vi.setSystemTime(Date.now() + 1_000);
  subscriptions.slot(BigInt(slot), BigInt(parent), 1n);
}

function notice(slot: number, value: number, of = key): void {
  const data = [Buffer.from([value]).toString("base64"), "base64"];
  subscriptions.notify("account", of.toString(), {
    context: { slot },
    value: { lamports: 1, owner: SYSTEM_PROGRAM.toString(), data, executable: false },
  });
}

async function readAt(slot: bigint, value: number): Promise<void> {
  node = { slot, value };
  await source.refresh([key]);
}

const ageMs = () => Date.now() - source.currentAtMs(key);

test.each(["a notice", "a read"])(
  "what was known before a connection counts for nothing if %s made the account current, and its slot is undone",
  async (means) => {
    await source.follow([key]);
    // It changes in slot 11, which nobody reports.
    begin(12, 11);
    subscriptions.activate();
    if (means === "a notice") notice(12, 3);
    begin(13, 12);
    if (means === "a read") await readAt(13n, 3);
    expect([held, ageMs()]).toEqual([3, 0]);
    begin(14, 11);
    // Since slot 10 was read.
    expect(ageMs()).toBe(3_000);
    await readAt(14n, 2);
    expect([held, ageMs()]).toEqual([2, 0]);
  },
);

/** The account is followed, read, and current by the stream; slots 10 and 11 are the chain. */
async function stream(): Promise<void> {
  await source.follow([key]);
  begin(10, 9);
  subscriptions.activate();
  begin(11, 10);
  await readAt(11n, 1);
}

test("what was known before an undone slot is not proven by subscriptions: they report a change with the slot that the node prefers", async () => {
  await stream();
  // It changes in slot 12, while the node prefers slot 13.
  begin(12, 11);
  begin(13, 11);
  begin(14, 12);
  notice(14, 3);
  expect([held, ageMs()]).toEqual([3, 0]);
  const { setbacks } = source;
  begin(15, 12);
  expect(source.setbacks).toBeGreaterThan(setbacks);
  // Since slot 11 began: what it held within that is certain.
  expect([held, ageMs()]).toEqual([1, 4_000]);
  // By a node that is late.
  await readAt(11n, 1);
  expect([held, ageMs()]).toEqual([1, 3_000]);
  await readAt(15n, 3);
  expect([held, ageMs()]).toEqual([3, 0]);
});

test("a change that subscriptions report as of a slot off the chain may be the chain's: the account is read", async () => {
  const other = Address.from(new Uint8Array(32).fill(4));
  await source.follow([other]);
  await stream();
  // It changes in slot 12, and the node comes to slot 13 by then.
  begin(12, 11);
  begin(13, 12);
  begin(14, 12);
  notice(13, 3);
  begin(15, 14);
  notice(15, 2, other);
  expect([held, ageMs()]).toEqual([1, 4_000]);
  await readAt(11n, 1);
  expect([held, ageMs()]).toEqual([1, 3_000]);
  await readAt(15n, 3);
  expect([held, ageMs()]).toEqual([3, 0]);
});

test("what subscriptions report is not current while their node prefers a branch that is not the chain", async () => {
  await stream();
  begin(12, 11);
  notice(12, 2);
  begin(13, 11);
  await readAt(13n, 1);
  expect([held, ageMs()]).toEqual([1, 0]);
  // It changes in slot 14.
  begin(14, 13);
  begin(15, 14);
  expect([held, ageMs()]).toEqual([1, 2_000]);
  notice(15, 3);
  expect([held, ageMs()]).toEqual([3, 0]);
});

test("which branch a node preferred says nothing about the one that is followed after it", async () => {
  await stream();
  begin(12, 11);
  notice(12, 2);
  begin(13, 11);
  subscriptions.lose();
  begin(14, 13);
  subscriptions.activate();
  begin(15, 14);
  await readAt(15n, 1);
  begin(16, 15);
  expect([held, ageMs()]).toEqual([1, 0]);
});

test("what a node says of a slot that the stream never names is undone as the next one begins on another", async () => {
  await stream();
  await readAt(12n, 5);
  expect(held).toBe(5);
  begin(13, 11);
  expect(held).toBe(1);
});

test("a slot that was passed over stays so, named or not, once a later one is final", async () => {
  await stream();
  begin(12, 11);
  notice(12, 4);
  await readAt(13n, 5);
  begin(14, 11);
  for (let slot = 15; slot <= 20; slot++) begin(slot, slot - 1);
  subscriptions.slot(21n, 20n, 19n);
  notice(21, 6);
  begin(22, 20);
  expect(held).toBe(1);
});

test("a slot that was passed over stays so after a gap, until a slot begins on it", async () => {
  await stream();
  notice(11, 2);
  begin(12, 11);
  notice(12, 3);
  begin(13, 11);
  expect(held).toBe(2);
  begin(16, 15);
  expect(held).toBe(2);
  begin(17, 12);
  expect(held).toBe(3);
});

test("slots before the first one of a connection are undone by one that begins before them", async () => {
  await source.follow([key]);
  begin(11, 10);
  subscriptions.lose();
  await readAt(13n, 2);
  begin(14, 13);
  expect(held).toBe(2);
  begin(15, 11);
  expect(held).toBe(1);
});

test("what a dropped slot held is not proven by its being what was known before the connection", async () => {
  await source.follow([key]);
  // It changes in slot 11, which nobody reports; slot 12 is on slot 10, so that it holds there what it did before.
  begin(12, 10);
  subscriptions.activate();
  await readAt(13n, 1);
  expect([held, ageMs()]).toEqual([1, 0]);
  begin(14, 11);
  // Since slot 10 was read.
  expect(ageMs()).toBe(2_000);
});

test("a slot that begins again on a parent that was missing brings back what was read there", async () => {
  begin(10, 9);
  await source.follow([key]);
  await readAt(12n, 2);
  begin(13, 10);
  expect(held).toBe(1);
  begin(13, 12);
  expect(held).toBe(2);
});
