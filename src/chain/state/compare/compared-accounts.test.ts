import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import { FollowedAccounts } from "../followed-accounts.ts";
import { SlotTree } from "../slots/slot-tree.ts";
import { ComparedAccounts } from "./compared-accounts.ts";

test("accounts out of use are forgotten though no node could be asked, but not those that were opened", () => {
  let nowMs = 1_000;
  const now = () => nowMs;
  const followed = new FollowedAccounts(new SlotTree(), now, false, () => 0);
  const forgotten: Address[] = [];
  const accounts = new ComparedAccounts({
    ...{ followed, isComplete: false, now, random: () => 0 },
    onForgotten: ({ entry }) => forgotten.push(entry.address),
  });
  const [used, opened, current] = [1, 2, 3].map((byte) => followed.start(Address.from(new Uint8Array(32).fill(byte))));
  accounts.use(used!);
  accounts.open(opened!);
  nowMs += 10_001;
  accounts.use(current!);
  const asked = accounts.due().map(({ entry }) => entry.address);
  // Of the others, some are asked about along with them.
  expect(asked.slice(0, 2)).toEqual([opened!.address, current!.address]);
  expect(forgotten).toEqual([used!.address]);
});
