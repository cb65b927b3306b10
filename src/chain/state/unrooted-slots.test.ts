import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fakeFeed } from "../../../test/support/fake-feed.ts";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { FeedListener } from "./account-feed.ts";
import { createStateSource } from "./state-source.ts";

const DATA_BYTES = 64 * 1024;
const MOST_BYTES = 512 * 1024 * 1024;
/** Shared by all accounts, so that the test itself takes no memory. */
const data = new Uint8Array(DATA_BYTES);
const addresses = Array.from({ length: 250 }, (_, i) => Address.from(new Uint8Array(32).fill(i + 1)));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Follows accounts by a stream that says anything. */
async function start({ isOnlyStream = false } = {}) {
  let listener!: FeedListener;
  let slot = 1_000n;
  let order = 0;
  const warnings: string[] = [];
  const known = new Map<Address, Account | null | undefined>();
  const world = { doubts: 0, reads: 0 };
  const accountOf = (address: Address, lamports: bigint, at: bigint): Account => ({
    ...{ address, owner: SYSTEM_PROGRAM, lamports, data, executable: false, slot: at },
  });
  const source = createStateSource({
    feed: fakeFeed({
      reportsEveryChange: true,
      listen(received) {
        listener = received;
      },
      follow: (followed) => listener.onCovered(followed, slot - 1n),
      liveAtMs: Date.now,
      liveTimes: () => Date.now,
      leastLiveAtMs: Date.now,
      doubt() {
        world.doubts += 1;
        return !isOnlyStream;
      },
    }),
    reader: {
      async fetchAccounts(asked) {
        world.reads += asked.length;
        return { slot, accounts: asked.map((address) => accountOf(address, slot, slot)) };
      },
      fetchProgramAccounts: async () => "refused",
    },
    now: Date.now,
    warn: (message) => void warnings.push(message),
    headSlot: () => slot,
  });
  source.onAccount((address, account) => void known.set(address, account));
  /** The next slot begins, and so many accounts change in it. */
  const next = (changes: number, root?: bigint) => {
    slot += 1n;
    listener.onSlot(slot, slot - 1n);
    if (root !== undefined) listener.onRoot(root);
    for (const address of addresses.slice(0, changes)) change(address, slot, slot);
  };
  const change = (address: Address, at: bigint, lamports: bigint) => {
    order += 1;
    listener.onAccount({ address, account: accountOf(address, lamports, at), slot: at, epoch: 1, order });
  };
  next(0);
  const following = source.follow(addresses);
  await vi.advanceTimersByTimeAsync(50);
  await following;
  expect(source.counts().streamed).toBe(addresses.length);
  return Object.assign(world, { source, warnings, known, next, change, slot: () => slot });
}

test("what slots without a root hold is dropped in time, also of accounts that change no more", async () => {
  const { source, next } = await start();
  for (let i = 0; i < 3; i++) next(1);
  expect(source.spareVersions()).toBe(3);
  for (let i = 0; i < 1_100; i++) next(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(source.spareVersions()).toBe(0);
  source.close();
});

test("a chain that goes on for long without a root makes versions take 512 MiB at most, and the stream is believed", async () => {
  const world = await start();
  const { source, warnings, known, next, slot } = world;
  let most = 0;
  for (let i = 0; i < 100; i++) {
    next(addresses.length);
    await vi.advanceTimersByTimeAsync(100);
    most = Math.max(most, source.spareVersions());
  }
  expect(most * DATA_BYTES).toBeLessThanOrEqual(MOST_BYTES);
  expect(most).toBeGreaterThanOrEqual(addresses.length);
  expect(new Set([...known.values()].map((account) => account?.lamports))).toEqual(new Set([slot()]));
  expect(source.counts().streamed).toBe(addresses.length);
  expect([world.doubts, warnings]).toEqual([0, []]);
  source.close();
});

test("versions that begin as those of the slot before count as what they are in the end", async () => {
  const { source, next, change, slot } = await start();
  let most = 0;
  for (let i = 0; i < 100; i++) {
    next(0);
    for (const address of addresses) for (const lamports of [slot() - 1n, slot()]) change(address, slot(), lamports);
    await vi.advanceTimersByTimeAsync(100);
    most = Math.max(most, source.spareVersions());
  }
  expect(most * DATA_BYTES).toBeLessThanOrEqual(MOST_BYTES);
  expect(most).toBeGreaterThanOrEqual(addresses.length);
  source.close();
});

test.each([true, false])(
  "a stream that floods slots yet to come is left, and accounts are read (the only stream: %s)",
  async (isOnlyStream) => {
    const world = await start({ isOnlyStream });
    const { source, warnings, known, next, change, slot } = world;
    for (let ahead = 1n; ahead < 60n; ahead++) for (const address of addresses) change(address, slot() + ahead, ahead);
    expect(source.spareVersions() * DATA_BYTES).toBeLessThanOrEqual(MOST_BYTES);
    expect(source.counts().streamed).toBe(0);
    expect(world.doubts).toBe(1);
    expect(warnings[0]).toMatch(/more changes of accounts than a chain makes/);
    const before = world.reads;
    next(addresses.length, slot() - 32n);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(world.reads).toBeGreaterThan(before);
    // Honest again: the stream counts once what it has left out was read.
    for (let i = 0; i < 110; i++) {
      next(addresses.length, slot() - 32n);
      await vi.advanceTimersByTimeAsync(400);
    }
    expect(source.counts().streamed).toBe(addresses.length);
    expect(new Set([...known.values()].map((account) => account?.lamports))).toEqual(new Set([slot()]));
    source.close();
  },
);

test("changes of slots that are rooted already are kept no longer than their turn", async () => {
  const { source, known, next, change, slot } = await start();
  for (let i = 0; i < 200; i++) next(0, slot() - 32n);
  const newest = slot() - 40n;
  for (let at = newest - 100n; at <= newest; at++) for (const address of addresses) change(address, at, at);
  expect(source.spareVersions()).toBe(0);
  expect(new Set([...known.values()].map((account) => account?.lamports))).toEqual(new Set([newest]));
  source.close();
});
