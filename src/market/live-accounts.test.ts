import { beforeEach, expect, test } from "vitest";
import { type FakeState, fakeState } from "../../test/support/fake-state.ts";
import type { FollowedRecord, StateSource } from "../chain/port.ts";
import { Address } from "../primitives/address.ts";
import { type AccountHolder, LiveAccounts } from "./live-accounts.ts";

const [a, b] = [1, 2].map((fill) => Address.from(new Uint8Array(32).fill(fill))) as [Address, Address];
let state: FakeState;
let live: LiveAccounts;
let changes: Address[];
let holder: AccountHolder;

beforeEach(() => {
  state = fakeState(() => 0);
  live = new LiveAccounts(state);
  changes = [];
  holder = { onChange: (address) => changes.push(address) };
});

test("a held account is undefined until it is read, and null if it does not exist", async () => {
  state.set(a, Uint8Array.of(1));
  const holding = live.hold(holder, [a, b]);
  expect(live.get(a)).toBeUndefined();
  await holding;
  expect(live.get(a)?.data).toEqual(Uint8Array.of(1));
  expect(live.get(b)).toBe(null);
});

test("the object stays the same until the content changes, and only changes are reported", async () => {
  state.set(a, Uint8Array.of(1));
  await live.hold(holder, [a]);
  const before = live.get(a);
  changes.length = 0;
  state.set(a, Uint8Array.of(1));
  expect(live.get(a)).toBe(before);
  expect(changes).toEqual([]);
  state.set(a, Uint8Array.of(2));
  expect(live.get(a)).not.toBe(before);
  expect(changes).toEqual([a]);
});

test("the last report counts, also when it falls back to what was before, or to nothing known", async () => {
  state.set(a, Uint8Array.of(1));
  await live.hold(holder, [a]);
  state.deliver(a, Uint8Array.of(9), state.slot - 1n);
  expect(live.get(a)?.data).toEqual(Uint8Array.of(9));
  state.forget(a);
  expect(live.get(a)).toBeUndefined();
  await live.hold(holder, [a]);
  expect(live.get(a)?.data).toEqual(Uint8Array.of(1));
});

test("accounts are followed once for all holders, until the last lets go", async () => {
  const other: AccountHolder = { onChange() {} };
  await Promise.all([live.hold(holder, [a, b]), live.hold(other, [a])]);
  expect(state.follows).toBe(1);
  live.release(holder, [a, b]);
  expect([...state.followed]).toEqual([a]);
  live.release(other, [a]);
  expect(state.followed.size).toBe(0);
  expect(live.size()).toBe(0);
  expect(live.get(a)).toBeUndefined();
});

test("everyone who waits for a first read sees it fail", async () => {
  state.broken = true;
  const outcomes = await Promise.allSettled([live.hold(holder, [a]), live.hold({ onChange() {} }, [a])]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  state.broken = false;
  state.set(a, Uint8Array.of(3));
  expect(live.get(a)?.data).toEqual(Uint8Array.of(3));
});

test("a change that names its record reaches those who hold it, and nobody who followed the account later", async () => {
  let record: FollowedRecord = { address: a, kept: undefined, isLasting: false };
  let report!: Parameters<StateSource["onAccount"]>[0];
  live = new LiveAccounts({
    ...state,
    recordOf: () => record,
    onAccount(listener) {
      report = listener;
      state.onAccount(listener);
    },
  });
  state.set(a, Uint8Array.of(1));
  await live.hold(holder, [a]);
  const changed = (value: number) => ({ ...live.get(a)!, data: Uint8Array.of(value) });
  const second = changed(2);
  report(a, second, 200n, record);
  expect(live.get(a)).toBe(second);
  live.release(holder, [a]);
  const released = record;
  record = { address: a, kept: undefined, isLasting: false };
  await live.hold(holder, [a]);
  const [before, late] = [live.get(a), changed(3)];
  changes.length = 0;
  report(a, late, 201n, released);
  expect([live.get(a), changes]).toEqual([before, []]);
  report(a, late, 202n, record);
  expect([live.get(a), changes]).toEqual([late, [a]]);
});

test("an account is expected to stay for as long as a holder expects it", async () => {
  const record: FollowedRecord = { address: a, kept: undefined, isLasting: false };
  live = new LiveAccounts({ ...state, recordOf: () => record });
  const market: AccountHolder = { isLasting: true, onChange() {} };
  const steps: (() => unknown)[] = [
    () => live.hold(holder, [a]),
    () => live.hold(market, [a]),
    () => live.release(holder, [a]),
    () => live.hold(holder, [a]),
    () => live.release(market, [a]),
  ];
  const expected: boolean[] = [];
  for (const step of steps) {
    await step();
    expected.push(record.isLasting);
  }
  expect(expected).toEqual([false, true, true, true, false]);
});

test("each of any number of holders sees every change while it holds the account, and once", async () => {
  const seen: number[] = [];
  let content = 0;
  const holders = Array.from({ length: 7 }, (_, i): AccountHolder => ({ onChange: () => void seen.push(i) }));
  const changed = () => {
    seen.length = 0;
    state.set(a, Uint8Array.of(++content));
    return seen.toSorted();
  };
  for (const [i, one] of holders.entries()) {
    await live.hold(one, [a]);
    await live.hold(one, [a]);
    expect(changed()).toEqual(holders.slice(0, i + 1).map((_, at) => at));
  }
  for (const [i, one] of holders.entries()) {
    live.release(one, [a]);
    live.release(one, [a]);
    expect(changed()).toEqual(i === 6 ? [] : holders.map((_, at) => at).slice(i + 1));
  }
  expect(live.size()).toBe(0);
});
