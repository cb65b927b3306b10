import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeSubscriptions, fakeSubscriptions } from "../../../../test/support/fake-chain.ts";
import { fakeFeed } from "../../../../test/support/fake-feed.ts";
import { Address } from "../../../primitives/address.ts";
import type { Account } from "../../../solana/account.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import type { AccountReader } from "../../port.ts";
import type { FeedListener } from "../account-feed.ts";
import { createRpcStateSource } from "../rpc-state-source.ts";
import { createStateSource, type LiveStateSource } from "../state-source.ts";
import { isGone } from "./gone-account.ts";

const key = Address.from(new Uint8Array(32).fill(3));
const OPEN = { owner: TOKEN_PROGRAM, bytes: 165 };
const lies = [
  ["closed", null],
  ["another program's", { owner: SYSTEM_PROGRAM, bytes: 165 }],
  ["cut short", { owner: TOKEN_PROGRAM, bytes: 164 }],
  ["a megabyte", { owner: TOKEN_PROGRAM, bytes: 1024 * 1024 }],
] as const;
type State = { readonly owner: Address; readonly bytes: number } | null;

let slot: bigint;
let states: State[];
/** What reads that any node may answer get. */
let read: State;
let subscriptions: FakeSubscriptions;
let source: LiveStateSource;
let known: Account | null | undefined;
let delivered: number;

const accountOf = (address: Address, state: State): Account | null =>
  state === null
    ? null
    : { address, owner: state.owner, lamports: 1n, data: new Uint8Array(state.bytes), executable: false, slot };
const readerOf = (state: () => State): AccountReader => ({
  fetchAccounts: async (addresses) => ({ slot, accounts: addresses.map((address) => accountOf(address, state())) }),
  fetchProgramAccounts: async () => "refused",
});

beforeEach(async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  slot = 100n;
  states = [OPEN, OPEN, OPEN];
  read = OPEN;
  subscriptions = fakeSubscriptions();
  const nodes = states.map((_, node) => ({ name: `node ${node}`, reader: readerOf(() => states[node]!) }));
  source = createRpcStateSource({
    reader: readerOf(() => read),
    subscriptions,
    commitment: "processed",
    now: Date.now,
    warn: () => {},
    witnesses: nodes.map((node) => ({ ...node, setAside: () => {} })),
    headSlot: () => slot,
  });
  delivered = 0;
  source.onAccount((_, account) => {
    known = account;
    delivered += 1;
  });
  subscriptions.slot(slot);
  await source.follow([key]);
  source.recordOf!(key)!.isLasting = true;
  subscriptions.activate();
  await pass(3);
  delivered = 0;
});
afterEach(() => {
  source.close();
  vi.useRealTimers();
});

async function pass(slots: number): Promise<void> {
  for (let i = 0; i < slots; i++) {
    slot += 1n;
    subscriptions.slot(slot);
    source.use([key]);
    await vi.advanceTimersByTimeAsync(400);
  }
}

function notice(state: State): void {
  const account = accountOf(key, state);
  const data = [Buffer.from(account?.data ?? []).toString("base64"), "base64"];
  const owner = (account?.owner ?? SYSTEM_PROGRAM).toString();
  const value = { lamports: account === null ? 0 : 1, owner, data, executable: false };
  subscriptions.notify("account", key.toString(), { context: { slot: Number(slot) }, value });
}

test.each(lies)("an account that the stream alone says is %s stays as it was", async (_, lie) => {
  for (let i = 0; i < 10; i++) {
    notice(lie);
    await pass(2);
    expect(source.contested().size).toBe(0);
    expect(Date.now() - source.currentAtMs(key)).toBeLessThan(1_000);
  }
  expect(delivered).toBe(0);
});

test.each(lies)("an account that one of three nodes says is %s, in reads too, stays as it was", async (_, lie) => {
  states[0] = lie;
  for (let i = 0; i < 10; i++) {
    // The stream no longer suffices: what is known has to be read.
    subscriptions.lose();
    read = i % 2 === 0 ? lie : OPEN;
    await pass(1);
    expect(Date.now() - source.currentAtMs(key)).toBeLessThan(2_000);
  }
  expect(delivered).toBe(0);
});

/** The stream and most nodes say that the account is this, and it is within half a second. */
async function becomes(truth: State): Promise<void> {
  notice(truth);
  states = [truth, truth, OPEN];
  read = truth;
  await vi.advanceTimersByTimeAsync(500);
  expect(known?.owner).toBe(truth?.owner);
  expect(known?.data.length).toBe(truth?.bytes);
}

test.each(lies)("an account that most nodes say is %s is that within half a second", async (_, truth) => {
  await becomes(truth);
  expect(source.contested().size).toBe(0);
});

test.each(lies)(
  "an account that no trade uses, and most nodes say is %s, is that as soon, and current",
  async (_, truth) => {
    for (let i = 0; i < 30; i++) {
      slot += 1n;
      subscriptions.slot(slot);
      await vi.advanceTimersByTimeAsync(400);
    }
    await becomes(truth);
    expect(Date.now() - source.currentAtMs(key)).toBeLessThan(1_000);
  },
);

test.each(lies)("a wallet's account that the stream says is %s is that at once", async (_, state) => {
  source.recordOf!(key)!.isLasting = false;
  notice(state);
  expect(known?.owner).toBe(state?.owner);
  expect(known?.data.length).toBe(state?.bytes);
});

test("an account that the stream alone says is gone is not streamed again by a change from before that, which comes late", async () => {
  let listener!: FeedListener;
  const feed = fakeFeed({
    reportsEveryChange: true,
    listen(received) {
      listener = received;
    },
    follow: (addresses) => listener.onCovered(addresses, 100n),
  });
  const reader = readerOf(() => OPEN);
  const witnesses = ["one", "two"].map((name) => ({ name, reader, setAside: () => {} }));
  const streamed = createStateSource({ reader, feed, witnesses, now: Date.now, warn: () => {} });
  const report = (order: number, state: State) =>
    listener.onAccount({ address: key, account: accountOf(key, state), slot, epoch: 1, order });
  listener.onSlot(100n, 99n);
  await streamed.follow([key]);
  streamed.recordOf!(key)!.isLasting = true;
  slot = 101n;
  listener.onSlot(slot, 100n);
  report(2, null);
  report(1, { ...OPEN, bytes: 166 });
  expect(streamed.counts().streamed).toBe(0);
  slot = 102n;
  listener.onSlot(slot, 101n);
  report(3, OPEN);
  expect(streamed.counts().streamed).toBe(1);
  streamed.close();
});

test("an account that is new, or grows as an instruction can make it, is not gone", () => {
  const account = accountOf(key, OPEN)!;
  expect(isGone(undefined, null)).toBe(false);
  expect(isGone(null, account)).toBe(false);
  expect(isGone(account, { ...account, data: new Uint8Array(165 + 10_240) })).toBe(false);
});
