import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { Landing, LandingOutcome, TransactionRecord } from "../../../chain/port.ts";
import type { SubmittedTrade } from "../../trade.ts";
import { AttemptProgress } from "./attempt-progress.ts";
import { Broadcast } from "./broadcast.ts";

/** A broadcast of several signatures, and how to end each. */
function broadcastOf(...signatures: readonly string[]) {
  const ends = new Map<string, (outcome: LandingOutcome) => void>();
  const land: Landing["land"] = ({ signature }) => new Promise((resolve) => ends.set(signature, resolve));
  const dropped: string[] = [];
  const drop = (signature: string) => void dropped.push(signature);
  const progress = new AttemptProgress({ status: "pending" } as SubmittedTrade, () => 0);
  const terms = { lastValidBlockHeight: 1n, senders: [] };
  const broadcast = new Broadcast({ land, drop } as Landing, () => 0, terms, progress);
  for (const signature of signatures) broadcast.add(signature, new Uint8Array(1));
  return {
    broadcast,
    dropped,
    sent: () => [...ends.keys()],
    end: (signature: string, kind: "pending" | "expired") => ends.get(signature)!({ kind }),
    land(signature: string, landing: LandingOutcome) {
      ends.get(signature)!(landing);
      ends.delete(signature);
    },
  };
}

test.each([
  ["first", "second"],
  ["second", "first"],
])(
  "a message is undecided while any of its signatures is: the %s ended so, then the %s expired",
  async (one, other) => {
    const { broadcast, end } = broadcastOf("first", "second");
    const landing = broadcast.land();
    await new Promise(setImmediate);
    end(one, "pending");
    await new Promise(setImmediate);
    end(other, "expired");
    expect(await landing).toEqual({ signature: one, landing: { kind: "pending" } });
  },
);

test("a message has expired once all its signatures have", async () => {
  const { broadcast, end } = broadcastOf("first", "second");
  const landing = broadcast.land();
  await new Promise(setImmediate);
  end("second", "expired");
  end("first", "expired");
  expect(await landing).toEqual({ signature: "first", landing: { kind: "expired" } });
});

test("a signature is sent in the turn in which that begins, one that has to be stored first not before it is", async () => {
  const { broadcast, sent } = broadcastOf("first");
  const stored = Promise.withResolvers<void>();
  broadcast.add("second", new Uint8Array(1), stored.promise);
  void broadcast.land();
  expect(sent()).toEqual(["first"]);
  await new Promise(setImmediate);
  expect(sent()).toEqual(["first"]);
  stored.resolve();
  await new Promise(setImmediate);
  expect(sent()).toEqual(["first", "second"]);
});

test("a broadcast that has ended keeps nothing of the record that ended it", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { broadcast, land } = broadcastOf("first");
  const endWith = async (): Promise<WeakRef<object>> => {
    const landing = broadcast.land();
    land("first", { kind: "landed", record: {} as TransactionRecord, witnesses: 1 });
    const { landing: ended } = await landing;
    return new WeakRef(ended);
  };
  const ended = await endWith();
  await new Promise(setImmediate);
  collect();
  expect(ended.deref()).toBeUndefined();
  expect(broadcast.signatures).toEqual(["first"]);
});

test("once a signature has landed no other is sent any more, not even one that was being stored", async () => {
  const { broadcast, dropped, sent, land } = broadcastOf("first", "second");
  const stored = Promise.withResolvers<void>();
  broadcast.add("third", new Uint8Array(1), stored.promise);
  const landing = broadcast.land();
  await new Promise(setImmediate);
  land("second", { kind: "landed", record: {} as TransactionRecord, witnesses: 1 });
  expect(await landing).toMatchObject({ signature: "second" });
  expect(dropped).toContain("first");
  stored.resolve();
  await new Promise(setImmediate);
  expect(sent()).not.toContain("third");
});
