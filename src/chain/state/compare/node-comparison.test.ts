import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Address } from "../../../primitives/address.ts";
import type { Account } from "../../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import type { AccountReader } from "../../port.ts";
import type { AccountFeed, FeedListener } from "../account-feed.ts";
import { createStateSource, type LiveStateSource } from "../state-source.ts";
import type { StateWitness } from "./witness-nodes.ts";

const VAULT = Address.from(new Uint8Array(32).fill(7));
const SLOT_MS = 200;
/** A lie may price builds for this long. Milliseconds. */
const DETECTED_MS = 2_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the vault of a market in use", () => {
  test("is contested within two seconds if one of two nodes halves it, over reads and stream, until they agree", async () => {
    for (const liar of [0, 1]) {
      const world = await startWorld(2);
      world.lie(liar, (balance) => balance / 2);
      world.reportLie(liar);
      await world.pass(DETECTED_MS);
      expect(world.source.contested()).toContain(VAULT);
      world.lie(liar, undefined);
      await world.pass(DETECTED_MS);
      expect(world.source.contested().size).toBe(0);
      expect(world.known()).toBe(world.balance());
      world.source.close();
    }
  });

  test("is what two of three nodes say, and the third is set aside", async () => {
    for (const liar of [0, 1, 2]) {
      const world = await startWorld(3);
      world.lie(liar, (balance) => balance * 2);
      world.reportLie(liar);
      await world.pass(DETECTED_MS);
      expect(world.source.contested().size).toBe(0);
      expect(world.known()).toBe(world.balance());
      expect(world.setAside).toEqual([`node ${liar}`]);
      world.source.close();
    }
  });

  test("is what the trusted one of two nodes says", async () => {
    const world = await startWorld(2, { trusted: 1 });
    world.lie(0, (balance) => balance / 2);
    world.reportLie(0);
    await world.pass(DETECTED_MS);
    expect(world.source.contested().size).toBe(0);
    expect(world.known()).toBe(world.balance());
    world.source.close();
  });

  test("is contested even if the liar claims a slot far ahead", async () => {
    const world = await startWorld(2);
    world.lie(0, (balance) => balance / 2, 30n);
    world.reportLie(0);
    await world.pass(DETECTED_MS);
    expect(world.source.contested()).toContain(VAULT);
    world.source.close();
  });

  test("is never contested between honest nodes, though it changes in every slot and one node is two slots behind", async () => {
    const world = await startWorld(2, { behind: [0n, 2n] });
    world.moveEverySlot = true;
    for (let i = 0; i < 100; i++) {
      await world.pass(SLOT_MS);
      expect(world.source.contested().size).toBe(0);
    }
    expect(world.known()).toBe(world.balance());
    world.source.close();
  });

  test("is never contested between honest nodes, though this process stands still for a second again and again", async () => {
    for (const [moveEverySlot, standsMs] of [
      [true, 1_000],
      [true, 400],
      [false, 1_000],
    ] as const) {
      const world = await startWorld(2, { behind: [0n, 2n] });
      world.moveEverySlot = moveEverySlot;
      for (let i = 0; i < 50; i++) {
        await world.pass(SLOT_MS);
        expect([i, standsMs, world.source.contested().size]).toEqual([i, standsMs, 0]);
        world.standStill(standsMs);
      }
      await world.pass(1_000);
      expect(Date.now() - world.source.currentAtMs(VAULT)).toBeLessThan(1_000);
      expect(world.known()).toBe(world.balance());
      world.source.close();
    }
  });

  test("is contested within two seconds of running if one of two nodes halves it, however often this process stands still", async () => {
    const world = await startWorld(2);
    world.lie(1, (balance) => balance / 2);
    for (let passed = 0; passed < DETECTED_MS; passed += SLOT_MS) {
      await world.pass(SLOT_MS);
      world.standStill(700);
    }
    expect(world.source.contested()).toContain(VAULT);
    world.source.close();
  });

  test("is what the rest says if a node is silent for long", async () => {
    const world = await startWorld(2);
    world.silence(0);
    world.lie(1, (balance) => balance + 1);
    await world.pass(10_000);
    expect(world.source.contested().size).toBe(0);
    world.source.close();
  });
});

test("the nodes are asked within the budget, and nothing is asked without one", async () => {
  const world = await startWorld(2, { comparisonsPerSecond: 2 });
  world.calls = 0;
  await world.pass(10_000);
  expect(world.calls).toBeGreaterThan(10);
  expect(world.calls).toBeLessThanOrEqual(22);
  world.source.close();
  const without = await startWorld(2, { comparisonsPerSecond: 0 });
  await without.pass(5_000);
  expect(without.calls).toBe(0);
  without.source.close();
});

test("a stream that lies in every slot, with no other to switch to, prices nothing for longer than two seconds", async () => {
  const world = await startWorld(2, { isOnlyStream: true });
  world.moveEverySlot = true;
  const lieFor = async (ms: number) => {
    world.streamLies = (balance) => balance * 2;
    await world.pass(DETECTED_MS);
    for (let passed = 0; passed < ms; passed += SLOT_MS) {
      await world.pass(SLOT_MS);
      expect(world.known()! < 2 * 1_000).toBe(true);
      expect(world.source.contested().size).toBe(0);
    }
  };
  await lieFor(7_000);
  expect(world.source.counts().streamed).toBe(0);
  world.streamLies = undefined;
  await world.pass(4_000);
  expect(world.source.counts().streamed).toBe(1);
  // Once more, it is left alone for twice as long.
  await lieFor(17_000);
  world.source.close();
});

test("an honest stream is never blamed, though nodes answer from the middle of each slot", async () => {
  const world = await startWorld(2, { isOnlyStream: true });
  world.moveEverySlot = true;
  world.movesWithin = true;
  await world.pass(20_000);
  expect(world.source.counts()).toMatchObject({ streamed: 1 });
  world.source.close();
});

interface WorldOptions {
  /** The stream is neither node's, and there is no other. */
  readonly isOnlyStream?: boolean;
  readonly trusted?: number;
  readonly behind?: readonly bigint[];
  readonly comparisonsPerSecond?: number;
}

/** One vault, its stream, and nodes that may lie about it. The stream is that of node 0. */
async function startWorld(nodes: number, options: WorldOptions = {}) {
  const { trusted, behind = [], comparisonsPerSecond = 40, isOnlyStream = false } = options;
  let listener!: FeedListener;
  let slot = 1_000n;
  let order = 0;
  const balances = new Map<bigint, number>([[slot, 1_000]]);
  const lies = new Map<number, { readonly of: (balance: number) => number; readonly ahead: bigint }>();
  const silent = new Set<number>();
  const setAside: string[] = [];
  const at = (then: bigint): number => {
    for (let s = then; s >= 1_000n; s--) if (balances.has(s)) return balances.get(s)!;
    return 1_000;
  };
  const accountOf = (balance: number, of: bigint): Account => {
    const data = new Uint8Array(8);
    new DataView(data.buffer).setFloat64(0, balance);
    return { address: VAULT, owner: SYSTEM_PROGRAM, lamports: 1n, data, executable: false, slot: of };
  };
  const stateOf = (node: number): Account => {
    const then = slot - (behind[node] ?? 0n);
    const lie = lies.get(node);
    return lie === undefined ? accountOf(at(then), then) : accountOf(lie.of(at(then)), then + lie.ahead);
  };
  const world = {
    calls: 0,
    moveEverySlot: false,
    /** Every slot ends in another state than the nodes know of. */
    movesWithin: false,
    streamLies: undefined as ((balance: number) => number) | undefined,
  };
  const readerOf = (node: () => number, isCounted: boolean): AccountReader => ({
    async fetchAccounts(addresses) {
      if (isCounted) world.calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      const chosen = node();
      if (silent.has(chosen)) throw new Error("silent");
      const account = stateOf(chosen);
      return { slot: account.slot, accounts: addresses.map(() => account) };
    },
    fetchProgramAccounts: async () => "refused",
  });
  const witnesses: StateWitness[] = Array.from({ length: nodes }, (_, node) => ({
    name: `node ${node}`,
    reader: readerOf(() => node, true),
    isTrusted: node === trusted,
    setAside: () => {
      if (!setAside.includes(`node ${node}`)) setAside.push(`node ${node}`);
    },
  }));
  const feed: AccountFeed = {
    reportsEveryChange: isOnlyStream,
    listen(received) {
      listener = received;
    },
    follow: (addresses) => listener.onCovered(addresses, slot),
    unfollow: () => {},
    liveAtMs: () => Date.now(),
    liveTimes: () => () => Date.now(),
    leastLiveAtMs: () => Date.now(),
    readStamp: () => ({ epoch: 0, order: ++order }),
    doubt: () => !isOnlyStream,
    close: () => {},
  };
  const source: LiveStateSource = createStateSource({
    reader: readerOf(() => 0, false),
    ...{ feed, witnesses, comparisonsPerSecond, now: Date.now, warn: () => {}, headSlot: () => slot },
  });
  let known: Account | null | undefined;
  source.onAccount((_, account) => {
    known = account;
  });
  const beginSlot = () => {
    slot += 1n;
    listener.onSlot(slot, slot - 1n);
    listener.onRoot(slot - 32n);
    if (world.moveEverySlot) balances.set(slot, Number(slot));
    if (world.moveEverySlot) report(accountOf(world.streamLies?.(at(slot)) ?? at(slot), slot));
    if (world.movesWithin) report(accountOf(at(slot) + 0.5, slot));
  };
  const report = (account: Account) =>
    listener.onAccount({ address: VAULT, account, slot: account.slot, epoch: 0, order: ++order });
  beginSlot();
  const following = source.follow([VAULT]);
  await vi.advanceTimersByTimeAsync(50);
  await following;
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += SLOT_MS) {
      beginSlot();
      source.use([VAULT]);
      await vi.advanceTimersByTimeAsync(SLOT_MS);
    }
  };
  await pass(1_000);
  return Object.assign(world, {
    source,
    setAside,
    pass,
    balance: () => at(slot),
    known: () => (known ? new DataView(known.data.buffer).getFloat64(0) : undefined),
    lie(node: number, of: ((balance: number) => number) | undefined, ahead = 0n) {
      if (of === undefined) lies.delete(node);
      else lies.set(node, { of, ahead });
    },
    /** The stream is the first node's: it lies too. */
    reportLie(node: number) {
      if (node === 0) report(stateOf(0));
    },
    silence: (node: number) => void silent.add(node),
    /** The clock goes on, and this process does nothing: no timer fires, nothing is received. */
    standStill: (ms: number) => void vi.setSystemTime(Date.now() + ms),
  });
}
