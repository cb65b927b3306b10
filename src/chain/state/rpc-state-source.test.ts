import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeSubscriptions, fakeSubscriptions } from "../../../test/support/fake-chain.ts";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { AccountReader } from "../port.ts";
import { createRpcStateSource } from "./rpc-state-source.ts";
import type { LiveStateSource } from "./state-source.ts";

const key = Address.from(new Uint8Array(32).fill(3));
let nodeSlot: bigint;
let nodeValue: number | null;
let reads: number;
/** Set to hold back a read's answer. */
let gate: Promise<void> | undefined;
let broken: boolean;
let subscriptions: FakeSubscriptions;
let source: LiveStateSource;
let received: { value: number | null | "unknown"; slot: bigint }[];

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

const open = (changes: Partial<Parameters<typeof createRpcStateSource>[0]> = {}) =>
  createRpcStateSource({
    reader,
    subscriptions,
    now: Date.now,
    warn: () => {},
    commitment: "processed",
    auditMs: 60_000,
    ...changes,
  });

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
  received = [];
  subscriptions = fakeSubscriptions();
  source = open();
  source.onAccount((_, account, slot) =>
    received.push({ value: account === undefined ? "unknown" : (account?.data[0] ?? null), slot }),
  );
});
afterEach(() => {
  source.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test("the first state is read, then changes come by subscription", async () => {
  await source.follow([key]);
  expect(received).toEqual([{ value: 1, slot: 10n }]);
  subscriptions.slot(10n);
  subscriptions.activate();
  notice(11, 2);
  notice(12, null);
  expect(received.slice(1)).toEqual([
    { value: 2, slot: 11n },
    { value: null, slot: 12n },
  ]);
});

test("neither a late notice nor a lagging read brings old state back", async () => {
  await source.follow([key]);
  subscriptions.slot(20n);
  subscriptions.activate();
  notice(20, 5);
  notice(19, 4);
  await source.refresh([key]);
  expect(reads).toBe(2);
  expect(received.at(-1)).toEqual({ value: 5, slot: 20n });
});

test("a read in flight when a notice of the same slot arrives does not undo it", async () => {
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
  expect(received.at(-1)).toEqual({ value: 8, slot: 11n });
});

test("of a stream that has named no credible slot yet, no change counts that is far ahead of the nodes", async () => {
  source.close();
  source = open({ headSlot: () => nodeSlot });
  source.onAccount((_, account, slot) => received.push({ value: account?.data[0] ?? null, slot }));
  await source.follow([key]);
  subscriptions.slot(10_000n);
  subscriptions.activate();
  notice(10_000, 7);
  nodeSlot = 11n;
  nodeValue = 2;
  await vi.advanceTimersByTimeAsync(400);
  expect(received).toEqual([
    { value: 1, slot: 10n },
    { value: 2, slot: 11n },
  ]);
  // As it goes on truthfully, it counts.
  subscriptions.slot(12n);
  subscriptions.activate();
  notice(12, 3);
  expect(received.at(-1)).toEqual({ value: 3, slot: 12n });
});

test("a subscribed account stays current with the slots once it was read at or after the subscription's start", async () => {
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

test("while the slots are silent, subscribed accounts are read too", async () => {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  subscriptions.slot(11n);
  nodeSlot = 16n;
  nodeValue = 3;
  await vi.advanceTimersByTimeAsync(1_400);
  expect(received.at(-1)).toEqual({ value: 3, slot: 16n });
  expect(source.currentAtMs(key)).toBe(1_001_600);
});

test("a lost subscription leaves the account current up to the last slot received, and polling takes over", async () => {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  // Later than the last read.
  vi.setSystemTime(Date.now() + 100);
  subscriptions.slot(11n);
  broken = true;
  subscriptions.lose();
  await vi.advanceTimersByTimeAsync(3_000);
  subscriptions.slot(12n);
  expect(source.currentAtMs(key)).toBe(1_000_500);
  broken = false;
  nodeSlot = 12n;
  nodeValue = 9;
  await vi.advanceTimersByTimeAsync(400);
  expect(received.at(-1)).toEqual({ value: 9, slot: 12n });
  expect(source.currentAtMs(key)).toBe(1_003_700);
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

test("even a subscribed account is re-read now and then", async () => {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  nodeSlot = 60n;
  nodeValue = 44;
  await vi.advanceTimersByTimeAsync(10_400);
  expect(received.at(-1)).toEqual({ value: 44, slot: 60n });
});

test("a failed first read is reported, and repeated later", async () => {
  broken = true;
  await expect(source.follow([key])).rejects.toThrow("down");
  broken = false;
  await vi.advanceTimersByTimeAsync(400);
  expect(received).toEqual([{ value: 1, slot: 10n }]);
});

test("an unfollowed account is neither subscribed to nor read", async () => {
  await source.follow([key]);
  source.unfollow([key]);
  expect(subscriptions.count()).toBe(0);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reads).toBe(1);
});

/** Followed, subscribed to from slot 10 and read after that: streamed. */
async function stream(): Promise<void> {
  await source.follow([key]);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  subscriptions.slot(11n);
  expect(source.counts()).toMatchObject({ accounts: 1, streamed: 1 });
}

test("when the chain turns to another branch, the account has its state there at once", async () => {
  await stream();
  notice(11, 2);
  subscriptions.slot(12n);
  notice(12, 3);
  expect(received.at(-1)?.value).toBe(3);
  const before = reads;
  subscriptions.slot(13n, 11n);
  expect(received.at(-1)).toEqual({ value: 2, slot: 11n });
  notice(13, 4);
  // And back, when the first branch wins after all.
  subscriptions.slot(14n, 12n);
  expect(received.at(-1)).toEqual({ value: 3, slot: 12n });
  expect(reads).toBe(before);
  expect(source.counts()).toMatchObject({ forks: 2, gaps: 0 });
});

test("a late notice from an abandoned branch is not delivered", async () => {
  await stream();
  subscriptions.slot(12n);
  subscriptions.slot(13n, 11n);
  notice(12, 9);
  expect(received.at(-1)?.value).toBe(1);
  subscriptions.slot(14n, 12n);
  expect(received.at(-1)).toEqual({ value: 9, slot: 12n });
});

test("an account known only from a dropped slot is unknown and not current until read again", async () => {
  subscriptions.slot(10n);
  subscriptions.slot(11n);
  nodeSlot = 11n;
  await source.follow([key]);
  subscriptions.slot(12n, 10n);
  expect(received.at(-1)?.value).toBe("unknown");
  expect(source.currentAtMs(key)).toBe(0);
  nodeSlot = 12n;
  nodeValue = 6;
  await vi.advanceTimersByTimeAsync(400);
  expect(received.at(-1)).toEqual({ value: 6, slot: 12n });
  expect(source.currentAtMs(key)).toBe(1_000_400);
});

test("old versions are dropped once a newer one is rooted", async () => {
  await stream();
  for (let slot = 12; slot < 40; slot++) {
    subscriptions.slot(BigInt(slot), BigInt(slot - 1), 0n);
    notice(slot, slot);
  }
  expect(source.spareVersions()).toBeGreaterThan(20);
  subscriptions.slot(40n, 39n, 39n);
  expect(source.spareVersions()).toBe(0);
  expect(received.at(-1)?.value).toBe(39);
});

test("after a missing slot, followed accounts depend on reads until read", async () => {
  await stream();
  await vi.advanceTimersByTimeAsync(200);
  subscriptions.slot(14n, 13n);
  expect(source.counts()).toMatchObject({ gaps: 1, streamed: 0 });
  nodeSlot = 14n;
  nodeValue = 8;
  await vi.advanceTimersByTimeAsync(400);
  subscriptions.slot(15n);
  expect(received.at(-1)).toEqual({ value: 8, slot: 14n });
  expect(source.counts()).toMatchObject({ gaps: 1, streamed: 1 });
});

test("a read or notice from a slot that cannot exist yet is discarded", async () => {
  await stream();
  nodeSlot = 211n;
  nodeValue = 66;
  await source.refresh([key]);
  notice(212, 77);
  expect(received.at(-1)?.value).toBe(1);
  expect(source.counts().disbelieved).toBe(2);
  notice(12, 2);
  expect(received.at(-1)?.value).toBe(2);
});

test("the audit compares at equal slot, counts a lost notice and heals it", async () => {
  source.close();
  const audited = { auditMs: 1_000, refreshMs: 600_000, quietMs: 60_000 };
  source = open(audited);
  source.onAccount((_, account, slot) => received.push({ value: account?.data[0] ?? null, slot }));
  await stream();
  for (let slot = 12n; slot < 20n; slot++) subscriptions.slot(slot);
  nodeSlot = 19n;
  await vi.advanceTimersByTimeAsync(1_000);
  for (let slot = 20n; slot < 24n; slot++) subscriptions.slot(slot);
  await vi.advanceTimersByTimeAsync(400);
  expect(source.counts()).toMatchObject({ audited: 1, auditDifferences: 0 });
  // A change the stream never reported.
  nodeSlot = 23n;
  nodeValue = 99;
  await vi.advanceTimersByTimeAsync(1_000);
  for (let slot = 24n; slot < 28n; slot++) subscriptions.slot(slot);
  await vi.advanceTimersByTimeAsync(800);
  expect(source.counts()).toMatchObject({ audited: 2, auditDifferences: 1 });
  expect(received.at(-1)).toEqual({ value: 99, slot: 23n });
});

test("a stream far behind the chain is not relied on: its accounts are read, and current only up to that", async () => {
  source.close();
  let headSlot = 11n;
  source = open({ headSlot: () => headSlot });
  source.onAccount((_, account, slot) => received.push({ value: account?.data[0] ?? null, slot }));
  await stream();
  headSlot = 100n;
  nodeSlot = 100n;
  nodeValue = 4;
  await vi.advanceTimersByTimeAsync(400);
  expect(received.at(-1)).toEqual({ value: 4, slot: 100n });
  await vi.advanceTimersByTimeAsync(100);
  subscriptions.slot(12n);
  expect(source.currentAtMs(key)).toBe(1_000_800);
  // Slot 100 is known already: the stream's state up to 99 is older than that.
  for (let slot = 13n; slot < 100n; slot++) subscriptions.slot(slot);
  expect(source.currentAtMs(key)).toBe(1_000_800);
  subscriptions.slot(100n);
  expect(source.currentAtMs(key)).toBe(1_000_900);
});

test("a slot far ahead of everything known is discarded without effect", async () => {
  source.close();
  source = open({ headSlot: () => 11n });
  source.onAccount((_, account, slot) => received.push({ value: account?.data[0] ?? null, slot }));
  await stream();
  subscriptions.slot(211n);
  notice(11, 5);
  expect(received.at(-1)).toEqual({ value: 5, slot: 11n });
  expect(source.counts()).toMatchObject({ streamed: 1, gaps: 0, disbelieved: 1 });
});

/** So many addresses, the first numbered `from`. */
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(32).fill(1);
    new DataView(bytes.buffer).setUint32(0, from + i);
    return Address.from(bytes);
  });

test("accounts that were first read at different times are soon refreshed in one call every ten seconds", async () => {
  const pass = async (seconds: number) => {
    for (let polls = seconds * 2.5; polls > 0; polls--) {
      nodeSlot += 1n;
      subscriptions.slot(nodeSlot);
      await vi.advanceTimersByTimeAsync(400);
    }
  };
  subscriptions.slot(nodeSlot);
  for (let pair = 0; pair < 8; pair++) {
    await source.follow(numbered(10, 10 * pair));
    subscriptions.activate();
    await pass(3);
  }
  await pass(20);
  const [calls, accounts] = [reads, source.counts().reads];
  await pass(100);
  expect(source.counts()).toMatchObject({ accounts: 80, streamed: 80 });
  expect(reads - calls).toBeLessThanOrEqual(12);
  expect(source.counts().reads - accounts).toBeGreaterThanOrEqual(8 * 80);
});

test("many accounts are read in chunks, and their refresh is spread over time", async () => {
  const following = source.follow(numbered(2_000));
  await vi.advanceTimersByTimeAsync(50);
  await following;
  expect(reads).toBe(20);
  subscriptions.slot(10n);
  subscriptions.activate();
  await vi.advanceTimersByTimeAsync(400);
  expect(source.counts()).toMatchObject({ accounts: 2_000, streamed: 2_000 });
  let most = 0;
  for (let poll = 0; poll < 100; poll++) {
    const before = source.counts().reads;
    subscriptions.slot(11n + BigInt(poll));
    nodeSlot = 11n + BigInt(poll);
    await vi.advanceTimersByTimeAsync(400);
    most = Math.max(most, source.counts().reads - before);
  }
  expect(most).toBeLessThanOrEqual(100);
  expect(source.counts().reads).toBeGreaterThan(7_000);
});

test("of answers that come together, a bounded number of accounts is taken in per turn of the loop", async () => {
  let delivered = 0;
  source.onAccount(() => void delivered++);
  const following = source.follow(numbered(1_000));
  for (let turns = 1; turns <= 5; turns++) {
    for (let i = 0; i < 100; i++) await Promise.resolve();
    expect(delivered).toBe(50 * turns);
    vi.advanceTimersToNextTimer();
  }
  await vi.advanceTimersByTimeAsync(50);
  await following;
  expect(delivered).toBe(1_000);
});

test("when the stream falls silent, an unchanged account is current up to the stream's last slot, not just its last read", async () => {
  source.close();
  let headSlot = 11n;
  source = open({ headSlot: () => headSlot });
  await stream();
  for (; headSlot < 40n; ) {
    await vi.advanceTimersByTimeAsync(200);
    headSlot += 1n;
    subscriptions.slot(headSlot);
  }
  const lastHeardMs = Date.now();
  // The node of the stream dies, and reads take long to find another.
  broken = true;
  await vi.advanceTimersByTimeAsync(200);
  headSlot += 1n;
  expect(source.currentAtMs(key)).toBe(lastHeardMs);
  await vi.advanceTimersByTimeAsync(700);
  headSlot += 60n;
  expect(source.currentAtMs(key)).toBe(lastHeardMs);
  broken = false;
  nodeSlot = headSlot;
  nodeValue = 5;
  await vi.advanceTimersByTimeAsync(300);
  expect(source.currentAtMs(key)).toBeGreaterThanOrEqual(lastHeardMs + 900);
});

test("when a gap shows, state is current only up to the slot before it", async () => {
  await stream();
  const lastHeardMs = Date.now();
  await vi.advanceTimersByTimeAsync(900);
  subscriptions.slot(20n, 19n);
  expect(source.currentAtMs(key)).toBe(lastHeardMs);
  nodeSlot = 20n;
  await vi.advanceTimersByTimeAsync(200);
  expect(source.currentAtMs(key)).toBeGreaterThanOrEqual(lastHeardMs + 900);
});

test("a read from a lagging node proves no more than its slot does", async () => {
  subscriptions.slot(10n);
  await vi.advanceTimersByTimeAsync(300);
  subscriptions.slot(11n);
  await vi.advanceTimersByTimeAsync(300);
  subscriptions.slot(12n);
  await vi.advanceTimersByTimeAsync(100);
  nodeSlot = 11n;
  await source.follow([key]);
  expect(source.currentAtMs(key)).toBe(1_000_600);
});

test("accounts that trades are built on are verified, and one lost change makes the whole stream unreliable", async () => {
  await stream();
  const step = async () => {
    await vi.advanceTimersByTimeAsync(200);
    nodeSlot += 1n;
    subscriptions.slot(nodeSlot);
  };
  nodeSlot = 11n;
  for (let i = 0; i < 10; i++) {
    source.use([key]);
    await step();
  }
  expect(source.counts().audited).toBeGreaterThan(0);
  expect(source.counts()).toMatchObject({ streamed: 1, auditDifferences: 0 });
  // A change the stream does not report.
  nodeValue = 77;
  const lostAtMs = Date.now();
  while (received.at(-1)?.value !== 77) {
    source.use([key]);
    await step();
  }
  expect(Date.now() - lostAtMs).toBeLessThanOrEqual(1_400);
  for (let i = 0; i < 6; i++) await step();
  expect(source.counts()).toMatchObject({ streamed: 0, auditDifferences: 1 });
  expect(subscriptions.doubts()).toBe(1);
  for (let i = 0; i < 60; i++) await step();
  expect(source.counts().streamed).toBe(1);
});

test("a stream of slots far behind is doubted", async () => {
  source.close();
  let headSlot = 11n;
  source = open({ headSlot: () => headSlot });
  await stream();
  headSlot = 200n;
  for (let slot = 12n; slot < 32n; slot++) {
    subscriptions.slot(slot);
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(subscriptions.doubts()).toBe(1);
});

test("a stream that names nothing but slots far ahead of the nodes is doubted", async () => {
  source.close();
  source = open({ headSlot: () => nodeSlot });
  await source.follow([key]);
  subscriptions.activate();
  for (let slot = 10_000n; slot < 10_020n; slot++) {
    nodeSlot += 1n;
    subscriptions.slot(slot);
    await vi.advanceTimersByTimeAsync(400);
  }
  expect(source.counts().disbelieved).toBe(20);
  expect(subscriptions.doubts()).toBe(1);
});

test("a read of a slot already reported by the stream is no sign of a loss", async () => {
  await stream();
  notice(11, 2);
  nodeSlot = 11n;
  nodeValue = 2;
  await source.refresh([key]);
  for (let slot = 12n; slot < 20n; slot++) subscriptions.slot(slot);
  await vi.advanceTimersByTimeAsync(400);
  expect(source.counts()).toMatchObject({ streamed: 1, auditDifferences: 0 });
});

test("reads made while the stream was down do not count against its replacement", async () => {
  await stream();
  nodeSlot = 14n;
  nodeValue = 5;
  await source.refresh([key]);
  subscriptions.lose();
  subscriptions.slot(16n, 15n);
  subscriptions.activate();
  nodeSlot = 17n;
  subscriptions.slot(17n);
  await source.refresh([key]);
  for (let slot = 18n; slot < 22n; slot++) subscriptions.slot(slot);
  await vi.advanceTimersByTimeAsync(400);
  expect(source.counts()).toMatchObject({ streamed: 1, auditDifferences: 0 });
});

/** The stream has come to slot 20, when another node's takes its place that is eight slots behind; the account is read from that. */
async function moveBehind(): Promise<void> {
  await stream();
  for (let slot = 13n; slot <= 20n; slot++) subscriptions.slot(slot);
  subscriptions.lose();
  subscriptions.slot(12n);
  subscriptions.activate();
  nodeSlot = 13n;
  nodeValue = 5;
}

test("what a new connection has come to is as old as its slots, though the one before had come further", async () => {
  await moveBehind();
  const other = Address.from(new Uint8Array(32).fill(4));
  const following = source.follow([other]);
  subscriptions.activate();
  await following;
  expect(source.counts().streamed).toBeGreaterThan(0);
  vi.advanceTimersByTime(300);
  subscriptions.slot(13n);
  expect(Date.now() - source.currentAtMs(other)).toBeGreaterThanOrEqual(300);
});

test("a read does not count against a new connection that has yet to come to its slot", async () => {
  await moveBehind();
  subscriptions.slot(13n);
  await source.refresh([key]);
  nodeSlot = 17n;
  nodeValue = 6;
  await source.refresh([key]);
  subscriptions.slot(14n);
  await vi.advanceTimersByTimeAsync(800);
  expect(source.counts()).toMatchObject({ auditDifferences: 0 });
  for (let slot = 15n; slot < 21n; slot++) subscriptions.slot(slot);
  await vi.advanceTimersByTimeAsync(800);
  expect(source.counts()).toMatchObject({ auditDifferences: 1 });
});

test.each([4n, 9n, 30n, 60n])(
  "a read that names a slot %i ahead of what two other nodes have come to makes nothing old",
  async (ahead) => {
    source.close();
    let slot = 100n;
    source = open({ headSlot: () => slot, slotByNodes: () => slot });
    nodeSlot = slot;
    await source.follow([key]);
    const tick = async () => {
      await vi.advanceTimersByTimeAsync(400);
      slot += 1n;
      nodeSlot = slot;
      subscriptions.slot(slot);
    };
    await tick();
    nodeSlot = slot + ahead;
    await source.refresh([key]);
    for (let i = 0; i < 20; i++) {
      await tick();
      expect([i, Date.now() - source.currentAtMs(key) <= 800]).toEqual([i, true]);
    }
  },
);

test.each([12n, 30n, 60n])(
  "a stream that names a slot %i ahead of what two nodes have come to, once or always, is not followed there",
  async (ahead) => {
    source.close();
    let slot = 100n;
    source = open({ headSlot: () => slot, slotByNodes: () => slot });
    nodeSlot = slot;
    await source.follow([key]);
    for (let i = 0; i < 40; i++) {
      await vi.advanceTimersByTimeAsync(400);
      slot += 1n;
      nodeSlot = slot;
      subscriptions.slot(i === 5 || i >= 20 ? slot + ahead : slot);
      expect([i, Date.now() - source.currentAtMs(key) <= 800]).toEqual([i, true]);
    }
  },
);

/** A source whose stream reports the account and slot 100, which is the head. */
async function streamAt100(slotByNodes: () => bigint | undefined): Promise<void> {
  source.close();
  source = open({ headSlot: () => 100n, slotByNodes });
  source.onAccount((_, account, slot) => received.push({ value: account?.data[0] ?? null, slot }));
  nodeSlot = 100n;
  await source.follow([key]);
  subscriptions.slot(100n);
  subscriptions.activate();
  await source.refresh([key]);
}

test("while a stream's slots are discarded, accounts are current up to the first of them, whatever it goes on to report", async () => {
  await streamAt100(() => 100n);
  const atMs = Date.now();
  expect(source.currentAtMs(key)).toBe(atMs);
  for (const slot of [120n, 121n]) {
    subscriptions.slot(slot, slot === 120n ? 100n : 120n);
    notice(Number(slot), 7);
    vi.setSystemTime(Date.now() + 1_000);
  }
  expect(source.currentAtMs(key)).toBe(atMs);
  subscriptions.slot(102n, 100n);
  expect(source.currentAtMs(key)).toBe(atMs);
});

test("an account that does not change is current up to the first slot that is discarded, and again as the stream goes on from before it", async () => {
  await streamAt100(() => 100n);
  const atMs = Date.now();
  for (const slot of [120n, 121n]) {
    vi.setSystemTime(Date.now() + 1_000);
    subscriptions.slot(slot, slot === 120n ? 100n : 120n);
    expect(source.currentAtMs(key)).toBe(atMs + 1_000);
  }
  subscriptions.slot(102n, 100n);
  expect(source.currentAtMs(key)).toBe(atMs + 2_000);
});

test("an account of which a change is discarded depends on reads, though its slot is not", async () => {
  let byNodes: bigint | undefined;
  await streamAt100(() => byNodes);
  const atMs = Date.now();
  vi.setSystemTime(atMs + 1_000);
  subscriptions.slot(120n, 100n);
  byNodes = 100n;
  notice(120, 7);
  byNodes = 120n;
  vi.setSystemTime(atMs + 2_000);
  subscriptions.slot(121n);
  expect(source.currentAtMs(key)).toBe(atMs + 1_000);
  // From before the change.
  nodeSlot = 120n;
  await source.refresh([key]);
  expect(source.currentAtMs(key)).toBe(atMs + 2_000);
  vi.setSystemTime(atMs + 3_000);
  subscriptions.slot(122n);
  expect(source.currentAtMs(key)).toBe(atMs + 2_000);
  nodeSlot = 122n;
  nodeValue = 7;
  await source.refresh([key]);
  expect(source.currentAtMs(key)).toBe(atMs + 3_000);
});

test.each([200n, 2n ** 63n])(
  "an account of which a change is reported in a slot that cannot exist (%i) is read for as long as one that can may take, and the stream doubted",
  async (slot) => {
    await streamAt100(() => undefined);
    let head = 100n;
    const next = async () => {
      head += 1n;
      subscriptions.slot(head);
      nodeSlot = head;
      await vi.advanceTimersByTimeAsync(400);
      expect(Date.now() - source.currentAtMs(key)).toBeLessThanOrEqual(800);
    };
    await next();
    expect(source.counts().streamed).toBe(1);
    subscriptions.notify("account", key.toString(), { context: { slot }, value: null });
    expect(subscriptions.doubts()).toBe(1);
    for (const streamed of [...Array(64).fill(0), 1, 1]) {
      await next();
      expect([head, source.counts().streamed]).toEqual([head, streamed]);
    }
    expect(received.every(({ value }) => value === 1)).toBe(true);
  },
);

test("a notice of a slot on a parent from before the root leaves no account unknown", async () => {
  for (let slot = 100n; slot < 140n; slot++) subscriptions.slot(slot);
  nodeSlot = 139n;
  await source.follow([key]);
  subscriptions.activate();
  for (const parent of [0n, 7n, 100n]) {
    subscriptions.slot(subscriptions.lastSlot() + 1n, parent);
    expect(received).toEqual([{ value: 1, slot: 139n }]);
  }
});
