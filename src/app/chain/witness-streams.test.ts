import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { type FakeNode, startFakeNode } from "../../../test/support/fake-node.ts";
import { SeldomWarnings } from "../../chain/rpc/subscriptions/seldom-warnings.ts";
import type { AccountFeed, AccountNotice } from "../../chain/state/account-feed.ts";
import { Address } from "../../primitives/address.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { witnessStreams } from "./witness-streams.ts";

const VAULT = Address.from(new Uint8Array(32).fill(7));

let node: FakeNode;
let feed: AccountFeed;
afterEach(async () => {
  feed.close();
  await node.close();
});

test("a node's stream reports the accounts it is asked for, and closes its connection", async () => {
  node = await startFakeNode({});
  const warn = () => {};
  const seldom = new SeldomWarnings(warn, Date.now);
  const context = { steadyMs: Date.now, random: Math.random, warn };
  const [source] = witnessStreams(context, { wsUrls: [node.wsUrl], seldom });
  expect(source!.host).toBe(new URL(node.url).host);
  expect(node.connections()).toBe(0);
  feed = source!.open();
  const covered: bigint[] = [];
  const notices: AccountNotice[] = [];
  const ignore = () => {};
  feed.listen({
    onAccount: (notice) => void notices.push(notice),
    onCovered: (_, fromSlot) => void covered.push(fromSlot),
    ...{ onSlot: ignore, onDead: ignore, onReplaced: ignore, onConfirmed: ignore },
    ...{ onRoot: ignore, onUncovered: ignore, onRestart: ignore },
  });
  feed.follow([VAULT]);
  await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await eventually(() => expect(covered).toEqual([5n]));
  const value = { lamports: 7, owner: SYSTEM_PROGRAM.toString(), data: ["", "base64"], executable: false };
  node.notify("account", { context: { slot: 6 }, value });
  await eventually(() => expect(notices).toHaveLength(1));
  expect(notices[0]).toMatchObject({ address: VAULT, slot: 6n, account: { lamports: 7n } });
  feed.close();
  await eventually(() => expect(node.subscribed()).toEqual([]));
});
