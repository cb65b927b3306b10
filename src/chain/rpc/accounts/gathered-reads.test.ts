import { expect, test, vi } from "vitest";
import { Address } from "../../../primitives/address.ts";
import type { Account } from "../../../solana/account.ts";
import type { AccountsAtSlot } from "../../port.ts";
import { NodeError } from "../node-error.ts";
import { GatheredReads } from "./gathered-reads.ts";

const at = (number: number) => Address.from(Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? number : 7)));
const some = (from: number, count: number) => Array.from({ length: count }, (_, i) => at(from + i));
const accountAt = (address: Address) => ({ address }) as Account;

/** Reads with the calls they make. Accounts with an odd last byte do not exist. */
function reads(perCall: number) {
  const calls: (readonly Address[])[] = [];
  const gathered = new GatheredReads(perCall, async (addresses): Promise<AccountsAtSlot> => {
    calls.push(addresses);
    return { slot: 5n, accounts: addresses.map((one) => (one.bytes[31]! % 2 === 0 ? accountAt(one) : null)) };
  });
  return { gathered, calls };
}

test("reads of one turn share a call, and an account that two ask for is read once", async () => {
  const { gathered, calls } = reads(100);
  const [first, second] = await Promise.all([gathered.read(some(0, 3)), gathered.read([at(2), at(9), at(0)])]);
  expect(calls).toEqual([[...some(0, 3), at(9)]]);
  expect(first).toEqual({ slot: 5n, accounts: [accountAt(at(0)), null, accountAt(at(2))] });
  expect(second.accounts).toEqual([accountAt(at(2)), null, accountAt(at(0))]);
});

test("no call carries more than it may, and no read is divided", async () => {
  const { gathered, calls } = reads(10);
  const answers = await Promise.all([0, 20, 40, 60].map((from) => gathered.read(some(from, 6))));
  expect(calls.map(({ length }) => length)).toEqual([6, 6, 6, 6]);
  expect(answers.map(({ accounts }) => accounts.length)).toEqual([6, 6, 6, 6]);
  await Promise.all([gathered.read(some(0, 4)), gathered.read(some(4, 6)), gathered.read(some(0, 10))]);
  expect(calls.slice(4)).toEqual([some(0, 10)]);
});

test("a read that may wait goes along with the next one, and by itself if none comes within 5 ms", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { gathered, calls } = reads(100);
    const patient = gathered.read([at(0)], true);
    const another = gathered.read([at(2)], true);
    await new Promise(setImmediate);
    expect(calls).toEqual([]);
    await gathered.read([at(4)]);
    expect(calls).toEqual([[at(0), at(2), at(4)]]);
    expect((await patient).accounts).toEqual([accountAt(at(0))]);
    expect((await another).accounts).toEqual([accountAt(at(2))]);
    expect(vi.getTimerCount()).toBe(0);
    const alone = gathered.read([at(6)], true);
    vi.advanceTimersByTime(5);
    expect((await alone).accounts).toEqual([accountAt(at(6))]);
    expect(calls).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test("a read of the next turn does not wait for the call of this one", async () => {
  const held = Promise.withResolvers<AccountsAtSlot>();
  let calls = 0;
  const gathered = new GatheredReads(10, () =>
    calls++ === 0 ? held.promise : Promise.resolve({ slot: 1n, accounts: [] }),
  );
  const first = gathered.read([at(0)]);
  await new Promise(setImmediate);
  expect((await gathered.read([at(0)])).accounts).toEqual([null]);
  held.resolve({ slot: 0n, accounts: [accountAt(at(0))] });
  expect((await first).accounts).toEqual([accountAt(at(0))]);
});

test("while many calls are under way, reads of several turns share one, and none waits for those calls", async () => {
  const held = Promise.withResolvers<AccountsAtSlot>();
  const calls: number[] = [];
  const gathered = new GatheredReads(100, (addresses) => {
    calls.push(addresses.length);
    return calls.length <= 12 ? held.promise : Promise.resolve({ slot: 1n, accounts: addresses.map(accountAt) });
  });
  const nextRead = async (number: number) => {
    const read = gathered.read([at(number)]);
    await new Promise(setImmediate);
    return { read };
  };
  for (let number = 0; number < 12; number++) await nextRead(number);
  expect(calls).toHaveLength(12);
  const late = [];
  for (let number = 20; number < 25; number++) late.push((await nextRead(number)).read);
  expect((await Promise.all(late)).map(({ accounts }) => accounts[0])).toEqual(some(20, 5).map(accountAt));
  expect(calls.slice(12)).toEqual([5]);
  held.resolve({ slot: 0n, accounts: [] });
  await new Promise(setImmediate);
  await (await nextRead(30)).read;
  await (await nextRead(31)).read;
  expect(calls.slice(13)).toEqual([1, 1]);
});

test("a read that no node answers fails by itself, not those that shared its call", async () => {
  const calls: number[] = [];
  const gathered = new GatheredReads(100, async (addresses) => {
    calls.push(addresses.length);
    if (addresses.includes(at(8))) throw new NodeError("malformed", "too large");
    return { slot: 1n, accounts: addresses.map(accountAt) };
  });
  const ends = await Promise.allSettled([
    gathered.read(some(0, 2)),
    gathered.read([at(8), at(0)]),
    gathered.read([at(1)]),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(calls).toEqual([3, 2, 2, 1]);
});

test("an outage fails the reads that share a call, without calls of their own", async () => {
  let calls = 0;
  const gathered = new GatheredReads(100, async () => {
    calls += 1;
    throw new NodeError("unreachable", "no answer");
  });
  const ends = await Promise.allSettled([gathered.read([at(0)]), gathered.read([at(1)])]);
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(calls).toBe(1);
});
