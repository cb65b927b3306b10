import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startWorld, VAULT } from "../../../../test/support/compared-nodes.ts";
import { isWhole } from "../../../../test/support/whole.ts";

/** A lie may price builds for this long. Milliseconds. */
const DETECTED_MS = 2_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Lie = (balance: number, slot: bigint) => number;
type World = Awaited<ReturnType<typeof startWorld>>;

/** Lets the stream lie. @returns how many of the samples later than `detectedMs` a build would be priced on a lie, and refused */
async function lieFor(world: World, ms: number, lie: Lie, detectedMs = DETECTED_MS) {
  const start = Date.now();
  const counts = { wrong: 0, refused: 0, samples: 0 };
  world.streamLies = lie;
  world.onSample = () => {
    if (Date.now() < start + detectedMs) return;
    counts.samples += 1;
    if (world.source.contested().size > 0) counts.refused += 1;
    else if (world.known()! > 1_990) counts.wrong += 1;
  };
  await world.pass(ms);
  world.onSample = () => {};
  world.streamLies = undefined;
  return counts;
}

const lies: readonly (readonly [name: string, lie: Lie])[] = [
  ["in every slot", (balance) => balance * 2],
  ["in two of three slots", (balance, slot) => (slot % 3n === 0n ? balance : balance * 2)],
];

for (const moves of [true, false])
  for (const isOnlyStream of [true, false])
    test.each(lies)(
      `a WebSocket that lies %s about a vault that ${moves ? "moves" : "rests"}, with ${isOnlyStream ? "no" : "an"} other, prices nothing for longer than two seconds`,
      async (_, lie) => {
        const world = await startWorld(2, { isOnlyStream, isWebSocket: true });
        world.moveEverySlot = moves;
        await world.pass(1_000);
        const { wrong, refused, samples } = await lieFor(world, 60_000, lie);
        expect(wrong).toBe(0);
        // The nodes agree: trades go on.
        expect(refused).toBeLessThanOrEqual(samples / 50);
        // Once it is right again, it is believed again.
        if (isWhole || (moves && !isOnlyStream)) {
          await world.pass(310_000);
          expect(world.source.counts()).toMatchObject({ streamed: 1, contested: 0 });
          expect(world.known()).toBe(world.balance());
        }
        world.source.close();
      },
    );

/** A vault that changes in one of `every` slots, and the only stream of it, which has just begun to halve what it reports. */
async function startHalving({ every, phase, isWebSocket }: { every: bigint; phase: bigint; isWebSocket: boolean }) {
  const world = await startWorld(2, { isOnlyStream: true, isWebSocket });
  const restsIn = (slot: bigint) => slot % every !== phase;
  Object.assign(world, { moveEverySlot: true, liesInEverySlot: false, restsIn });
  await world.pass(4_000);
  world.streamLies = (balance) => balance / 2;
  while (world.known()! > 900) await world.pass(200);
  return { world, since: Date.now() };
}

test.each([2n, 3n, 4n, 5n, 7n, 11n])(
  "a complete stream that halves a vault that changes in one of %i slots, and nothing else, prices nothing for longer than two seconds",
  async (every) => {
    for (let phase = 0n; phase < every; phase++) {
      const { world, since } = await startHalving({ every, phase, isWebSocket: false });
      let last = 0;
      world.onSample = () => {
        expect(world.source.contested().size).toBe(0);
        if (world.known()! < 900) last = Date.now() - since;
      };
      const calls = world.calls;
      await world.pass(9_000);
      expect(last).toBeLessThan(1_700);
      // Within the stated budget: three to six a second, twice that while the account is doubted.
      expect(world.calls - calls).toBeLessThanOrEqual(12 * 9);
      world.source.close();
    }
  },
);

test.each([2n, 3n, 5n, 7n])(
  "a WebSocket that halves a vault that changes in one of %i slots prices nothing for longer than two seconds",
  async (every) => {
    for (let phase = 0n; phase < every; phase++) {
      const { world, since } = await startHalving({ every, phase, isWebSocket: true });
      let last = 0;
      world.onSample = () => {
        if (world.known()! < 900 && world.source.contested().size === 0) last = Date.now() - since;
      };
      await world.pass(9_000);
      expect([every, phase, last <= DETECTED_MS ? "in time" : last]).toEqual([every, phase, "in time"]);
      world.source.close();
    }
  },
);

test.each([0n, 2n])(
  "an honest stream is not left on the word of one node that names its states as those of slots later, by the other %i slots behind",
  async (behind) => {
    for (const every of [1n, 2n, 3n, 7n]) {
      const world = await startWorld(2, { isOnlyStream: true, behind: [behind, 0n] });
      Object.assign(world, { moveEverySlot: true, restsIn: (slot: bigint) => slot % every !== 0n });
      world.lie(1, (balance) => balance, 2n);
      await world.pass(20_000);
      expect([every, world.doubts]).toEqual([every, 0]);
      expect(world.source.counts().streamed).toBe(1);
      world.source.close();
    }
  },
);

test.each([
  [3n, 4n],
  [4n, 2n],
  [4n, 4n],
])(
  "a node that names true states as those of %i slots later, beside one %i slots behind, takes back no honest stream's changes",
  async (ahead, behind) => {
    for (const every of [3n, 4n, 6n])
      for (const seed of [6, 11]) {
        const world = await startWorld(2, { isOnlyStream: true, behind: [behind, 0n], seed });
        Object.assign(world, { moveEverySlot: true, restsIn: (slot: bigint) => slot % every !== 0n });
        world.lie(1, (balance) => balance, ahead);
        let [refused, samples] = [0, 0];
        world.onSample = () => {
          samples += 1;
          if (world.source.contested().size > 0) refused += 1;
        };
        await world.pass(20_000);
        expect([every, seed, world.doubts]).toEqual([every, seed, 0]);
        expect(refused).toBeLessThanOrEqual(samples / 2);
        world.source.close();
      }
  },
);

test.each([true, false])(
  "a lie in one of three slots is found out within ten seconds (WebSocket: %s)",
  async (isWebSocket) => {
    const world = await startWorld(2, { isOnlyStream: true, isWebSocket });
    world.moveEverySlot = true;
    await world.pass(1_000);
    const { wrong } = await lieFor(
      world,
      60_000,
      (balance, slot) => (slot % 3n === 0n ? balance * 2 : balance),
      10_000,
    );
    expect(wrong).toBe(0);
    world.source.close();
  },
);

test.each([1n, 2n])("a lie in one of three slots is found out by nodes that are %i slots apart", async (apart) => {
  for (const isWebSocket of [true, false]) {
    const world = await startWorld(2, { isOnlyStream: true, isWebSocket, behind: [0n, apart] });
    world.moveEverySlot = true;
    await world.pass(10_000);
    expect(world.source.counts()).toMatchObject({ streamed: 1, contradicted: 0 });
    const lie: Lie = (balance, slot) => (slot % 3n === 0n ? balance * 2 : balance);
    const { wrong } = await lieFor(world, 60_000, lie, 20_000);
    expect(wrong).toBe(0);
    world.source.close();
  }
});

test.each([0n, 1n, 2n])(
  "a complete stream that lies in one of so many slots, in step with the rounds too, is found out by nodes that are %i slots apart",
  async (apart) => {
    for (const every of [3n, 4n, 5n, 7n, 10n])
      for (const seed of [1, 2, 3]) {
        const world = await startWorld(2, { isOnlyStream: true, behind: [0n, apart], seed });
        world.moveEverySlot = true;
        await world.pass(3_000);
        const { calls } = world;
        const begunMs = Date.now();
        world.streamLies = (balance, slot) => (slot % every === 0n ? balance * 2 : balance);
        while (world.source.counts().contradicted === 0 && Date.now() - begunMs < 20_000) await world.pass(200);
        expect([every, seed, world.source.counts().contradicted]).toEqual([every, seed, 1]);
        // Three to seven calls a second, of two nodes.
        expect(world.calls - calls).toBeLessThanOrEqual((7 * (Date.now() - begunMs)) / 1_000 + 4);
        world.source.close();
      }
  },
);

test("a stream that lies again and again, and is right for a minute in between, is believed less and less", async () => {
  const world = await startWorld(2, { isOnlyStream: true });
  world.moveEverySlot = true;
  await world.pass(1_000);
  const believed: number[] = [];
  for (let lie = 0; lie < 15; lie++) {
    world.streamLies = (balance) => balance * 2;
    world.onSample = () => {
      if (world.known()! > world.balance() && believed.at(-1) !== lie) believed.push(lie);
    };
    await world.pass(5_000);
    world.streamLies = undefined;
    await world.pass(60_000);
  }
  expect(believed.length).toBeLessThanOrEqual(5);
  world.source.close();
});

test.each([true, false])(
  "what was read is not replaced by what the nodes agreed on before (WebSocket: %s)",
  async (isWebSocket) => {
    const world = await startWorld(2, { isOnlyStream: true, isWebSocket, comparisonsPerSecond: isWebSocket ? 4 : 8 });
    world.moveEverySlot = true;
    await world.pass(1_000);
    world.streamLies = (balance) => balance * 2;
    await world.pass(3_000);
    const begun: { readonly atMs: number; readonly balance: number }[] = [];
    const wrong: string[] = [];
    let before = 0;
    world.onSample = () => {
      if (world.balance() !== begun.at(-1)?.balance) begun.push({ atMs: Date.now(), balance: world.balance() });
      const known = world.known()!;
      expect(known).toBeLessThanOrEqual(world.balance());
      if (known < before) wrong.push(`${known} after ${before}`);
      before = known;
      const currentAtMs = world.source.currentAtMs(VAULT);
      const then = begun.findLast(({ atMs }) => atMs <= currentAtMs)?.balance ?? 0;
      if (known < then) wrong.push(`${known} for ${then}`);
    };
    await world.pass(20_000);
    expect(begun.length).toBe(100);
    expect(wrong).toEqual([]);
    world.source.close();
  },
);

test("an honest WebSocket is not left, and trades go on, though nodes answer from the middle of each slot", async () => {
  const world = await startWorld(2);
  world.moveEverySlot = true;
  world.movesWithin = true;
  const doubts = world.doubts;
  let refused = 0;
  world.onSample = () => {
    refused += world.source.contested().size;
  };
  await world.pass(30_000);
  expect([world.doubts - doubts, refused]).toEqual([0, 0]);
  world.source.close();
});
