import { Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { type FakeNode, startFakeNode } from "../../../../test/support/fake-node.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";

let node: FakeNode;
let subscriptions: Subscriptions;
afterEach(async () => {
  subscriptions.close();
  await node.close();
});

async function start(
  silentMs = 3_600_000,
  more: { refusedMs?: number; warn?: (message: string) => void } = {},
): Promise<void> {
  node = await startFakeNode({});
  subscriptions = createSubscriptions({
    urls: [node.wsUrl],
    now: Date.now,
    random: Math.random,
    warn: () => {},
    silentMs,
    ...more,
  });
  await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
}

test("subscriptions start with the first slot and receive their notices", async () => {
  await start();
  const received: unknown[] = [];
  let activeFrom = 0n;
  subscriptions.subscribe({
    kind: "account",
    params: ["key"],
    onNotice: (result) => received.push(result),
    onActive: () => {
      activeFrom = subscriptions.lastSlot();
    },
  });
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await eventually(() => expect(activeFrom).toBe(5n));
  node.notify("account", { hello: 1 });
  await eventually(() => expect(received).toEqual([{ hello: 1 }]));
});

test("subscriptions of one turn go out in one write", async () => {
  await start();
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(5n));
  const writes = [vi.spyOn(Socket.prototype, "_write"), vi.spyOn(Socket.prototype, "_writev" as "_write")];
  try {
    const keys = Array.from({ length: 40 }, (_, i) => `key ${i}`);
    let active = 0;
    const onActive = () => void active++;
    const stops = keys.map((key) =>
      subscriptions.subscribe({ kind: "account", params: [key], onNotice: () => {}, onActive }),
    );
    await eventually(() => expect(active).toBe(40));
    for (const stop of stops) stop();
    await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
    // Other sockets in this process write as well: the fake node's and the test runner's.
    const port = Number(new URL(node.wsUrl).port);
    const ofClient = writes
      .flatMap(({ mock }) => mock.contexts as Socket[])
      .filter(({ remotePort }) => remotePort === port);
    expect(ofClient).toHaveLength(2);
  } finally {
    for (const write of writes) write.mockRestore();
  }
});

test("a lost connection is reported and reopened, and every subscription renewed", async () => {
  await start();
  let activations = 0;
  let losses = 0;
  subscriptions.onLost(() => {
    losses += 1;
  });
  subscriptions.subscribe({ kind: "account", params: ["key"], onNotice: () => {}, onActive: () => activations++ });
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await eventually(() => expect(activations).toBe(1));
  node.dropSockets();
  await eventually(() => expect(losses).toBe(1));
  await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
  node.notify("slot", { slot: 6, parent: 5, root: 0 });
  await eventually(() => expect(activations).toBe(2));
  expect(node.subscribed()).toEqual(["account", "slot"]);
});

test("a connection that stays open without a slot is replaced", async () => {
  await start(200);
  await eventually(() => expect(node.connections()).toBeGreaterThan(1));
});

test("a silent connection is dropped for a node that reports newer slots, and every subscription moves there", async () => {
  node = await startFakeNode({});
  const other = await startFakeNode({});
  const warnings: string[] = [];
  const urls = [node.wsUrl, other.wsUrl];
  subscriptions = createSubscriptions({
    urls,
    now: Date.now,
    random: Math.random,
    warn: (text) => warnings.push(text),
    silentMs: 200,
  });
  const activations: bigint[] = [];
  let losses = 0;
  subscriptions.onLost(() => {
    losses += 1;
  });
  subscriptions.subscribe({
    kind: "account",
    params: ["key"],
    onNotice: () => {},
    onActive: () => activations.push(subscriptions.lastSlot()),
  });
  await eventually(() => expect(node.subscribed()).toContain("slot"));
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await eventually(() => expect(activations.length).toBe(1));
  // Timers of one event loop: a busy machine delays both alike.
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
  }, 2_000);
  // The other node is behind at first: a chain that stands still is no reason to move.
  const pace = setInterval(() => other.notify("slot", { slot: 5, parent: 4, root: 0 }), 20);
  await eventually(() => expect(other.connections()).toBe(1));
  expect(isLate).toBe(false);
  clearTimeout(late);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(losses).toBe(0);
  clearInterval(pace);
  await eventually(() => {
    // Again and again: on a busy machine the first may meet a connection that is given up just then.
    other.notify("slot", { slot: 6, parent: 5, root: 0 });
    expect(other.subscribed()).toEqual(["account", "slot"]);
  });
  expect(losses).toBe(1);
  await eventually(() => expect(activations.length).toBe(2));
  expect(activations[1]).toBe(6n);
  await eventually(() => expect(node.subscribed()).toEqual([]));
  expect(warnings.filter((text) => text.startsWith("Subscriptions move"))).toHaveLength(1);
  subscriptions.close();
  await other.close();
});

test("a connection that recovers is kept, and the candidate dropped", async () => {
  await start(200);
  let losses = 0;
  subscriptions.onLost(() => {
    losses += 1;
  });
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await eventually(() => expect(node.connections()).toBe(2));
  node.notify("slot", { slot: 5, parent: 4, root: 0 });
  await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
  expect(losses).toBe(0);
});

test("a doubted connection is replaced by the next that reports a slot, even an older one", async () => {
  await start();
  node.notify("slot", { slot: 500, parent: 499, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(500n));
  subscriptions.doubt();
  await eventually(() => expect(node.subscribed()).toEqual(["slot", "slot"]));
  node.notify("slot", { slot: 7, parent: 6, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(7n));
  await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
});

test("a cancelled subscription is unsubscribed, even if the node had not accepted it yet", async () => {
  await start();
  node.notify("slot", { slot: 1, parent: 0, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(1n));
  const cancelEarly = subscriptions.subscribe({ kind: "account", params: ["a"], onNotice: () => {} });
  cancelEarly();
  const cancelLate = subscriptions.subscribe({ kind: "signature", params: ["b"], onNotice: () => {} });
  await eventually(() => expect(node.subscribed()).toEqual(["signature", "slot"]));
  cancelLate();
  await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
});

test("following again before the node has answered leaves a subscription that reports", async () => {
  await start();
  node.notify("slot", { slot: 1, parent: 0, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(1n));
  const received: unknown[] = [];
  let activations = 0;
  const request = {
    kind: "account",
    params: ["a"],
    onNotice: (result: unknown) => void received.push(result),
    onActive: () => void activations++,
  } as const;
  subscriptions.subscribe(request)();
  subscriptions.subscribe({ ...request });
  await eventually(() => expect(activations).toBe(1));
  // Whatever was unsubscribed has reached the node before this one was accepted.
  const probe = subscriptions.subscribe({
    kind: "account",
    params: ["b"],
    onNotice: () => {},
    onActive: () => probe(),
  });
  await eventually(() => expect(node.subscribed()).toEqual(["account", "slot"]));
  node.notify("account", { hello: 1 });
  await eventually(() => expect(received).toEqual([{ hello: 1 }]));
});

test("equal subscriptions share one at the node, which ends with the last of them", async () => {
  await start();
  node.notify("slot", { slot: 1, parent: 0, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(1n));
  const received: string[] = [];
  const activated: string[] = [];
  const subscribe = (name: string) =>
    subscriptions.subscribe({
      kind: "account",
      params: ["a"],
      onNotice: () => received.push(name),
      onActive: () => activated.push(name),
    });
  const cancelFirst = subscribe("first");
  await eventually(() => expect(activated).toEqual(["first"]));
  const cancelSecond = subscribe("second");
  await eventually(() => expect(activated).toEqual(["first", "second"]));
  cancelFirst();
  node.notify("account", {});
  await eventually(() => expect(received).toEqual(["second"]));
  cancelSecond();
  await eventually(() => expect(node.subscribed()).toEqual(["slot"]));
});

test("a malformed notice does no harm", async () => {
  await start();
  node.notify("slot", { slot: "many", parent: 7, root: 0 });
  node.notify("slot", { slot: 9, parent: 8, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(9n));
});

test("subscriptions that a full node refuses are asked for again on the same connection, and logged once", async () => {
  const warnings: string[] = [];
  await start(10_000, { refusedMs: 20, warn: (message) => void warnings.push(message) });
  node.notify("slot", { slot: 1, parent: 0, root: 0 });
  await eventually(() => expect(subscriptions.lastSlot()).toBe(1n));
  node.isFull = true;
  const active = new Set<string>();
  for (const key of ["a", "b", "c"])
    subscriptions.subscribe({
      kind: "account",
      params: [key],
      onNotice: () => {},
      onActive: () => void active.add(key),
    });
  await eventually(() => expect(warnings.length).toBe(1));
  expect(active.size).toBe(0);
  node.isFull = false;
  await eventually(() => expect([...active].sort()).toEqual(["a", "b", "c"]));
  expect(node.connections()).toBe(1);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("Too many subscriptions");
});
