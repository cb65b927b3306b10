import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startWorld, VAULT } from "../../../../test/support/compared-nodes.ts";
import { Address } from "../../../primitives/address.ts";
import type { AccountFeed, FeedListener } from "../account-feed.ts";
import { FollowedAccounts } from "../followed-accounts.ts";
import { SlotTree } from "../slots/slot-tree.ts";
import { StreamProgress } from "../stream/stream-progress.ts";
import { AccountObservations } from "./account-observations.ts";
import { ComparedStreams } from "./compared-streams.ts";

/** A lie may price builds for this long. Milliseconds. */
const DETECTED_MS = 2_000;
const LIE_MS = 30_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type World = Awaited<ReturnType<typeof startWorld>>;

/** Samples for so long. @returns how many there were, how many were refused, and how many held a lie longer than allowed after its first sample */
async function sampleFor(world: World, ms: number) {
  let firstMs: number | undefined;
  const counts = { late: 0, refused: 0, samples: 0 };
  world.onSample = () => {
    counts.samples += 1;
    const isLie = world.known()! > 1_990;
    if (isLie) firstMs ??= Date.now();
    if (world.source.contested().size > 0) counts.refused += 1;
    else if (isLie && Date.now() >= firstMs! + DETECTED_MS) counts.late += 1;
  };
  await world.pass(ms);
  world.onSample = () => {};
  return counts;
}

describe.each([true, false])("with the stream of another node beside it (WebSocket: %s)", (isWebSocket) => {
  for (const witnessBehind of [0n, 3n])
    for (const moves of [true, false])
      test.each([1n, 2n, 3n, 5n, 7n, 10n])(
        `a stream that lies in one of %i slots about a vault that ${moves ? "moves" : "rests"} prices nothing for longer than two seconds, the other ${witnessBehind} slots behind`,
        async (every) => {
          for (const apart of [0n, 1n]) {
            const options = { isOnlyStream: true, isWebSocket, witnessBehind, behind: [0n, apart] };
            const world = await startWorld(2, options);
            world.moveEverySlot = moves;
            await world.pass(3_000);
            expect(world.source.counts()).toMatchObject({ streamed: 1, contradicted: 0 });
            world.streamLies = (balance, slot) => (slot % every === every / 2n ? balance * 2 : balance);
            const { late, refused, samples } = await sampleFor(world, LIE_MS);
            expect([every, apart, late]).toEqual([every, apart, 0]);
            // Trades go on: nodes that are slots apart take a while to agree on what moves.
            expect(refused).toBeLessThanOrEqual(samples / (apart === 0n ? 50 : 20));
            world.source.close();
          }
        },
      );

  test.each(
    [true, false].flatMap((moves) =>
      [2n, 3n].flatMap((behind) => [2n, 5n, 10n].map((every) => [every, moves, behind] as const)),
    ),
  )(
    "at the pace of mainnet, a stream that lies in one of %i slots is found out in time (the vault moves: %s), the other %i slots behind",
    async (every, moves, witnessBehind) => {
      for (let phase = 0n; phase < every; phase++) {
        const world = await startWorld(2, { isOnlyStream: true, isWebSocket, witnessBehind, slotMs: 400 });
        world.moveEverySlot = moves;
        await world.pass(3_000);
        world.streamLies = (balance, slot) => (slot % every === phase ? balance * 2 : balance);
        const { late, refused } = await sampleFor(world, LIE_MS);
        expect([every, phase, late, refused]).toEqual([every, phase, 0, 0]);
        world.source.close();
      }
    },
  );

  test.each([
    [2, 1n],
    [2, 3n],
    [3, 1n],
    [3, 3n],
  ])(
    "an honest stream beside one of %i nodes whose stream lies in one of %i slots is not left, and trades go on",
    async (nodes, every) => {
      const world = await startWorld(nodes, { isWebSocket, witnessBehind: 0n, behind: [0n, 0n, 1n] });
      world.moveEverySlot = true;
      await world.pass(3_000);
      const { doubts } = world;
      world.witnessLies = (balance, slot) => (slot % every === 0n ? balance * 2 : balance);
      let old = 0;
      world.onSample = () => {
        if (world.balance() - world.known()! > 4) old += 1;
        expect(world.known()).toBeLessThanOrEqual(world.balance());
        expect(world.source.contested().size).toBe(0);
        expect(Date.now() - world.source.currentAtMs(VAULT)).toBeLessThan(1_500);
      };
      await world.pass(LIE_MS);
      expect([world.doubts, old]).toEqual([doubts, 0]);
      expect(world.warnings).toContain(
        "The WebSocket of node 1 contradicts most Solana nodes; nothing is compared with it for 10 s.",
      );
      world.source.close();
    },
  );

  test.each([0n, 1n, 3n])(
    "honest streams never contradict each other, though the other is %i slots behind, late, or silent for a while",
    async (witnessBehind) => {
      for (const rests of [1n, 3n, 7n]) {
        const world = await startWorld(2, { isOnlyStream: true, isWebSocket, witnessBehind, behind: [0n, 1n] });
        const restsIn = (slot: bigint) => slot % rests !== 0n;
        Object.assign(world, { moveEverySlot: true, liesInEverySlot: false, restsIn });
        await world.pass(10_000);
        world.witnessStops = true;
        await world.pass(2_000);
        world.witnessStops = false;
        world.standStill(3_000);
        await world.pass(10_000);
        expect([rests, world.source.counts()]).toMatchObject([rests, { contradicted: 0, contested: 0, streamed: 1 }]);
        world.source.close();
      }
    },
  );

  test.each(["streamStops", "witnessStops"] as const)(
    "honest streams never contradict each other, though one goes on at once, and changes come after the slots (%s)",
    async (stops) => {
      for (const stopMs of [1_000, 2_000, 4_000]) {
        const world = await startWorld(2, { isOnlyStream: true, isWebSocket, witnessBehind: 0n });
        Object.assign(world, { moveEverySlot: true, noticesLateMs: 120, restsIn: (slot: bigint) => slot % 3n !== 0n });
        await world.pass(10_000);
        world[stops] = true;
        await world.pass(stopMs);
        world[stops] = false;
        await world.pass(10_000);
        expect([stopMs, world.source.counts()]).toMatchObject([stopMs, { contradicted: 0, contested: 0, streamed: 1 }]);
        world.source.close();
      }
    },
  );

  test("what both streams agreed on is current up to the slot that they contradict each other about, however many nodes have come to it", async () => {
    const world = await startWorld(2, { isOnlyStream: true, isWebSocket, witnessBehind: 0n, nodesBehind: 8n });
    await world.pass(12_000);
    const heldUpToMs: number[] = [];
    world.onSample = () => {
      if (world.known() === 1_000 && world.source.counts().contradicted > 0)
        heldUpToMs.push(world.source.currentAtMs(VAULT));
    };
    const changedAtMs = Date.now();
    Object.assign(world, { moveEverySlot: true, leavesOut: () => true });
    for (const node of [0, 1]) world.silence(node);
    await world.pass(3_000);
    expect(Math.max(...heldUpToMs)).toBe(changedAtMs);
    world.source.close();
  });

  test.each(["leavesOut", "witnessLeavesOut"] as const)(
    "a change that one of the streams leaves out is known within two seconds, and trades go on (%s)",
    async (leavesOut) => {
      const world = await startWorld(2, { isOnlyStream: true, isWebSocket, witnessBehind: 0n });
      Object.assign(world, { moveEverySlot: true, restsIn: (slot: bigint) => slot % 50n !== 0n });
      await world.pass(12_000);
      world[leavesOut] = (slot) => slot % 50n === 0n;
      let changed = { balance: 0, atMs: 0 };
      world.onSample = () => {
        if (changed.balance !== world.balance()) changed = { balance: world.balance(), atMs: Date.now() };
        if (Date.now() >= changed.atMs + DETECTED_MS) expect(world.known()).toBe(changed.balance);
        expect(world.source.contested().size).toBe(0);
      };
      await world.pass(LIE_MS);
      expect(world.source.counts().contradicted).toBeGreaterThan(0);
      world.source.close();
    },
  );
});

test("so many accounts are compared and no more, and each call compares a part of what a stream names at once", () => {
  const now = () => Date.now();
  const tree = new SlotTree();
  const followed = new FollowedAccounts(tree, now, true, () => 0);
  const slots = {
    headSlot: () => 0n,
    slotByNodes: () => undefined,
    quietMs: 1_000,
    maxLagSlots: 10n,
    maxLeadSlots: 64n,
  };
  const stream = new StreamProgress({ tree, now, ...slots });
  const asked = new Set<Address>();
  let witness!: FeedListener;
  const feed: AccountFeed = {
    reportsEveryChange: false,
    listen: (listener) => {
      witness = listener;
    },
    follow: (addresses) => {
      for (const address of addresses) asked.add(address);
      witness.onCovered(addresses, 1_000n);
    },
    unfollow: (addresses) => {
      for (const address of addresses) asked.delete(address);
    },
    ...{ liveAtMs: now, liveTimes: () => now, leastLiveAtMs: now, readStamp: () => ({ epoch: 0, order: 0 }) },
    ...{ doubt: () => false, close: () => {} },
  };
  let contradicted = 0;
  const streams = new ComparedStreams({
    sources: [{ host: "node 1", open: () => feed }],
    ...{ followedHost: () => "node 0", tree, stream, now, warn: () => {}, needed: () => 2 },
    onContradiction: () => {
      contradicted += 1;
    },
  });
  const entries = Array.from({ length: 600 }, (_, i) => {
    const bytes = new Uint8Array(32).fill(9);
    new DataView(bytes.buffer).setUint32(0, i);
    const entry = followed.start(Address.from(bytes));
    entry.coveredFrom = 1_000n;
    return entry;
  });
  const observed = entries.map((entry) => new AccountObservations(entry, false));
  for (const one of observed) streams.follow(one);
  streams.tick();
  expect(asked.size).toBe(500);
  for (const one of observed.slice(0, 200)) streams.unfollow(one);
  expect(asked.size).toBe(300);
  for (const one of observed) streams.follow(one);
  expect(asked.size).toBe(500);
  const changeOf = (address: Address, slot: bigint, lamports: bigint, size = 0) => {
    const account = { address, owner: address, lamports, data: new Uint8Array(size), executable: false, slot };
    return { address, account, slot, epoch: 0, order: 0 };
  };
  for (let slot = 1_001n; slot <= 1_032n; slot++)
    for (const address of asked) {
      streams.note(changeOf(address, slot, 1n));
      witness.onAccount(changeOf(address, slot, 2n));
    }
  stream.receive(1_040n);
  witness.onSlot(1_040n, 1_039n);
  vi.advanceTimersByTime(150);
  streams.tick();
  expect(contradicted).toBeGreaterThan(1_000);
  expect(contradicted).toBeLessThanOrEqual(2_100);
  for (let calls = 0; calls < 10; calls++) streams.tick();
  expect(contradicted).toBe(500 * 32);
  // What is too large to be a market's is not kept.
  const [address] = asked;
  streams.note(changeOf(address!, 1_033n, 1n, 65 * 1024));
  witness.onAccount(changeOf(address!, 1_033n, 2n, 65 * 1024));
  streams.tick();
  expect(contradicted).toBe(500 * 32);
  streams.clear();
});
