import { expect, onTestFinished, test, vi } from "vitest";
import { Address } from "../../primitives/address.ts";
import { KeptAccount } from "../../solana/account-content.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { versionsOf } from "./account-versions.ts";
import type { FollowedAccount } from "./followed-account.ts";
import { FollowedAccounts } from "./followed-accounts.ts";
import { SlotTree } from "./slots/slot-tree.ts";

const CHANGES = 150_000;

function following(count: number, tree: SlotTree, begunAtMs: (slot: bigint) => number = () => 0) {
  const followed = new FollowedAccounts(tree, () => 0, true, begunAtMs);
  const entries = Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(32);
    new DataView(bytes.buffer).setUint32(0, i + 1);
    return followed.start(Address.from(bytes));
  });
  const changeAll = (slot: bigint) => {
    for (const entry of entries) {
      const account = { address: entry.address, owner: SYSTEM_PROGRAM, lamports: slot };
      followed.add(entry, {
        ...{ slot, epoch: 0, order: 0 },
        account: { ...account, data: new Uint8Array(0), executable: false, slot },
      });
    }
  };
  return { followed, entries, changeAll };
}

test("150,000 changes in one slot settle at its root without a throw, and every older version goes", async () => {
  const tree = new SlotTree();
  const { followed, entries, changeAll } = following(CHANGES, tree);
  for (const slot of [11n, 12n]) {
    tree.begin(slot, slot - 1n);
    changeAll(slot);
  }
  expect(followed.spareVersions()).toBe(CHANGES);
  tree.rootAt(12n);
  followed.settle();
  // The rest of it takes turns with other work.
  await expect.poll(() => followed.spareVersions()).toBe(0);
  expect(entries.every(({ delivered }) => delivered?.slot === 12n)).toBe(true);
});

test("long data is packed once its slot is rooted, unless the account has changed since", async () => {
  const pack = vi.spyOn(KeptAccount, "pack");
  onTestFinished(() => pack.mockRestore());
  const packed = () => pack.mock.calls.map(([account]) => account);
  const tree = new SlotTree();
  const { followed, entries } = following(3, tree);
  const change = (entry: FollowedAccount, slot: bigint, length: number, byte: number) => {
    const facts = { address: entry.address, owner: SYSTEM_PROGRAM, lamports: 1n, executable: false, slot };
    const account = KeptAccount.of(facts, new Uint8Array(length).fill(byte, 0, 1));
    followed.add(entry, { slot, epoch: 0, order: 0, account });
    return account;
  };
  const [lasting, changing, short] = entries as [FollowedAccount, FollowedAccount, FollowedAccount];
  tree.begin(11n, 10n);
  const kept = change(lasting, 11n, 10_240, 1);
  change(changing, 11n, 10_240, 1);
  change(short, 11n, 165, 1);
  tree.begin(12n, 11n);
  // A read that finds what is known.
  change(lasting, 12n, 10_240, 1);
  const latest = change(changing, 12n, 10_240, 2);
  tree.rootAt(11n);
  followed.settle();
  expect(packed()).toEqual([kept]);
  expect(lasting.delivered).toMatchObject({ slot: 12n, account: kept });
  tree.rootAt(12n);
  followed.settle();
  expect(packed()).toEqual([kept, latest]);
});

test("a dead slot with thousands of changes leaves no trace, though it takes turns to undo", async () => {
  const tree = new SlotTree();
  const { followed, entries, changeAll } = following(20_000, tree);
  const delivered = () => new Set(entries.map((entry) => entry.delivered?.slot));
  for (const slot of [11n, 12n]) {
    tree.begin(slot, slot - 1n);
    changeAll(slot);
  }
  tree.kill(12n);
  followed.turn();
  tree.begin(13n, 11n);
  tree.rootAt(13n);
  followed.settle();
  expect(delivered()).toEqual(new Set([11n, 12n]));
  await expect.poll(delivered).toEqual(new Set([11n]));
  await expect.poll(() => followed.spareVersions()).toBe(0);
});

test("a replaced bank of thousands of changes is undone in turns, and never takes what the new bank reports with it", async () => {
  const tree = new SlotTree();
  const { followed, entries, changeAll } = following(20_000, tree);
  for (const slot of [11n, 12n]) {
    tree.begin(slot, slot - 1n);
    changeAll(slot);
  }
  const addresses = new Set(entries.map(({ address }) => address));
  const at = (slot: bigint) => entries.filter(({ delivered }) => delivered?.slot === slot).length;
  followed.discard(12n, addresses);
  expect(at(11n)).toBe(250);
  // One that no turn has reached yet: the new bank's state is written later, though its order is lower.
  const first = entries[0]!;
  const account = { ...first.delivered!.account!, lamports: 7n };
  followed.add(first, { slot: 12n, epoch: 0, order: -1, account });
  expect(first.delivered!.account).toBe(account);
  // The new bank is replaced too, before the first one is undone.
  followed.discard(12n, addresses);
  await expect.poll(() => at(11n)).toBe(entries.length);
  expect([...versionsOf(first)].map(({ slot }) => slot)).toEqual([11n]);
});

test("a bank that is replaced again and again is undone for all of its accounts, and costs no walk over those that did not change", async () => {
  const tree = new SlotTree();
  const { followed, entries, changeAll } = following(4_000, tree);
  for (const slot of [11n, 12n]) {
    tree.begin(slot, slot - 1n);
    changeAll(slot);
  }
  const addresses = new Set(entries.map(({ address }) => address));
  const asked = vi.spyOn(followed, "get");
  for (let i = 0; i < 20; i++) {
    followed.discard(12n, addresses);
    await new Promise(setImmediate);
  }
  await expect.poll(() => entries.every(({ delivered }) => delivered?.slot === 11n)).toBe(true);
  expect(asked).not.toHaveBeenCalled();
  // One of another stream, which reported none of them, takes nothing away.
  changeAll(12n);
  followed.discard(12n, new Set());
  await new Promise(setImmediate);
  expect(entries.every(({ delivered }) => delivered?.slot === 12n)).toBe(true);
});

/** One account, of which every change from slot 10 on is reported; slots 10 to 12 are the chain. */
function streaming(begunAtMs?: (slot: bigint) => number) {
  const tree = new SlotTree();
  const { followed, entries } = following(1, tree, begunAtMs);
  const entry = entries[0]!;
  entry.coveredFrom = 10n;
  const begin = (slot: bigint, parent: bigint) => {
    tree.begin(slot, parent);
    followed.turn();
  };
  const report = (slot: bigint, isStreamed: boolean) => {
    const account = { address: entry.address, owner: SYSTEM_PROGRAM, lamports: slot, data: new Uint8Array(0) };
    followed.add(entry, { slot, epoch: 0, order: 0, account: { ...account, executable: false, slot }, isStreamed });
    entry.provenAtMs = Number(slot);
  };
  for (const slot of [10n, 11n, 12n]) begin(slot, slot - 1n);
  report(11n, true);
  followed.trust(entry);
  return {
    tree,
    followed,
    entry,
    begin,
    report,
    state: () => [entry.delivered?.slot, entry.provenAtMs, entry.streamed],
  };
}

test("what was known before an undone slot counts on, if the stream has reported every change since", () => {
  const { begin, report, state } = streaming();
  report(12n, true);
  begin(13n, 11n);
  expect(state()).toEqual([11n, 12, true]);
});

test("what was known before an undone slot proves nothing if the stream counted for nothing in between", () => {
  const { followed, entry, begin, report, state } = streaming();
  followed.doubt(entry);
  // It changes in slot 12, which counts for nothing.
  begin(13n, 12n);
  report(13n, false);
  begin(14n, 12n);
  expect(state()).toEqual([11n, 0, false]);
});

test("what was known before an undone slot proves nothing if what the stream reported in between was dropped", () => {
  const { followed, entry, begin, report, state } = streaming();
  report(12n, true);
  followed.dropStreamed(entry, 12n);
  begin(13n, 12n);
  report(13n, true);
  followed.trust(entry);
  expect(state()).toEqual([13n, 13, true]);
  begin(14n, 12n);
  expect(state()).toEqual([11n, 0, false]);
});

test("once the stream's reports were dropped, it suffices from the slot after the newest: what comes late of that one may be older", () => {
  for (const drop of ["dropStreamed", "replace"] as const) {
    const { followed, entry, report } = streaming();
    report(12n, true);
    if (drop === "dropStreamed") followed.dropStreamed(entry, 12n);
    else followed.replace(entry, { slot: 11n, account: null });
    expect(entry.coveredFrom).toBe(13n);
  }
});

test("what was known before an undone slot, and is not proven, was the state when its slot began", () => {
  const { followed, entry, begin, report, state } = streaming((slot) => 100 * Number(slot));
  followed.doubt(entry);
  report(12n, false);
  begin(13n, 11n);
  expect(state()).toEqual([11n, 1_100, false]);
});

test("a doubt up to a slot never makes the stream report every change from an earlier slot on", () => {
  const { followed, entry } = streaming();
  const coveredAfter = (from: bigint | undefined, slot: bigint) => {
    entry.coveredFrom = from;
    followed.doubtUpTo(entry, slot);
    return entry.coveredFrom;
  };
  expect(coveredAfter(10n, 8n)).toBe(10n);
  expect(coveredAfter(10n, 10n)).toBe(11n);
  expect(coveredAfter(10n, 12n)).toBe(13n);
  expect(coveredAfter(undefined, 12n)).toBe(undefined);
});

test("what the nodes agree on brings back none of the older versions that were dropped for their number", () => {
  const { followed, entry, report } = streaming();
  entry.droppedUpTo = 9n;
  followed.replace(entry, { slot: 12n, account: null });
  report(8n, false);
  expect([...versionsOf(entry)].map(({ slot }) => slot)).toEqual([12n, 11n]);
  // They are sure of a slot that was dropped.
  followed.replace(entry, { slot: 9n, account: null });
  expect([...versionsOf(entry)].map(({ slot }) => slot)).toEqual([9n]);
});

test("what is left once the stream's reports are dropped is proven only if none of them came before", () => {
  const { followed, entry, report, state } = streaming();
  report(12n, true);
  followed.dropStreamed(entry, 12n);
  expect(state()).toEqual([11n, 12, true]);
  report(12n, false);
  report(13n, true);
  followed.dropStreamed(entry);
  expect(state()).toEqual([12n, 0, false]);
});

test("an older state that the nodes agree on is proven no further than they say", () => {
  const { followed, entry, report, state } = streaming();
  report(12n, true);
  followed.replace(entry, { slot: 11n, account: null });
  expect(state()).toEqual([11n, 0, false]);
});

test("a doubt of all accounts counts at once, though few are walked over in one turn of the loop", async () => {
  const { followed, entries } = following(20_000, new SlotTree());
  for (const entry of entries) followed.trust(entry);
  expect(followed.unstreamed.size).toBe(0);
  followed.distrustUntil(10);
  expect(followed.unstreamed.size).toBe(500);
  // One that no turn has reached yet.
  expect(entries.at(-1)!.streamed).toBe(false);
  expect(followed.unstreamed.size).toBe(500);
  await expect.poll(() => followed.unstreamed.size).toBe(entries.length);
});

test("what happens to all accounts reaches each once, in its order, before anything else is known of it", async () => {
  const { followed, entries } = following(12_000, new SlotTree());
  for (const entry of entries) Object.assign(entry, { streamed: true, coveredFrom: 1n });
  followed.upset((standing) => {
    standing.provenAtMs += standing.streamed ? 7 : 0;
    standing.streamed = false;
  });
  const [last, gone] = [entries.at(-1)!, entries.at(-2)!];
  // Covered and read again between the two.
  last.coveredFrom = 5n;
  last.streamed = true;
  followed.upset((standing) => {
    standing.provenAtMs += standing.streamed ? 100 : 0;
    standing.streamed = false;
    standing.coveredFrom = undefined;
  });
  followed.stop(gone);
  expect([last.provenAtMs, last.coveredFrom]).toEqual([107, undefined]);
  const late = followed.start(Address.from(new Uint8Array(32).fill(9)));
  await expect.poll(() => followed.unstreamed.size).toBe(entries.length);
  expect(late).toMatchObject({ provenAtMs: 0, streamed: false });
  const known = new Set(entries.slice(0, -2).map(({ provenAtMs }) => provenAtMs));
  expect(known).toEqual(new Set([7]));
  // Forgotten by then: one that is followed no longer takes in nothing more.
  expect(gone.provenAtMs).toBeLessThanOrEqual(7);
});

test("an account that is followed no longer is in no order and no set, whatever is still reported of it", () => {
  const { followed, entries } = following(3, new SlotTree());
  const [gone, ...left] = entries;
  expect(followed.start(left[0]!.address)).toBe(left[0]);
  for (let i = 0; i < 2; i++) followed.stop(gone!);
  followed.noteRead(gone!, 1);
  followed.doubt(gone!);
  const order = [];
  for (let entry = followed.lastReadFirst; entry !== undefined; entry = entry.after) order.push(entry);
  expect(order).toEqual(left);
  expect(new Set(followed.nextUnstreamed(9))).toEqual(new Set(left));
  expect([...followed.values()]).toEqual(left);
});
