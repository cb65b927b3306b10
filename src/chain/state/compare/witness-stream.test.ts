import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import type { AccountFeed, FeedListener } from "../account-feed.ts";
import { WitnessStream } from "./witness-stream.ts";

const VAULT = Address.from(new Uint8Array(32).fill(7));

/** A witness among three nodes, on a clock of the test's own. */
function openWitness() {
  const world = {
    nowMs: 1_000_000,
    followed: "a" as string | undefined,
    open: [] as string[],
    asked: 0,
    lost: 0,
    listener: undefined as FeedListener | undefined,
  };
  const sourceOf = (host: string) => ({
    host,
    open(): AccountFeed {
      world.open.push(host);
      return {
        reportsEveryChange: false,
        listen: (listener) => {
          world.listener = listener;
        },
        follow: (addresses) => {
          world.asked += addresses.length;
        },
        unfollow: (addresses) => {
          world.asked -= addresses.length;
        },
        ...{ liveAtMs: () => 0, liveTimes: () => () => 0, leastLiveAtMs: () => 0 },
        ...{ readStamp: () => ({ epoch: 0, order: 0 }), doubt: () => false },
        close: () => {
          world.open.splice(world.open.indexOf(host), 1);
          world.asked = 0;
        },
      };
    },
  });
  const witness = new WitnessStream({
    sources: ["a", "b", "c"].map(sourceOf),
    followedHost: () => world.followed,
    now: () => world.nowMs,
    warn: () => {},
    onNotice: () => {},
    onLost: () => {
      world.lost += 1;
    },
  });
  /** The stream reports slots meanwhile, or nothing. */
  const pass = (ms: number, isSilent = false) => {
    for (let passed = 0; passed < ms; passed += 100) {
      world.nowMs += 100;
      if (!isSilent) world.listener?.onSlot(BigInt(world.nowMs), BigInt(world.nowMs - 100));
      witness.tick();
    }
  };
  return { world, witness, pass };
}

test("is open while there are accounts to compare, to another node than the one followed", () => {
  const { world, witness, pass } = openWitness();
  pass(500);
  expect(world.open).toEqual([]);
  witness.follow(VAULT);
  pass(100);
  expect([world.open, world.asked]).toEqual([["b"], 1]);
  world.followed = "b";
  pass(100);
  expect([world.open, world.asked]).toEqual([["c"], 1]);
  world.followed = undefined;
  pass(60_000);
  expect([world.open, world.asked]).toEqual([["c"], 1]);
  witness.unfollow(VAULT);
  pass(100);
  expect(world.open).toEqual([]);
});

test("a node that is silent or outvoted is left, for longer each time, and without another nothing is compared", () => {
  const { world, witness, pass } = openWitness();
  witness.follow(VAULT);
  pass(100);
  pass(5_100, true);
  expect(world.open).toEqual(["c"]);
  pass(1_000);
  witness.leave();
  expect(world.open).toEqual([]);
  pass(10_000);
  expect(world.open).toEqual(["b"]);
  pass(1_000);
  expect(world.open).toEqual(["b"]);
  witness.leave();
  pass(100);
  expect(world.open).toEqual(["c"]);
  witness.leave();
  pass(19_000);
  expect(world.open).toEqual([]);
  pass(1_000);
  expect(world.open).toHaveLength(1);
});

test("covers an account only from its own slot on, and on no other connection", () => {
  const { world, witness, pass } = openWitness();
  witness.follow(VAULT);
  pass(100);
  expect(witness.covers(VAULT, 200n)).toBe(false);
  const first = world.listener!;
  first.onCovered([VAULT], 100n);
  expect([witness.covers(VAULT, 100n), witness.covers(VAULT, 101n)]).toEqual([false, true]);
  first.onUncovered(undefined);
  expect(witness.covers(VAULT, 200n)).toBe(false);
  world.followed = "b";
  pass(100);
  first.onCovered([VAULT], 100n);
  expect(witness.covers(VAULT, 200n)).toBe(false);
  expect(witness.slot).toBe(0n);
  witness.close();
  expect(world.open).toEqual([]);
});

test("what it has reported of a slot is complete some time after the next one began, however many begin at once", () => {
  const { world, witness } = openWitness();
  witness.follow(VAULT);
  witness.tick();
  const begin = (slot: bigint, atMs: number) => {
    world.nowMs = 2_000_000 + atMs;
    world.listener!.onSlot(slot, slot - 1n);
  };
  const settledAt = (atMs: number) => {
    world.nowMs = 2_000_000 + atMs;
    return witness.settledSlot;
  };
  expect(settledAt(0)).toBeLessThan(1n);
  begin(10n, 0);
  begin(11n, 400);
  expect([settledAt(400), settledAt(549), settledAt(550)]).toEqual([9n, 9n, 10n]);
  // Slot 12 is skipped.
  begin(13n, 1_200);
  expect([settledAt(1_200), settledAt(1_350)]).toEqual([10n, 12n]);
  for (const slot of [14n, 15n, 16n, 17n]) begin(slot, 2_000 + Number(slot));
  expect([settledAt(2_050), settledAt(2_164), settledAt(2_166), settledAt(2_167)]).toEqual([12n, 13n, 15n, 16n]);
  world.listener!.onUncovered(undefined);
  expect(settledAt(9_000)).toBeLessThan(1n);
});
