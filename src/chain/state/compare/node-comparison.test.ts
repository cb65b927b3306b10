import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startWorld, VAULT } from "../../../../test/support/compared-nodes.ts";

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

  test("costs no honest node its word, though it comes back to what it held and the nodes are slots apart", async () => {
    for (const isWebSocket of [false, true]) {
      // Times at which one node is asked in even slots alone and the others in odd ones are among these.
      for (let seed = 1; seed <= 24; seed++) {
        const world = await startWorld(3, { behind: [0n, 1n, 2n], isWebSocket, seed });
        world.moveEverySlot = world.comesBack = true;
        await world.pass(10_000);
        expect([seed, world.setAside, world.source.contested().size]).toEqual([seed, [], 0]);
        world.source.close();
      }
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
  // Ten seconds after its last lie.
  await world.pass(13_000);
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
