import fc from "fast-check";
import { expect, test } from "vitest";
import { fakeFeed } from "../../../test/support/fake-feed.ts";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { AccountReader } from "../port.ts";
import type { FeedListener } from "./account-feed.ts";
import { createStateSource } from "./state-source.ts";

const keys = [1, 2, 3].map((fill) => Address.from(new Uint8Array(32).fill(fill)));
const FIRST = 100;

/** A chain that branches: each block stands on one of the last few, and writes some accounts. */
interface ModelBlock {
  readonly back: number;
  readonly writes: readonly { readonly key: number; readonly value: number }[];
}

const block: fc.Arbitrary<ModelBlock> = fc.record({
  back: fc.constantFrom(1, 1, 1, 2, 3),
  writes: fc.array(fc.record({ key: fc.nat(2), value: fc.nat(255) }), { maxLength: 4 }),
});

type Step =
  | { readonly kind: "begin"; readonly slot: number; readonly parent: number }
  | {
      readonly kind: "write";
      readonly slot: number;
      readonly key: number;
      readonly value: number;
      readonly order: number;
    };

function accountOf(address: Address, value: number, slot: bigint): Account {
  return { address, owner: SYSTEM_PROGRAM, lamports: 1n, data: Uint8Array.of(value), executable: false, slot };
}

test("with any branches, and changes in any order, once or twice, the state is the surviving chain's", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { minLength: 1, maxLength: 40 }),
      fc.array(fc.nat(), { minLength: 200, maxLength: 200 }),
      async (blocks, randoms) => {
        let drawn = 0;
        const draw = (below: number) => randoms[drawn++ % randoms.length]! % below;
        let listener!: FeedListener;
        const feed = fakeFeed({
          listen(received) {
            listener = received;
          },
          follow: (addresses) => listener.onCovered(addresses, BigInt(FIRST)),
        });
        const reader: AccountReader = {
          fetchAccounts: async (addresses) => ({
            slot: BigInt(FIRST),
            accounts: addresses.map((address) => accountOf(address, 0, BigInt(FIRST))),
          }),
          fetchProgramAccounts: async () => "refused",
        };
        const source = createStateSource({ reader, feed, now: () => 0, warn: () => {}, pollMs: 1e9, auditMs: 1e9 });
        const state = new Map<Address, number | undefined>();
        source.onAccount((address, account) => state.set(address, account?.data[0]));
        listener.onSlot(BigInt(FIRST), BigInt(FIRST - 1));
        await source.follow(keys);

        // Each slot's changes come after its beginning, else in any order and up to three slots late, some of them twice.
        const parents = new Map<number, number>([[FIRST, FIRST - 1]]);
        const late: Step[][] = blocks.map(() => []);
        const steps: Step[] = [];
        blocks.forEach(({ back, writes }, i) => {
          const slot = FIRST + 1 + i;
          const parent = Math.max(FIRST, slot - back);
          parents.set(slot, parent);
          steps.push({ kind: "begin", slot, parent });
          writes.forEach(({ key, value }, order) => {
            const write: Step = { kind: "write", slot, key, value, order };
            for (let copies = 1 + (draw(4) === 0 ? 1 : 0); copies > 0; copies--)
              late[Math.min(blocks.length - 1, i + draw(4))]!.push(write);
          });
          const due = late[i]!;
          while (due.length > 0) steps.push(due.splice(draw(due.length), 1)[0]!);
        });
        const survivors = new Set(lineOf(parents, FIRST + blocks.length));
        let newest = FIRST;
        for (const step of steps) {
          if (step.kind === "begin") {
            newest = step.slot;
            listener.onSlot(BigInt(step.slot), BigInt(step.parent));
          } else {
            const address = keys[step.key]!;
            const account = accountOf(address, step.value, BigInt(step.slot));
            listener.onAccount({ address, account, slot: account.slot, epoch: 1, order: step.order });
          }
          // A root is on the branch of the day, and on every later one.
          const root = lineOf(parents, newest).find((slot) => slot <= newest - 5 && survivors.has(slot));
          if (root !== undefined && draw(8) === 0) listener.onRoot(BigInt(root));
        }

        const line = lineOf(parents, FIRST + blocks.length);
        keys.forEach((address, key) => {
          const writer = line.find((slot) => blocks[slot - FIRST - 1]?.writes.some((one) => one.key === key));
          const expected =
            writer === undefined ? 0 : blocks[writer - FIRST - 1]!.writes.findLast((one) => one.key === key)!.value;
          expect(state.get(address)).toBe(expected);
        });
        expect(source.counts().gaps).toBe(0);
        source.close();
      },
    ),
    { numRuns: 300 },
  );
});

test("a read that differs from what a lost stream reported of its slot makes nothing current", async () => {
  let listener!: FeedListener;
  let nowMs = 5_000;
  const feed = fakeFeed({
    reportsEveryChange: true,
    listen(received) {
      listener = received;
    },
    liveAtMs: () => 6_000,
    liveTimes: () => () => 6_000,
  });
  const node = { slot: 100n, value: 1 };
  const reader: AccountReader = {
    fetchAccounts: async (addresses) => ({
      slot: node.slot,
      accounts: addresses.map((address) => accountOf(address, node.value, node.slot)),
    }),
    fetchProgramAccounts: async () => "refused",
  };
  const source = createStateSource({ reader, feed, now: () => nowMs, warn: () => {}, pollMs: 1e9, auditMs: 1e9 });
  const [key] = keys as [Address];
  let held: number | undefined;
  source.onAccount((_, account) => {
    held = account?.data[0];
  });
  const report = (value: number, order: number) =>
    listener.onAccount({ address: key, account: accountOf(key, value, 101n), slot: 101n, epoch: 1, order });
  await source.follow([key]);
  listener.onCovered([key], 101n);
  listener.onSlot(101n, 100n);
  nowMs = 6_000;
  report(2, 1);
  listener.onUncovered([key]);
  listener.onRestart();
  // It has changed once more in the slot since.
  Object.assign(node, { slot: 101n, value: 3 });
  for (nowMs = 7_000; nowMs < 10_000; nowMs += 1_000) await source.refresh([key]);
  expect([held, source.currentAtMs(key)]).toEqual([2, 6_000]);
  node.slot = 102n;
  await source.refresh([key]);
  expect([held, source.currentAtMs(key)]).toEqual([3, 10_000]);
  source.close();
});

test("while a stream catches up at once, what it has reported so far is as old as the slots that it came from", async () => {
  let listener!: FeedListener;
  let nowMs = 1_000;
  let liveAtMs = nowMs;
  let headSlot = 101n;
  const feed = fakeFeed({
    listen(received) {
      listener = received;
    },
    follow: (addresses) => listener.onCovered(addresses, 101n),
    liveAtMs: () => liveAtMs,
  });
  const reader: AccountReader = {
    fetchAccounts: async (addresses) => ({ slot: 101n, accounts: addresses.map((one) => accountOf(one, 1, 101n)) }),
    fetchProgramAccounts: async () => "refused",
  };
  const source = createStateSource({
    ...{ reader, feed, now: () => nowMs, warn: () => {}, headSlot: () => headSlot, pollMs: 1e9, auditMs: 1e9 },
  });
  const [key] = keys as [Address];
  listener.onSlot(101n, 100n);
  await source.follow([key]);
  headSlot = 110n;
  nowMs = 2_000;
  expect(source.currentAtMs(key)).toBe(1_000);
  nowMs = 5_000;
  listener.onSlot(102n, 101n);
  nowMs = 5_100;
  for (let slot = 103n; slot <= 110n; slot++) listener.onSlot(slot, slot - 1n);
  // All has arrived of what came before slot 102.
  liveAtMs = 5_000;
  expect(source.currentAtMs(key)).toBe(2_000);
  liveAtMs = 5_100;
  expect(source.currentAtMs(key)).toBe(5_100);
  source.close();
});

test("what a stream falls back to while it catches up is as old as its last word, not as the moment when it is repeated", async () => {
  let listener!: FeedListener;
  let nowMs = 1_000;
  let liveAtMs = nowMs;
  const feed = fakeFeed({
    reportsEveryChange: true,
    listen(received) {
      listener = received;
    },
    liveAtMs: () => liveAtMs,
  });
  const reader: AccountReader = {
    fetchAccounts: async (addresses) => ({ slot: 101n, accounts: addresses.map((one) => accountOf(one, 1, 101n)) }),
    fetchProgramAccounts: async () => "refused",
  };
  const source = createStateSource({
    ...{ reader, feed, now: () => nowMs, warn: () => {}, pollMs: 1e9, auditMs: 1e9 },
  });
  const [key] = keys as [Address];
  const write = (slot: bigint, value: number) =>
    listener.onAccount({ address: key, account: accountOf(key, value, slot), slot, epoch: 1, order: value });
  listener.onSlot(101n, 100n);
  await source.follow([key]);
  nowMs = 9_000;
  listener.onSlot(102n, 101n);
  write(102n, 2);
  listener.onSlot(103n, 102n);
  write(103n, 3);
  listener.onSlot(104n, 102n);
  expect(source.currentAtMs(key)).toBe(1_000);
  // As it goes on, what it falls back to was the state when its slot began.
  liveAtMs = 9_400;
  nowMs = 9_400;
  listener.onSlot(105n, 104n);
  write(105n, 4);
  nowMs = 9_800;
  liveAtMs = 9_800;
  listener.onSlot(106n, 105n);
  write(106n, 5);
  listener.onSlot(107n, 105n);
  expect(source.currentAtMs(key)).toBe(9_400);
  source.close();
});

/** A slot and its ancestors, newest first. */
function lineOf(parents: ReadonlyMap<number, number>, slot: number): number[] {
  const line: number[] = [];
  for (let at = slot; at >= FIRST; at = parents.get(at)!) line.push(at);
  return line;
}
