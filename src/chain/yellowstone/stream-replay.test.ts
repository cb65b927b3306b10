import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { FeedListener } from "../state/account-feed.ts";
import { StreamReplay } from "./stream-replay.ts";

const ADDRESS = Address.from(new Uint8Array(32).fill(1));
const MIB = 1024 * 1024;
const listener = new Proxy({} as FeedListener, { get: () => () => {} });

function change(slot: number, data = new Uint8Array(8), address = ADDRESS) {
  const account = { address, owner: SYSTEM_PROGRAM, lamports: 1n, data, executable: false, slot: BigInt(slot) };
  return { address, account, slot: BigInt(slot), epoch: 1, order: 0 };
}

test("nothing is kept of slots that were not asked for", () => {
  const replay = new StreamReplay(100n, 132n, new Map());
  for (let slot = 1; slot <= 132; slot++) {
    replay.keepParent(BigInt(slot), BigInt(slot - 1));
    replay.keepChange(change(slot));
    replay.replace(BigInt(slot));
    replay.keepChange(change(slot));
  }
  expect(replay.passAll(new Map(), listener, new Set([ADDRESS]))).toBe(33);
});

test("a repetition that holds more than a chain writes is let go, and not accepted", () => {
  const replay = new StreamReplay(100n, 132n, new Map());
  const data = new Uint8Array(10 * MIB);
  const keep = (slot: number) => {
    for (let byte = 1; byte <= 51; byte++)
      replay.keepChange(change(slot, data, Address.from(new Uint8Array(32).fill(byte))));
  };
  // What is passed on, void or sent twice counts no more.
  keep(101);
  replay.pass(101n, new Map(), listener, new Set());
  keep(102);
  replay.replace(102n);
  keep(103);
  replay.drop(103n);
  keep(104);
  keep(104);
  expect(replay.lack(100n, new Map())).toBeUndefined();
  replay.keepChange(change(105, data));
  expect(replay.lack(100n, new Map())).toBe("it holds more than a chain writes");
  replay.keepChange(change(106));
  expect(replay.passAll(new Map(), listener, new Set())).toBe(0);
  expect(replay.again().lack(100n, new Map())).toBeUndefined();
});
