import { expect, test, vi } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { KeptAccount } from "../../solana/account-content.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { type AccountHistory, type AccountVersion, addVersion, pruneVersions, versionsOf } from "./account-versions.ts";
import type { FollowedAccount } from "./followed-account.ts";
import { FollowedAccounts } from "./followed-accounts.ts";
import { SlotTree } from "./slots/slot-tree.ts";

const MIB = 1024 * 1024;

/** One account, and a version of it for each slot from 11 on, none of them rooted. */
function changing(bytes: number, slots: number) {
  const tree = new SlotTree();
  const followed = new FollowedAccounts(
    tree,
    () => 0,
    true,
    () => 0,
  );
  const entry = followed.start(Address.from(new Uint8Array(32).fill(1)));
  const change = (slot: bigint, size = bytes) => {
    const data = new Uint8Array(size);
    new DataView(data.buffer).setBigUint64(0, slot);
    const account = { address: entry.address, owner: SYSTEM_PROGRAM, lamports: 1n, data, executable: false, slot };
    followed.add(entry, { slot, epoch: 0, order: Number(slot), account });
  };
  for (let i = 0; i < slots; i++) {
    const slot = 11n + BigInt(i);
    tree.begin(slot, slot - 1n);
    change(slot);
  }
  return { tree, followed, entry, change };
}

const oldestFirst = (history: AccountHistory): readonly AccountVersion[] => [...versionsOf(history)].reverse();

const bytesOf = (history: AccountHistory) =>
  oldestFirst(history).reduce((sum, { account }) => sum + (account?.data.length ?? 0), 0);

test("versions of a large account that no root drops are kept up to 4 MiB, those of a small one up to 256", () => {
  const large = changing(MIB, 40).entry;
  expect(bytesOf(large)).toBeLessThanOrEqual(5 * MIB);
  expect(large.delivered?.slot).toBe(50n);
  const small = changing(165, 1_000).entry;
  expect(oldestFirst(small).length).toBe(256);
  expect(small.delivered?.slot).toBe(1_010n);
});

test("sizes that change from slot to slot stay within the bound too", () => {
  const { tree, entry, change } = changing(MIB, 1);
  for (let slot = 12n; slot < 200n; slot++) {
    tree.begin(slot, slot - 1n);
    change(slot, slot % 2n === 0n ? 3 * MIB : 8);
    expect(bytesOf(entry)).toBeLessThanOrEqual(7 * MIB + 1_024);
  }
});

test("an account whose versions left are all undone is unknown until it is read, never older than what was dropped", () => {
  const { tree, followed, entry, change } = changing(3 * MIB, 6);
  expect(oldestFirst(entry).map(({ slot }) => slot)).toEqual([15n, 16n]);
  // A late notice of a slot before those that were dropped.
  change(12n);
  tree.kill(15n);
  followed.turn();
  expect(entry.delivered).toBeUndefined();
  tree.begin(17n, 14n);
  change(17n);
  expect(entry.delivered?.slot).toBe(17n);
});

test("what most nodes agree on counts also if newer versions had older ones dropped", () => {
  const { followed, entry } = changing(3 * MIB, 6);
  followed.replace(entry, { slot: 13n, account: null });
  expect(entry.delivered).toMatchObject({ slot: 13n, account: null });
});

test("banks replaced again and again leave no trace behind", async () => {
  const { tree, followed, entry, change } = changing(8, 2);
  const heapBefore = oldestFirst(entry).length;
  const addresses = new Set([entry.address]);
  for (let i = 0; i < 10_000; i++) {
    followed.discard(12n, addresses);
    change(12n);
  }
  expect(oldestFirst(entry).length).toBe(heapBefore);
  tree.rootAt(12n);
  followed.settle();
  await expect.poll(() => followed.spareVersions()).toBe(0);
});

test("what a stream reports stays text while it is kept, bounded, discarded and pruned", async () => {
  const { tree, followed, entry } = changing(8, 0);
  const asBytes = vi.spyOn(KeptAccount.prototype, "data", "get");
  try {
    for (let slot = 11n; slot < 400n; slot++) {
      tree.begin(slot, slot - 1n);
      const facts = { address: entry.address, owner: SYSTEM_PROGRAM, lamports: 1n, executable: false, slot };
      const account = KeptAccount.of(facts, new Uint8Array(32 * 1024).fill(Number(slot % 256n)));
      followed.add(entry, { slot, epoch: 0, order: 0, account, isStreamed: true });
    }
    expect(oldestFirst(entry).length).toBeLessThan(140);
    followed.discard(399n, new Set([entry.address]));
    tree.rootAt(398n);
    followed.settle();
    await expect.poll(() => followed.spareVersions()).toBe(0);
    expect(asBytes).not.toHaveBeenCalled();
  } finally {
    asBytes.mockRestore();
  }
});

test("a root leaves its newest version and all later ones, without those that are off the chain", () => {
  const random = createRandom(7);
  for (let round = 0; round < 200; round++) {
    const tree = new SlotTree();
    const slots: bigint[] = [];
    for (let slot = 11n; slot < 31n; slot++) {
      // Some slots begin on an earlier one, which leaves those between off the chain.
      if (random.u32() % 4 > 0) tree.begin(slot, slot - 1n - BigInt(random.u32() % 2));
      if (random.u32() % 2 === 0) slots.push(slot);
    }
    const root = 11n + BigInt(random.u32() % 20);
    tree.rootAt(root);
    const history: AccountHistory = { newest: undefined, count: 0 };
    for (const slot of slots) addVersion(history, { slot, epoch: 0, order: 0, account: null }, 0n);
    pruneVersions(history, root, tree);
    const alive = slots.filter((slot) => slot > root || tree.isOnChain(slot));
    const newestRooted = alive.filter((slot) => slot <= root).at(-1) ?? 0n;
    expect(oldestFirst(history).map(({ slot }) => slot)).toEqual(alive.filter((slot) => slot >= newestRooted));
  }
});

test("a root drops what is older than its version, also if that replaced another of its slot, at once or late", () => {
  for (const slots of [
    [11n, 12n, 12n, 13n],
    [11n, 12n, 13n, 12n],
    [12n, 13n, 11n, 12n],
    [13n, 12n, 12n, 11n, 11n],
  ]) {
    const { tree, followed, entry } = changing(8, 0);
    for (let slot = 11n; slot < 14n; slot++) tree.begin(slot, slot - 1n);
    for (const [order, slot] of slots.entries()) followed.add(entry, { slot, epoch: 0, order, account: null });
    tree.rootAt(12n);
    followed.settle();
    expect(oldestFirst(entry).map(({ slot }) => slot)).toEqual([12n, 13n]);
  }
});

test("a root leaves no version of a slot that was passed over", () => {
  const { tree, followed, entry } = changing(8, 0);
  for (let slot = 11n; slot < 14n; slot++) tree.begin(slot, slot - 1n);
  for (const slot of [11n, 12n, 13n]) followed.add(entry, { slot, epoch: 0, order: 0, account: null });
  tree.begin(14n, 12n);
  followed.turn();
  tree.rootAt(14n);
  followed.settle();
  expect(oldestFirst(entry).map(({ slot }) => slot)).toEqual([12n]);
});

test("slots that no double tells apart are kept apart", () => {
  const tree = new SlotTree();
  const followed = new FollowedAccounts(
    tree,
    () => 0,
    true,
    () => 0,
  );
  const [other, entry] = [1, 2].map((byte) => followed.start(Address.from(new Uint8Array(32).fill(byte)))) as [
    FollowedAccount,
    FollowedAccount,
  ];
  const [first, second] = [1n << 60n, (1n << 60n) + 1n];
  tree.begin(first, first - 1n);
  tree.begin(second, first);
  for (const one of [other, entry]) followed.add(one, { slot: first, epoch: 0, order: 0, account: null });
  followed.add(entry, { slot: second, epoch: 0, order: 0, account: null });
  tree.rootAt(second);
  followed.settle();
  expect(oldestFirst(entry).map(({ slot }) => slot)).toEqual([second]);
});
