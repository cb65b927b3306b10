import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import type { AccountFeed } from "../account-feed.ts";
import { FollowedAccounts } from "../followed-accounts.ts";
import { SlotTree } from "../slots/slot-tree.ts";
import { StreamProgress } from "../stream/stream-progress.ts";
import { ReadPlan } from "./read-plan.ts";

function planning(count: number) {
  const tree = new SlotTree();
  const now = () => 1_000_000;
  const followed = new FollowedAccounts(tree, now, true, () => 0);
  const entries = Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(32);
    new DataView(bytes.buffer).setUint32(0, i + 1);
    return followed.start(Address.from(bytes));
  });
  const stream = new StreamProgress({
    ...{
      tree,
      now,
      headSlot: () => 0n,
      slotByNodes: () => undefined,
      quietMs: 1_000,
      maxLagSlots: 10n,
      maxLeadSlots: 64n,
    },
  });
  const feed = { leastLiveAtMs: () => 0, liveAtMs: () => 0 } as unknown as AccountFeed;
  const plan = new ReadPlan({
    ...{ followed, feed, stream, now, pollMs: 400, refreshMs: 10_000, verifyMs: 800, quietMs: 1_000 },
  });
  return { followed, entries, plan };
}

test("an account that depends on reads, is quiet, old and in use is planned once", () => {
  const { followed, entries, plan } = planning(30);
  for (const entry of entries.slice(10)) followed.trust(entry);
  for (const entry of entries) plan.use(entry, 1_000_000);
  for (let poll = 0; poll < 2; poll++) {
    const due = plan.due();
    expect(due).toHaveLength(30);
    expect(new Set(due)).toEqual(new Set(entries));
  }
});
