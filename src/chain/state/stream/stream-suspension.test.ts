import { expect, it } from "vitest";
import { Address } from "../../../primitives/address.ts";
import { DoubtedAccounts } from "../compare/doubted-accounts.ts";
import { FollowedAccounts } from "../followed-accounts.ts";
import { SlotTree } from "../slots/slot-tree.ts";
import { StreamProgress } from "./stream-progress.ts";
import { StreamSuspension } from "./stream-suspension.ts";

function start() {
  const clock = { nowMs: 1_000_000 };
  const now = () => clock.nowMs;
  const tree = new SlotTree();
  const stream = new StreamProgress({
    tree,
    now,
    headSlot: () => 0n,
    slotByNodes: () => undefined,
    quietMs: 1,
    maxLagSlots: 1n,
    maxLeadSlots: 1n,
  });
  const followed = new FollowedAccounts(tree, now, true, () => 0);
  const suspension = new StreamSuspension({
    followed,
    stream,
    now,
    warn: () => {},
  });
  const pass = (ms: number) => {
    clock.nowMs += ms;
    suspension.tick();
    return suspension.isOn;
  };
  const doubted = new DoubtedAccounts({ followed, stream, now });
  return { suspension, doubted, followed, stream, clock, pass };
}

it("lasts twice as long each time a stream is wrong again, however long it was right in between", () => {
  const { suspension, pass } = start();
  for (const ms of [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_280_000, 2_560_000, 3_600_000]) {
    suspension.begin();
    expect(pass(ms - 1), `${ms}`).toBe(true);
    expect(pass(1)).toBe(false);
    pass(3_500_000);
  }
  pass(200_000);
  suspension.begin();
  expect(pass(10_000)).toBe(false);
});

it("starts again when the stream is wrong meanwhile", () => {
  const { suspension, pass } = start();
  suspension.begin();
  for (let i = 0; i < 10; i++) {
    expect(pass(9_000)).toBe(true);
    suspension.begin();
  }
  expect(pass(9_999)).toBe(true);
  expect(pass(1)).toBe(false);
});

it("covers accounts from the slot after the newest as it ends, as a doubt does: a part of the newest was discarded", () => {
  for (const kind of ["suspension", "doubt"]) {
    const { suspension, doubted, followed, stream, clock, pass } = start();
    const entry = followed.start(Address.from(new Uint8Array(32).fill(1)));
    entry.coveredFrom = 10n;
    stream.receive(12n);
    if (kind === "suspension") suspension.begin();
    else doubted.begin(entry);
    clock.nowMs += 10_000;
    pass(0);
    doubted.tick();
    expect(entry.coveredFrom, kind).toBe(13n);
  }
});
