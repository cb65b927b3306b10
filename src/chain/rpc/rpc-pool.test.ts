import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { isUncertain } from "../port.ts";
import { NodeError } from "./node-error.ts";
import { createRpcPool } from "./rpc-pool.ts";

const down = () => {
  throw new NodeError("unreachable", "down");
};

test("the next endpoint is asked when one fails", async () => {
  const first = fakeEndpoint({ ask: down });
  const second = fakeEndpoint({ ask: () => "here" });
  const pool = createRpcPool({ endpoints: [first, second], now: Date.now, warn: () => {} });
  expect(await pool.read("ask", [])).toBe("here");
});

test("an answer that is too large casts doubt on its endpoint only if another one gives a proper answer", async () => {
  const oversized = () => {
    throw new NodeError("oversized", "too large");
  };
  const doubts: string[] = [];
  const large = (name: string) => ({ ...fakeEndpoint({ ask: oversized }), doubt: () => doubts.push(name) });
  const options = { now: Date.now, warn: () => {} };
  const all = createRpcPool({ endpoints: [large("first"), large("second")], ...options });
  await expect(all.read("ask", [])).rejects.toMatchObject({ kind: "oversized" });
  expect(doubts).toEqual([]);
  const word = async (endpoints: Parameters<typeof createRpcPool>[0]["endpoints"]) =>
    isUncertain(
      await createRpcPool({ endpoints, ...options })
        .read("ask", [])
        .catch((error: unknown) => error),
    );
  expect(await word([large("first")])).toBe(false);
  expect(await word([large("first"), large("second")])).toBe(false);
  expect(await word([large("first"), fakeEndpoint({ ask: down })])).toBe(true);
  const one = createRpcPool({ endpoints: [large("first"), fakeEndpoint({ ask: () => "here" })], ...options });
  expect(await one.read("ask", [])).toBe("here");
  expect(doubts).toEqual(["first"]);
});

test("an endpoint that cools down is asked last", async () => {
  const first = { ...fakeEndpoint({ ask: () => "first" }), isCooling: () => true };
  const second = fakeEndpoint({ ask: () => "second" });
  const pool = createRpcPool({ endpoints: [first, second], now: Date.now, warn: () => {} });
  expect(await pool.read("ask", [])).toBe("second");
});

test("a refused method is not called again for a while, with one warning", async () => {
  let time = 0;
  const warnings: string[] = [];
  const only = fakeEndpoint({});
  const pool = createRpcPool({
    endpoints: [only],
    now: () => time,
    warn: (text) => warnings.push(text),
    refusalMs: 1_000,
  });
  for (let i = 0; i < 3; i++) await expect(pool.read("ask", [])).rejects.toMatchObject({ kind: "refused" });
  expect(only.calls.length).toBe(1);
  expect(warnings.length).toBe(1);
  time = 2_000;
  await expect(pool.read("ask", [])).rejects.toMatchObject({ kind: "refused" });
  expect(only.calls.length).toBe(2);
});

test("a method that the only node has served and then refuses is asked again a second later, then less and less often", async () => {
  let time = 0;
  let isRefusing = false;
  const refused = () => {
    throw new NodeError("refused", "HTTP 403");
  };
  const only = fakeEndpoint({ ask: () => (isRefusing ? refused() : "here") });
  const pool = createRpcPool({ endpoints: [only], now: () => time, warn: () => {} });
  for (const ask of [() => pool.read("ask", []), () => pool.ask(only, "ask", [])]) {
    isRefusing = false;
    expect(await ask()).toBe("here");
    isRefusing = true;
    const asked = only.calls.length;
    for (const end = time + 60_000; time < end; time += 100)
      await expect(ask()).rejects.toMatchObject({ kind: "refused" });
    expect(only.calls.length - asked).toBe(6);
    isRefusing = false;
    time += 4_000;
    expect(await ask()).toBe("here");
    time += 600_000;
  }
});

test("a method of which a node serves some calls and refuses others is asked for less and less often, too", async () => {
  let time = 0;
  const refused = () => {
    throw new NodeError("refused", "excluded from account secondary indexes");
  };
  const only = fakeEndpoint({ ask: (what: string) => (what === "served" ? "here" : refused()) });
  const warnings: string[] = [];
  const pool = createRpcPool({ endpoints: [only], now: () => time, warn: (text) => warnings.push(text) });
  for (; time < 600_000; time += 1_000)
    for (const what of ["served", "other"]) await pool.read("ask", [what]).catch(() => {});
  expect(warnings.length).toBe(10);
});

test("a read of one endpoint asks no other, and shares its known refusals", async () => {
  const warnings: string[] = [];
  const endpoints = [fakeEndpoint({}), fakeEndpoint({ ask: () => "second" })] as const;
  const pool = createRpcPool({ endpoints, now: () => 0, warn: (text) => warnings.push(text) });
  await expect(pool.read("ask", [], { only: endpoints[0] })).rejects.toMatchObject({ kind: "refused" });
  await expect(pool.read("ask", [], { only: endpoints[0], startAt: 1 })).rejects.toMatchObject({ kind: "refused" });
  await expect(pool.ask(endpoints[0], "ask", [])).rejects.toMatchObject({ kind: "refused" });
  expect(await pool.read("ask", [])).toBe("second");
  expect(endpoints.map(({ calls }) => calls.length)).toEqual([1, 1]);
  expect(warnings).toHaveLength(1);
  expect(await pool.read("ask", [], { only: endpoints[1] })).toBe("second");
});

test("an endpoint that is slow is not waited for alone", async () => {
  const mute = fakeEndpoint({ ask: () => new Promise(() => {}) });
  const second = fakeEndpoint({ ask: () => "second" });
  const third = fakeEndpoint({ ask: () => "third" });
  const pool = createRpcPool({ endpoints: [mute, second, third], now: Date.now, warn: () => {}, hedgeMs: 20 });
  expect(await pool.read("ask", [])).toBe("second");
  expect(third.calls.length).toBe(0);
});

test("a slow endpoint's late answer still counts when the others fail", async () => {
  const slow = fakeEndpoint({ ask: () => new Promise((resolve) => setTimeout(resolve, 60, "late")) });
  const pool = createRpcPool({
    endpoints: [slow, fakeEndpoint({ ask: down })],
    now: Date.now,
    warn: () => {},
    hedgeMs: 10,
  });
  expect(await pool.read("ask", [])).toBe("late");
});

test("a lacking answer is returned only if no other endpoint improves on it", async () => {
  const blank = fakeEndpoint({ ask: () => null });
  const full = fakeEndpoint({ ask: () => 7 });
  const isLacking = (result: unknown) => result === null;
  const both = createRpcPool({ endpoints: [blank, full], now: Date.now, warn: () => {} });
  expect(await both.read("ask", [], { isLacking })).toBe(7);
  const broken = createRpcPool({ endpoints: [blank, fakeEndpoint({ ask: down })], now: Date.now, warn: () => {} });
  expect(await broken.read("ask", [], { isLacking })).toBe(null);
});

test("the start moves the first one asked", async () => {
  const endpoints = [0, 1, 2].map((number) => fakeEndpoint({ ask: () => number }));
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  expect(await pool.read("ask", [], { startAt: 4 })).toBe(1);
});
