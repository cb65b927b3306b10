import bs58 from "bs58";
import { beforeEach, expect, test } from "vitest";
import { type FakeEndpoint, fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { NodeError } from "../rpc/node-error.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { BlockHeights } from "./block-heights.ts";

/** Slots between two counts. */
const PERIOD = 25;
const BLOCKS = 150;
let slot: number;
let skipped: number;
let doubted: string[];
let warnings: string[];

beforeEach(() => {
  slot = 10_000;
  skipped = 100;
  doubted = [];
  warnings = [];
});

interface NodeOptions {
  /** By how many slots it counts too many as skipped. */
  wrong?: () => number;
  /** Added to the last valid height of its blockhash alone. */
  more?: () => number;
  lag?: number;
}

function node(name: string, { wrong = () => 0, more = () => 0, lag = 0 }: NodeOptions = {}): FakeEndpoint {
  const height = () => slot - lag - skipped - wrong();
  const node = fakeEndpoint(
    {
      getLatestBlockhash: () => ({
        context: { slot: slot - lag },
        value: { blockhash: bs58.encode(new Uint8Array(32)), lastValidBlockHeight: height() + BLOCKS + more() },
      }),
      getEpochInfo: () => ({ absoluteSlot: slot - lag, blockHeight: height() }),
    },
    name,
  );
  return { ...node, doubt: () => void doubted.push(name) };
}

async function heightsOf(endpoints: readonly FakeEndpoint[], trusted?: FakeEndpoint): Promise<BlockHeights> {
  const pool = createRpcPool({ endpoints, now: () => 0, warn: () => {} });
  const heights = new BlockHeights({ pool, trusted, warn: (line) => void warnings.push(line) });
  await heights.locate();
  return heights;
}

async function pass(heights: BlockHeights, periods: number, skippedInEach = 1): Promise<void> {
  for (let i = 0; i < periods; i++) {
    slot += PERIOD;
    skipped += skippedInEach;
    await heights.refresh((at) => at + 50n < BigInt(slot)).catch(() => {});
  }
}

/** True if a new blockhash with that last valid height, off by so many blocks, is believed. */
const isBelieved = (heights: BlockHeights, off: number) =>
  heights.fits({
    blockhash: new Uint8Array(32),
    slot: BigInt(slot),
    lastValidBlockHeight: BigInt(slot - skipped + BLOCKS + off),
  });

test.each([
  ["two", () => [node("b")]],
  ["three", () => [node("b"), node("c")]],
])("of %s nodes one that counts more and more slots as skipped moves no height", async (_, others) => {
  let wrong = 0;
  const heights = await heightsOf([node("liar", { wrong: () => wrong }), ...others()]);
  for (let i = 0; i < 200; i++) {
    wrong += 20;
    await pass(heights, 1);
  }
  expect(heights.at(BigInt(slot))).toBe(BigInt(slot - skipped));
  expect([isBelieved(heights, 0), isBelieved(heights, -20), isBelieved(heights, 20)]).toEqual([true, false, false]);
  expect(new Set(doubted)).toEqual(new Set(["liar"]));
});

test("of three nodes, or of two with one trusted, one that counts no slot as skipped moves no height either", async () => {
  const from = skipped;
  const liar = () => node("liar", { wrong: () => from - skipped });
  const trusted = node("trusted");
  for (const heights of [
    await heightsOf([liar(), node("b"), node("c")]),
    await heightsOf([liar(), trusted], trusted),
  ]) {
    await pass(heights, 200);
    expect(heights.at(BigInt(slot))).toBe(BigInt(slot - skipped));
  }
});

test.each([
  ["fewer and fewer slots as skipped", (heights: number) => -8 * heights, false],
  ["more and more while the other is away once", (heights: number) => 30 * heights, true],
])("of two nodes one that counts %s never has the other's word refused", async (_, lieOf, isAwayOnce) => {
  let wrong = 0;
  const honest = node("honest");
  const heights = await heightsOf([node("liar", { wrong: () => wrong }), honest]);
  for (let i = 1; i <= 50; i++) {
    wrong = lieOf(i);
    const { getEpochInfo } = honest.methods;
    if (isAwayOnce && i === 1)
      honest.methods.getEpochInfo = () => {
        throw new NodeError("unreachable", "away");
      };
    await pass(heights, 1);
    honest.methods.getEpochInfo = getEpochInfo!;
    expect(isBelieved(heights, 0)).toBe(true);
    expect(Math.abs(Number(heights.at(BigInt(slot))) - (slot - skipped))).toBeLessThanOrEqual(64);
  }
  expect(doubted).not.toContain("honest");
});

test("one of two keeps its say however long the other is away, also while half of all slots are skipped", async () => {
  const away = node("away");
  const heights = await heightsOf([node("honest"), away]);
  delete away.methods.getEpochInfo;
  await pass(heights, 200, 13);
  expect([isBelieved(heights, 0), heights.at(BigInt(slot))]).toEqual([true, BigInt(slot - skipped)]);
  expect(doubted).toEqual([]);
});

test.each([0, 1])(
  "of two nodes that contradict each other at the start neither is doubted, and both are named (place %i)",
  async (place) => {
    const liar = { isWrong: true };
    const nodes = [node("honest")];
    nodes.splice(place, 0, node("liar", { wrong: () => (liar.isWrong ? -90 : 0) }));
    const heights = await heightsOf(nodes);
    await pass(heights, 20);
    await heights.locate();
    expect(doubted).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/block height \((honest 9900, liar 9990|liar 9990, honest 9900)\)/),
    ]);
    liar.isWrong = false;
    await heights.locate();
    await pass(heights, 20);
    expect(heights.at(BigInt(slot))).toBe(BigInt(slot - skipped));
    expect(warnings).toHaveLength(1);
  },
);

test.each([
  ["no skipped slots", 0],
  ["every second slot skipped", 13],
  ["nothing but skipped slots", PERIOD],
])("honest nodes in step, one behind, or all away for a while keep their say with %s", async (_, skippedInEach) => {
  const nodes = [node("a"), node("b"), node("behind", { lag: 9 })];
  const heights = await heightsOf(nodes);
  await pass(heights, 20, skippedInEach);
  expect(isBelieved(heights, 0)).toBe(true);
  const answers = nodes.map(({ methods }) => ({ ...methods }));
  for (const { methods } of nodes) delete methods.getEpochInfo;
  slot += 1_000;
  skipped += 100;
  expect(isBelieved(heights, 0)).toBe(true);
  nodes.forEach(({ methods }, i) => void Object.assign(methods, answers[i]));
  await pass(heights, 1, skippedInEach);
  expect(Number(heights.at(BigInt(slot))) - (slot - skipped)).toBeLessThanOrEqual(9);
  // The one behind names the newest count with an older slot.
  expect(doubted.filter((name) => name !== "behind")).toEqual([]);
});

test.each([
  [0, -100],
  [1, -100],
  [0, 100],
  [1, 100],
])(
  "of two nodes at the start, one whose blockhash lives for another time is not believed (place %i, %i blocks)",
  async (place, more) => {
    const nodes = [node("honest")];
    nodes.splice(place, 0, node("liar", { more: () => more }));
    const heights = await heightsOf(nodes);
    expect([isBelieved(heights, 0), isBelieved(heights, more)]).toEqual([true, false]);
    await heights.locate();
    expect([isBelieved(heights, 0), isBelieved(heights, more)]).toEqual([true, false]);
  },
);

test("what one node alone said at the start about the life of blockhashes counts no more once two say otherwise", async () => {
  const isAway = { away: true };
  const other = node("other");
  const { getLatestBlockhash } = other.methods;
  other.methods.getLatestBlockhash = (params) => {
    if (isAway.away) throw new NodeError("unreachable", "away");
    return getLatestBlockhash!(params);
  };
  const liar = { more: -100 };
  const heights = await heightsOf([node("liar", { more: () => liar.more }), other]);
  expect(isBelieved(heights, 0)).toBe(false);
  // Alone, a node cannot take back what was known: it may have begun to lie.
  liar.more = 0;
  await expect(heights.locate()).rejects.toMatchObject({ kind: "malformed" });
  isAway.away = false;
  // Two decide anew, as at the start, even if they contradict each other.
  liar.more = 200;
  await heights.locate();
  expect([isBelieved(heights, 0), isBelieved(heights, -100)]).toEqual([true, false]);
});
