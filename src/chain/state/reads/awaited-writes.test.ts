import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeSubscriptions, fakeSubscriptions } from "../../../../test/support/fake-chain.ts";
import { Address } from "../../../primitives/address.ts";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import type { AccountReader } from "../../port.ts";
import { createRpcStateSource } from "../rpc-state-source.ts";
import type { LiveStateSource } from "../state-source.ts";

const [pool, vault, other] = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [
  Address,
  Address,
  Address,
];
/** The slot of the node that is read, the state that it shows, and the reads so far. */
let node: { slot: bigint; value: number };
let minSlots: (bigint | undefined)[];
let subscriptions: FakeSubscriptions;
let source: LiveStateSource;
let values: Map<Address, number>;

const reader: AccountReader = {
  async fetchAccounts(addresses, minContextSlot) {
    minSlots.push(minContextSlot);
    const { slot, value } = node;
    if (minContextSlot !== undefined && slot < minContextSlot) throw new Error("the slot has not been reached");
    const fields = { owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(value), executable: false, slot };
    return { slot, accounts: addresses.map((address) => ({ address, ...fields })) };
  },
  fetchProgramAccounts: async () => "refused",
};

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  return start();
});

/** Follows pool and vault, read in slot 10 and streamed from slot 9 on. */
async function start(options: Partial<Parameters<typeof createRpcStateSource>[0]> = {}): Promise<void> {
  node = { slot: 10n, value: 1 };
  subscriptions = fakeSubscriptions();
  values = new Map();
  minSlots = [];
  // Nothing is polled unless a test says so.
  const slow = { pollMs: 60_000, verifyMs: 60_000, auditMs: 60_000, quietMs: 60_000 };
  source = createRpcStateSource({
    reader,
    subscriptions,
    now: Date.now,
    warn: () => {},
    commitment: "processed",
    ...slow,
    ...options,
  });
  source.onAccount((address, account) => values.set(address, account?.data[0] ?? 0));
  subscriptions.slot(9n);
  const following = source.follow([pool, vault]);
  subscriptions.activate();
  await following;
  minSlots = [];
}
afterEach(() => {
  source.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function notice(address: Address, slot: number, value: number): void {
  const data = [Buffer.from([value]).toString("base64"), "base64"];
  const account = { lamports: 1, owner: SYSTEM_PROGRAM.toString(), data, executable: false };
  subscriptions.notify("account", address.toString(), { context: { slot }, value: account });
}

const isCurrent = (address: Address) => source.currentAtMs(address) > 0;

test("a state from before a landed write is not current, however young it is, until a notice brings the write", async () => {
  const { setbacks } = source;
  source.noteWritten([pool, other], 12n);
  expect(source.setbacks).toBeGreaterThan(setbacks);
  expect([pool, vault].map(isCurrent)).toEqual([false, true]);
  notice(pool, 11, 2);
  expect(isCurrent(pool)).toBe(false);
  notice(pool, 12, 3);
  expect(isCurrent(pool)).toBe(true);
  expect(source.catchUp([pool, vault, other])).toBeUndefined();
  expect(minSlots).toEqual([]);
});

test("a state that is needed is read from a node that has reached the slot, once for all who wait", async () => {
  source.noteWritten([pool, vault], 12n);
  const waits = [source.catchUp([pool, vault]), source.catchUp([pool]), source.catchUp([other])];
  expect(waits[2]).toBeUndefined();
  await vi.advanceTimersByTimeAsync(60);
  expect(isCurrent(pool)).toBe(false);
  node = { slot: 12n, value: 7 };
  await vi.advanceTimersByTimeAsync(60);
  await Promise.all(waits);
  expect([values.get(pool), values.get(vault)]).toEqual([7, 7]);
  expect([pool, vault].map(isCurrent)).toEqual([true, true]);
  expect(new Set(minSlots)).toEqual(new Set([12n]));
  expect(minSlots.length).toBeLessThanOrEqual(3);
});

test("an account that has arrived and is written again is read once for all who wait, not beside earlier reads", async () => {
  source.noteWritten([pool, vault], 12n);
  void source.catchUp([pool, vault]);
  await vi.advanceTimersByTimeAsync(60);
  notice(pool, 12, 2);
  // Looked at in between, so the first write is forgotten.
  expect(isCurrent(pool)).toBe(true);
  source.noteWritten([pool], 13n);
  void source.catchUp([pool]);
  notice(vault, 12, 2);
  await vi.advanceTimersByTimeAsync(60);
  void source.catchUp([pool]);
  minSlots = [];
  await vi.advanceTimersByTimeAsync(500);
  expect(isCurrent(pool)).toBe(false);
  expect(minSlots.length).toBeLessThanOrEqual(11);
  expect(new Set(minSlots)).toEqual(new Set([13n]));
  await vi.advanceTimersByTimeAsync(600);
});

test("who waits for a write waits for those that land meanwhile as well, for a second in all", async () => {
  source.noteWritten([pool], 12n);
  let isOver = false;
  const wait = source.catchUp([pool, vault])!.then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(10);
  // Both arrive between two reads, and another trade lands.
  notice(pool, 12, 2);
  source.noteWritten([pool, vault], 13n);
  await vi.advanceTimersByTimeAsync(200);
  expect(isOver).toBe(false);
  notice(pool, 13, 3);
  notice(vault, 13, 3);
  await vi.advanceTimersByTimeAsync(60);
  await wait;
  expect([pool, vault].map(isCurrent)).toEqual([true, true]);

  for (let slot = 14; slot < 40; slot++) {
    source.noteWritten([pool], BigInt(slot));
    if (slot === 14) {
      isOver = false;
      void source.catchUp([pool])!.then(() => {
        isOver = true;
      });
    } else if (slot < 30) expect([slot, isOver]).toEqual([slot, false]);
    notice(pool, slot - 1, slot);
    await vi.advanceTimersByTimeAsync(60);
  }
  expect(isOver).toBe(true);
});

test("a write that the state holds already, or that the stream has passed without a change, is not awaited", async () => {
  notice(pool, 12, 3);
  const { setbacks } = source;
  source.noteWritten([pool], 12n);
  expect([isCurrent(pool), source.setbacks]).toEqual([true, setbacks]);
  subscriptions.slot(10n);
  subscriptions.slot(11n);
  subscriptions.slot(12n);
  await source.refresh([vault]);
  subscriptions.slot(13n);
  await vi.advanceTimersByTimeAsync(200);
  minSlots = [];
  // A transaction may name an account as written and leave it as it is: nobody reports that.
  source.noteWritten([vault], 12n);
  expect(source.catchUp([vault])).toBeUndefined();
  expect(minSlots).toEqual([]);
  subscriptions.lose();
  expect(isCurrent(vault)).toBe(true);
});

test("a caller waits for a second at most, and a write that no node ever shows is forgotten", async () => {
  source.noteWritten([pool], 12n);
  let isOver = false;
  const wait = source.catchUp([pool])!.then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  await wait;
  expect(isCurrent(pool)).toBe(false);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(isCurrent(pool)).toBe(true);
});

/** A node that shows this value of each account in this slot. */
const nodeThat = (slot: bigint, value: number): AccountReader => ({
  async fetchAccounts(addresses) {
    const fields = { owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(value), executable: false, slot };
    return { slot, accounts: addresses.map((address) => ({ address, ...fields })) };
  },
  fetchProgramAccounts: async () => "refused",
});
const silent: AccountReader = { ...nodeThat(0n, 0), fetchAccounts: () => new Promise(() => {}) };

async function startWith(...readers: readonly AccountReader[]): Promise<void> {
  source.close();
  await start({ witnesses: readers.map((one, i) => ({ name: `node ${i}`, reader: one, setAside: () => {} })) });
  for (const address of [pool, vault]) source.recordOf!(address)!.isLasting = address === pool;
  source.noteWritten([pool, vault], 12n);
  node = { slot: 12n, value: 9 };
}

test("with several nodes, a market that is streamed waits for the stream: one node's word does not change it", async () => {
  await startWith(nodeThat(12n, 9), nodeThat(12n, 8), silent);
  const wait = source.catchUp([pool, vault]);
  await vi.advanceTimersByTimeAsync(60);
  // A wallet's account, as the other one stands for, is read.
  expect([pool, vault].map(isCurrent)).toEqual([false, true]);
  expect(values.get(pool)).toBe(1);
  notice(pool, 12, 3);
  await vi.advanceTimersByTimeAsync(110);
  await wait;
  expect([values.get(pool), isCurrent(pool)]).toEqual([3, true]);
});

test("what most nodes agree on ends the wait, as of the oldest slot that they name", async () => {
  await startWith(nodeThat(12n, 8), silent, nodeThat(14n, 9), nodeThat(13n, 9), nodeThat(15n, 9));
  const wait = source.catchUp([pool]);
  await vi.advanceTimersByTimeAsync(60);
  expect([values.get(pool), isCurrent(pool)]).toEqual([9, true]);
  await wait;
  notice(pool, 13, 5);
  expect(values.get(pool)).toBe(5);
});

test("a node that does not answer keeps nobody waiting: not longer than a second, nor once a notice has come", async () => {
  source.close();
  await start();
  const { fetchAccounts } = reader;
  try {
    reader.fetchAccounts = () => new Promise(() => {});
    source.noteWritten([pool, vault], 12n);
    const ended: string[] = [];
    const note = (name: string) => () => ended.push(name);
    void source.catchUp([pool])!.then(note("pool"));
    void source.catchUp([vault])!.then(note("vault"));
    await vi.advanceTimersByTimeAsync(200);
    expect(ended).toEqual([]);
    notice(pool, 12, 3);
    await vi.advanceTimersByTimeAsync(100);
    expect(ended).toEqual(["pool"]);
    await vi.advanceTimersByTimeAsync(900);
    expect(ended).toEqual(["pool", "vault"]);
  } finally {
    reader.fetchAccounts = fetchAccounts;
  }
});

test("an account that is followed only after the write is not current before its state from after it has been read", async () => {
  source.noteWritten([other], 12n);
  await source.follow([other]);
  expect(isCurrent(other)).toBe(false);
  node = { slot: 12n, value: 7 };
  const wait = source.catchUp([other]);
  await vi.advanceTimersByTimeAsync(60);
  await wait;
  expect([values.get(other), isCurrent(other)]).toEqual([7, true]);
});

test("a write that the state has held is awaited again if the account is read anew from a node that is behind", async () => {
  notice(pool, 12, 3);
  source.noteWritten([pool], 12n);
  expect(isCurrent(pool)).toBe(true);
  source.unfollow([pool]);
  await source.follow([pool]);
  expect([values.get(pool), isCurrent(pool)]).toEqual([1, false]);
  await vi.advanceTimersByTimeAsync(10_000);
  await source.refresh([pool]);
  expect(isCurrent(pool)).toBe(true);
});

test.each([false, true])(
  "an account that is followed anew while it is read is read for those who wait for it now; written again: %s",
  async (isWrittenAgain) => {
    source.noteWritten([pool], 12n);
    void source.catchUp([pool]);
    await vi.advanceTimersByTimeAsync(60);
    source.unfollow([pool]);
    await source.follow([pool]);
    if (isWrittenAgain) source.noteWritten([pool], 13n);
    await vi.advanceTimersByTimeAsync(110);
    node = { slot: 13n, value: 7 };
    const wait = source.catchUp([pool]);
    await vi.advanceTimersByTimeAsync(60);
    await wait;
    expect([values.get(pool), isCurrent(pool)]).toEqual([7, true]);
  },
);

test("a slot far ahead of everything known is not believed", () => {
  source.noteWritten([pool], 10_000n);
  expect(isCurrent(pool)).toBe(true);
});
