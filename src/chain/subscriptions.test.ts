import { afterEach, expect, test, vi } from "vitest";
import { type FakeNode, startFakeNode } from "../../test/support/fake-node.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";

let node: FakeNode;
let subscriptions: Subscriptions;
afterEach(async () => {
  subscriptions.close();
  await node.close();
});

async function start(silentMs = 10_000): Promise<void> {
  node = await startFakeNode({});
  subscriptions = createSubscriptions({ urls: [node.wsUrl], now: Date.now, warn: () => {}, silentMs });
  await vi.waitFor(() => expect(node.subscribed()).toEqual(["slot"]));
}

test("subscriptions begin with the first slot and hear their notices", async () => {
  await start();
  const heard: unknown[] = [];
  let activeFrom = 0n;
  subscriptions.subscribe({
    kind: "account",
    params: ["key"],
    onNotice: (result) => heard.push(result),
    onActive: () => {
      activeFrom = subscriptions.lastSlot();
    },
  });
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await vi.waitFor(() => expect(activeFrom).toBe(5n));
  node.notify("account", { hello: 1 });
  await vi.waitFor(() => expect(heard).toEqual([{ hello: 1 }]));
});

test("a lost connection is told of, made again, and everything subscribed to again", async () => {
  await start();
  let activations = 0;
  let losses = 0;
  subscriptions.onLost(() => {
    losses += 1;
  });
  subscriptions.subscribe({ kind: "account", params: ["key"], onNotice: () => {}, onActive: () => activations++ });
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await vi.waitFor(() => expect(activations).toBe(1));
  node.dropSockets();
  await vi.waitFor(() => expect(losses).toBe(1));
  await vi.waitFor(() => expect(node.subscribed()).toEqual(["slot"]));
  node.notify("slot", { slot: 6, parent: 5, root: 0 });
  await vi.waitFor(() => expect(activations).toBe(2));
  expect(node.subscribed()).toEqual(["account", "slot"]);
});

test("a connection that stays open without a slot is replaced", async () => {
  await start(200);
  await vi.waitFor(() => expect(node.connections()).toBeGreaterThan(1), 3_000);
});

test("what is cancelled is unsubscribed, also when the node had not yet accepted it", async () => {
  await start();
  node.notify("slot", { slot: 1, parent: 0, root: 0 });
  await vi.waitFor(() => expect(subscriptions.lastSlot()).toBe(1n));
  const cancelEarly = subscriptions.subscribe({ kind: "account", params: ["a"], onNotice: () => {} });
  cancelEarly();
  const cancelLate = subscriptions.subscribe({ kind: "signature", params: ["b"], onNotice: () => {} });
  await vi.waitFor(() => expect(node.subscribed()).toEqual(["signature", "slot"]));
  cancelLate();
  await vi.waitFor(() => expect(node.subscribed()).toEqual(["slot"]));
});

test("a notice that cannot be read harms nothing", async () => {
  await start();
  node.notify("slot", { slot: "many", parent: 7, root: 0 });
  node.notify("slot", { slot: 9, parent: 8, root: 0 });
  await vi.waitFor(() => expect(subscriptions.lastSlot()).toBe(9n));
});
