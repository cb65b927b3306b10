import { afterEach, expect, test, vi } from "vitest";
import { fakeFeed } from "../../../../test/support/fake-feed.ts";
import { Address } from "../../../primitives/address.ts";
import type { Account } from "../../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import { NodeError } from "../../rpc/node-error.ts";
import type { FeedListener } from "../account-feed.ts";
import { createStateSource } from "../state-source.ts";

const addressAt = (n: number) => {
  const bytes = new Uint8Array(32).fill(1);
  new DataView(bytes.buffer).setUint32(0, n);
  return Address.from(bytes);
};
const SLOT = 100n;
const accountOf = (address: Address): Account => ({
  ...{ address, owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(1), executable: false, slot: SLOT },
});
const feed = fakeFeed();

let source: ReturnType<typeof createStateSource>;
afterEach(() => {
  source.close();
  vi.useRealTimers();
});

/** A source whose nodes cannot answer for some accounts. */
function following(isTooLarge: (address: Address) => boolean, isUncertain = false) {
  const calls: number[] = [];
  const clock = { nowMs: 0 };
  const known = new Set<Address>();
  source = createStateSource({
    ...{ feed, now: () => clock.nowMs, warn: () => {}, pollMs: 1e9, auditMs: 1e9 },
    reader: {
      async fetchAccounts(addresses) {
        calls.push(addresses.length);
        if (addresses.some(isTooLarge)) throw Object.assign(new NodeError("oversized", "too large"), { isUncertain });
        return { slot: SLOT, accounts: addresses.map(accountOf) };
      },
      fetchProgramAccounts: async () => "refused",
    },
  });
  source.onAccount((address) => void known.add(address));
  return { calls, clock, known };
}

const addresses = Array.from({ length: 100 }, (_, n) => addressAt(n));
const large = addresses[37]!;

test("an account of megabytes keeps no other of its call from being read, and is left out for a while", async () => {
  const { calls, clock, known } = following((address) => address === large);
  await expect(source.follow(addresses)).rejects.toMatchObject({ kind: "oversized" });
  expect(known.size).toBe(99);
  expect(known.has(large)).toBe(false);
  expect(calls.length).toBeLessThanOrEqual(1 + 2 * 7);
  calls.length = 0;
  await expect(source.follow([large])).rejects.toMatchObject({ kind: "oversized" });
  expect(calls).toEqual([]);
  clock.nowMs = 60_001;
  await expect(source.follow([large])).rejects.toMatchObject({ kind: "oversized" });
  expect(calls).toEqual([1]);
});

test("an account that is left out does not hide in the log that nodes fail", async () => {
  vi.useFakeTimers();
  const warnings: string[] = [];
  let isDown = false;
  source = createStateSource({
    ...{ feed, now: Date.now, warn: (message) => void warnings.push(message), pollMs: 1_000, auditMs: 1e9 },
    reader: {
      async fetchAccounts(asked) {
        if (isDown) throw new NodeError("unreachable", "no answer");
        if (asked.includes(large)) throw new NodeError("oversized", "too large");
        return { slot: SLOT, accounts: asked.map(accountOf) };
      },
      fetchProgramAccounts: async () => "refused",
    },
  });
  await expect(source.follow(addresses)).rejects.toMatchObject({ kind: "oversized" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(warnings).toHaveLength(1);
  for (const outage of [1, 2]) {
    isDown = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(warnings).toHaveLength(1 + outage);
    isDown = false;
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(warnings).toHaveLength(3);
});

test("an account that is left out has no other read more often", async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const many = Array.from({ length: 1_000 }, (_, n) => addressAt(n));
  const readsOfOthers = async (isTooLarge: (address: Address) => boolean) => {
    let listener: FeedListener | undefined;
    let slot = SLOT;
    let reads = 0;
    source = createStateSource({
      feed: fakeFeed({
        listen: (to) => {
          listener = to;
        },
        ...{ liveAtMs: Date.now, leastLiveAtMs: Date.now, liveTimes: () => Date.now },
      }),
      ...{ now: Date.now, warn: () => {}, pollMs: 400, refreshMs: 10_000, auditMs: 1e9 },
      reader: {
        async fetchAccounts(asked) {
          if (asked.some(isTooLarge)) throw new NodeError("oversized", "too large");
          reads += asked.length;
          return { slot, accounts: asked.map(accountOf).map((account) => ({ ...account, slot })) };
        },
        fetchProgramAccounts: async () => "refused",
      },
    });
    const begin = () => listener!.onSlot(++slot, slot - 1n);
    begin();
    const following = source.follow(many).catch(() => {});
    listener!.onCovered(many, slot);
    begin();
    const slots = setInterval(begin, 100);
    await vi.advanceTimersByTimeAsync(5_000);
    await following;
    expect(source.counts().streamed).toBe(many.filter((address) => !isTooLarge(address)).length);
    reads = 0;
    await vi.advanceTimersByTimeAsync(50_000);
    clearInterval(slots);
    source.close();
    return reads;
  };
  const usual = await readsOfOthers(() => false);
  expect(usual).toBeGreaterThanOrEqual(4 * many.length);
  expect(await readsOfOthers((address) => address === large)).toBeLessThanOrEqual(usual);
});

test("nodes to which every account is too large are asked a bounded number of times", async () => {
  const { calls } = following(() => true);
  await expect(source.follow(Array.from({ length: 1_000 }, (_, n) => addressAt(n)))).rejects.toThrow();
  expect(calls.length).toBeLessThan(400);
});

test("one node's word divides no call, and is not remembered", async () => {
  const { calls, known } = following((address) => address === large, true);
  await expect(source.follow(addresses)).rejects.toThrow();
  expect(calls).toEqual([100]);
  expect(known.size).toBe(0);
});
