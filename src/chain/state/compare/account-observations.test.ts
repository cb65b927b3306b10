import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import type { Account } from "../../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import { addVersion } from "../account-versions.ts";
import { FollowedAccount, Upheavals } from "../followed-account.ts";
import { SlotTree } from "../slots/slot-tree.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import { AccountObservations } from "./account-observations.ts";

const ADDRESS = Address.from(new Uint8Array(32).fill(1));

test("a node that answers from another branch contradicts nobody, whichever of them says what all others do", () => {
  const tree = new SlotTree();
  // Slot 12 is passed over: slot 13 begins on slot 11.
  for (const [slot, parent] of [
    [10n, 9n],
    [11n, 10n],
    [12n, 11n],
    [13n, 11n],
  ] as const)
    tree.begin(slot, parent);
  const observations = new AccountObservations(new FollowedAccount(ADDRESS, new Upheavals()), true);
  const say = (node: number, at: number, value: number) => {
    const slot = BigInt(at);
    const data = Uint8Array.of(value);
    const account = { address: ADDRESS, owner: SYSTEM_PROGRAM, lamports: 1n, data, executable: false, slot };
    const statement = { node, slot, account, sentAtMs: 0, receivedAtMs: 0 };
    observations.add(statement);
    return statement;
  };
  say(0, 10, 1);
  const last = say(0, 13, 1);
  const forked = say(1, 12, 2);
  const lie = say(2, 11, 2);
  for (const [one, other] of [
    [last, forked],
    [forked, last],
  ] as const)
    expect(observations.isContradicted(one, other, tree)).toBe(false);
  expect(observations.isContradicted(last, lie, tree)).toBe(true);
  expect(observations.isContradicted(lie, last, tree)).toBe(true);
  // What a node said on the other branch is neither before nor after.
  say(3, 10, 3);
  say(3, 12, 3);
  expect(observations.isContradicted(lie, say(3, 13, 4), tree)).toBe(false);
});

test("what is held of another branch after a slot shows nothing about that slot", () => {
  const tree = new SlotTree();
  // Slot 13 is passed over: slot 14 begins on slot 12.
  for (const [slot, parent] of [
    [11n, 10n],
    [12n, 11n],
    [13n, 11n],
    [14n, 12n],
  ] as const)
    tree.begin(slot, parent);
  const entry = new FollowedAccount(ADDRESS, new Upheavals());
  const accountOf = (value: number, slot: bigint) => ({
    ...{ address: ADDRESS, owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(value), executable: false, slot },
  });
  const hold = (slot: bigint) =>
    addVersion(entry, { slot, epoch: 0, order: 0, account: accountOf(1, slot) }, 0n)!.version;
  entry.delivered = hold(11n);
  hold(13n);
  const observations = new AccountObservations(entry, true);
  const stream = { slot: 14n } as StreamProgress;
  const changed = { node: 1, slot: 12n, account: accountOf(2, 12n), sentAtMs: 0, receivedAtMs: 0 };
  expect(observations.relationOf(changed, { tree, stream, atMs: 0 })).toBe("open");
  hold(14n);
  expect(observations.relationOf(changed, { tree, stream, atMs: 0 })).toBe("differs");
});

test("what a node says of a slot in a gap, which may be of another branch, differs from nothing for certain", () => {
  const { tree, entry, accountOf, relationOf } = holding();
  for (const [slot, parent] of [
    [11n, 10n],
    // Slot 12 is missing.
    [13n, 12n],
  ] as const)
    tree.begin(slot, parent);
  for (const slot of [11n, 13n]) entry.delivered = addVersion(entry, versionOf(accountOf(1, slot)), 0n)!.version;
  expect(relationOf(accountOf(2, 12n))).toBe("open");
  tree.begin(12n, 11n);
  expect(relationOf(accountOf(2, 12n))).toBe("differs");
});

test("what a node says of a slot that the stream has yet to report may be of another branch, unless the stream is quiet", () => {
  const { tree, entry, accountOf } = holding();
  tree.begin(11n, 10n);
  for (const slot of [11n, 13n]) entry.delivered = addVersion(entry, versionOf(accountOf(1, slot)), 0n)!.version;
  const relationOf = (isQuiet: boolean) => {
    const statement = { node: 1, slot: 12n, account: accountOf(2, 12n), sentAtMs: 0, receivedAtMs: 0 };
    const stream = { slot: tree.head, isQuiet: () => isQuiet } as StreamProgress;
    return new AccountObservations(entry, true).relationOf(statement, { tree, stream, atMs: 0 });
  };
  expect([false, true].map(relationOf)).toEqual(["open", "differs"]);
  for (const slot of [12n, 13n]) tree.begin(slot, slot - 1n);
  expect(relationOf(false)).toBe("differs");
});

test("what a node says of a slot that was read differs if it was the same before, then and later, unless a change in it was reported", () => {
  for (const isStreamed of [false, true]) {
    const { tree, entry, accountOf, relationOf } = holding();
    for (const slot of [11n, 12n, 13n]) {
      tree.begin(slot, slot - 1n);
      const version = { ...versionOf(accountOf(1, slot)), isStreamed };
      entry.delivered = addVersion(entry, version, 0n)!.version;
    }
    expect(relationOf(accountOf(1, 12n))).toBe("same");
    expect(relationOf(accountOf(2, 12n))).toBe(isStreamed ? "open" : "differs");
  }
});

test("what the stream has not reported differs only of slots of which it reports every change", () => {
  const { tree, entry, accountOf, relationOf } = holding();
  for (const slot of [11n, 12n, 13n]) tree.begin(slot, slot - 1n);
  entry.delivered = addVersion(entry, versionOf(accountOf(1, 11n)), 0n)!.version;
  entry.streamed = true;
  entry.coveredFrom = 13n;
  expect(relationOf(accountOf(2, 12n), 1_000)).toBe("open");
  entry.coveredFrom = 12n;
  expect(relationOf(accountOf(2, 12n), 1_000)).toBe("differs");
});

/** Whether node 2 is outvoted by nodes 0 and 1, after what each has said, as `node slot=value`; slot 16 is beyond the chain, 15 off it. */
const isOutvoted = (...said: readonly string[]): boolean => isOutvotedBeside([], false, ...said);

/** The same after the stream has reported changes, as `slot=value`, if it is another node's or not. */
function isOutvotedBeside(reported: readonly string[], isElsewhere: boolean, ...said: readonly string[]): boolean {
  const { tree, entry, accountOf } = holding();
  for (const slot of [11n, 12n, 13n, 14n, 15n]) tree.begin(slot, slot - 1n);
  tree.kill(15n);
  const observations = new AccountObservations(entry, true);
  for (const text of reported) {
    const [slot, value] = text.split("=").map(Number) as [number, number];
    observations.streamRecord.note(BigInt(slot), accountOf(value, BigInt(slot)));
  }
  for (const text of said) {
    const [node, slot, value] = text.split(/[ =]/).map(Number) as [number, number, number];
    const account = accountOf(value, BigInt(slot));
    observations.add({ node, slot: BigInt(slot), account, sentAtMs: 0, receivedAtMs: 0 });
  }
  const context = { tree, stream: { slot: 14n } as StreamProgress, atMs: 0 };
  return observations.isOutvoted(2, [0, 1], 2, context, isElsewhere);
}

test("a node is not outvoted for what another node's stream says of the slots too: the others were not asked in between", () => {
  const said = ["0 11=1", "1 11=1", "0 14=1", "1 14=1", "2 12=2", "2 13=3"];
  expect(isOutvotedBeside(["12=2", "13=3", "14=1"], true, ...said)).toBe(false);
  expect(isOutvotedBeside(["12=2", "14=1"], true, ...said)).toBe(false);
  // As of the slot before.
  expect(isOutvotedBeside(["11=2", "14=1"], true, ...said)).toBe(false);
  expect(isOutvotedBeside(["10=2", "11=1", "14=2"], true, ...said)).toBe(true);
  expect(isOutvotedBeside(["12=2", "13=3", "14=1"], false, ...said)).toBe(true);
});

test("a node is outvoted if all others have said the same other thing of two slots, or before and after them", () => {
  const others = ["0 11=1", "1 11=1", "0 14=1", "1 14=1"];
  expect(isOutvoted(...others, "2 12=2", "2 13=3")).toBe(true);
  expect(isOutvoted(...others, "2 11=2", "2 14=2")).toBe(true);
  expect(isOutvoted("0 15=1", "1 15=1", "0 16=1", "1 16=1", "2 15=2", "2 16=2")).toBe(true);
  expect(isOutvoted("0 11=1", "1 11=1", "0 12=3", "1 12=3", "2 11=2", "2 12=4", "2 13=5")).toBe(true);
});

test("a node is not outvoted for what an account may have held once, nor for slots of which too few have spoken", () => {
  const others = ["0 11=1", "1 11=1", "0 14=1", "1 14=1"];
  // It changed and came back, and the others were not asked in between.
  expect(isOutvoted(...others, "2 12=2")).toBe(false);
  expect(isOutvoted(...others, "2 12=2", "2 12=2")).toBe(false);
  // It changed, or one of the others says so.
  expect(isOutvoted("0 11=1", "1 11=1", "0 14=3", "1 14=3", "2 12=2", "2 13=2")).toBe(false);
  expect(isOutvoted("0 11=1", "1 11=1", "0 14=1", "2 12=2", "2 13=2")).toBe(false);
  expect(isOutvoted("0 11=1", "1 11=1", "0 12=1", "1 12=3", "2 11=2", "2 12=2")).toBe(false);
});

test("a node is not outvoted for what one of the others says too, of the same slot or of a later one", () => {
  const others = ["0 11=1", "1 11=1", "0 13=1", "1 13=1"];
  expect(isOutvoted(...others, "2 11=2", "2 12=2")).toBe(true);
  expect(isOutvoted(...others, "2 11=2", "2 12=2", "1 14=2")).toBe(false);
});

test("before and after a slot shows nothing to a node that has said the same before: the account comes and goes", () => {
  const others = ["0 11=1", "1 11=1", "0 14=1", "1 14=1"];
  expect(isOutvoted("1 10=2", ...others, "2 12=2", "2 13=2")).toBe(false);
  expect(isOutvoted("1 10=2", ...others, "2 11=2", "2 14=2")).toBe(true);
});

test("before and after a slot shows nothing of it if one of the three is of another branch, or of none that is known", () => {
  const others = ["0 13=1", "1 13=1", "0 16=1", "1 16=1"];
  expect(isOutvoted(...others, "2 14=2", "2 13=2")).toBe(false);
  expect(isOutvoted(...others, "2 14=2", "2 15=2")).toBe(false);
  expect(isOutvoted("0 13=1", "1 13=1", "0 17=1", "1 17=1", "2 14=2", "2 16=2")).toBe(false);
});

const versionOf = (account: Account) => ({ slot: account.slot!, epoch: 0, order: 0, account });

/** An account and the slots of the chain, both empty, and how what a node says relates to what is held. */
function holding() {
  const tree = new SlotTree();
  const entry = new FollowedAccount(ADDRESS, new Upheavals());
  const accountOf = (value: number, slot: bigint): Account => ({
    ...{ address: ADDRESS, owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(value), executable: false, slot },
  });
  const relationOf = (account: Account, atMs = 0) => {
    const statement = { node: 1, slot: account.slot!, account, sentAtMs: 0, receivedAtMs: 0 };
    return new AccountObservations(entry, true).relationOf(statement, {
      ...{ tree, stream: { slot: 13n } as StreamProgress, atMs },
    });
  };
  return { tree, entry, accountOf, relationOf };
}
