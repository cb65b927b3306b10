import { describe, expect, it, test } from "vitest";
import { parseRelays } from "./relay-config.ts";
import { createSenderPlan } from "./sender-plan.ts";

const ACCOUNT = "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5";
const OTHER = "HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe";
const floor = { url: "https://relay.example/api/v1/bundles/tip_floor" };
const relay = (more: object = {}) => ({
  name: "jito",
  url: "https://relay.example/api/v1/transactions",
  tipAccounts: [ACCOUNT, OTHER],
  leastTip: 1_000,
  levels: { faster: 2_000, fastest: 50_000 },
  ...more,
});
const parse = (...relays: object[]) => parseRelays(JSON.stringify(relays));

describe("relays in the settings", () => {
  it("are parsed with their defaults", () => {
    const [read] = parse(relay())!;
    expect(read).toMatchObject({ name: "jito", headers: {}, exclusive: false, repeats: false, perSecond: 1_000 });
    expect(read!.levels).toEqual({ faster: 2_000n, fastest: 50_000n });
  });

  it("may follow landed tips, with percentiles and caps by level", () => {
    const [read] = parse(
      relay({ tipFloor: { ...floor, percentiles: { faster: "ema50" }, caps: { fastest: 70_000 } } }),
    )!;
    expect(read!.tipFloor).toEqual({
      url: floor.url,
      percentiles: { economy: 25, fast: 50, faster: "ema50", fastest: 95 },
      caps: { faster: 20_000n, fastest: 70_000n },
    });
  });

  it("with revert protection are asked for it and get their transactions alone", () => {
    const [read] = parse(relay({ bundleOnly: true }))!;
    expect(read!.url).toBe("https://relay.example/api/v1/transactions?bundleOnly=true");
    expect(read!.exclusive).toBe(true);
  });

  it.each([
    ["no list", "{}"],
    ["no JSON", "[{"],
    ["an unknown field", JSON.stringify([relay({ tip: 5 })])],
    ["a name of its own nodes", JSON.stringify([relay({ name: "rpc-1" })])],
    ["the same name twice", JSON.stringify([relay(), relay()])],
    ["no URL", JSON.stringify([relay({ url: "relay.example" })])],
    ["another scheme", JSON.stringify([relay({ url: "ftp://relay.example" })])],
    ["a tip below the least", JSON.stringify([relay({ levels: { faster: 999 } })])],
    ["a tip above one SOL", JSON.stringify([relay({ levels: { faster: 1_000_000_001 } })])],
    ["a tip without an account", JSON.stringify([relay({ tipAccounts: [] })])],
    ["an unknown level", JSON.stringify([relay({ levels: { quick: 5_000 } })])],
    ["an invalid account", JSON.stringify([relay({ tipAccounts: ["abc"] })])],
    ["landed tips without a URL", JSON.stringify([relay({ tipFloor: {} })])],
    ["landed tips at no URL", JSON.stringify([relay({ tipFloor: { url: "tips" } })])],
    ["an unknown percentile", JSON.stringify([relay({ tipFloor: { ...floor, percentiles: { faster: 60 } } })])],
    ["a percentile of another level", JSON.stringify([relay({ tipFloor: { ...floor, percentiles: { fast: 50 } } })])],
    ["a cap below the tip", JSON.stringify([relay({ tipFloor: { ...floor, caps: { faster: 1_999 } } })])],
    ["a cap above one SOL", JSON.stringify([relay({ tipFloor: { ...floor, caps: { faster: 1_000_000_001 } } })])],
    ["an unknown field of landed tips", JSON.stringify([relay({ tipFloor: { ...floor, percentile: 50 } })])],
    ["landed tips without tip accounts", JSON.stringify([relay({ tipAccounts: [], levels: {}, tipFloor: floor })])],
    ["a header of two lines", JSON.stringify([relay({ headers: { a: "b\nc" } })])],
  ])("are refused with %s", (_name, text) => {
    expect(parseRelays(text)).toBeUndefined();
  });
});

test("a level uses the own nodes and its relays, with tips rotating through each relay's accounts", () => {
  const plan = createSenderPlan(
    parse(relay(), relay({ name: "staked", tipAccounts: [], leastTip: 0, levels: { fast: 0, faster: 0 } }))!,
  );
  expect(plan.choose("economy", 0)).toEqual({ senders: ["rpc"], tips: [] });
  expect(plan.choose("fast", 0)).toEqual({ senders: ["rpc", "staked"], tips: [] });
  const faster = [0, 1, 2].map((turn) => plan.choose("faster", turn));
  expect(faster[0]!.senders).toEqual(["rpc", "jito", "staked"]);
  expect(faster.map(({ tips }) => tips.map(({ to, lamports }) => [to.toString(), lamports]))).toEqual([
    [[ACCOUNT, 2_000n]],
    [[OTHER, 2_000n]],
    [[ACCOUNT, 2_000n]],
  ]);
});

test("an exclusive relay gets its transactions alone", () => {
  const plan = createSenderPlan(
    parse(relay(), relay({ name: "guarded", exclusive: true, levels: { fastest: 9_000 } }))!,
  );
  expect(plan.choose("fastest", 0).senders).toEqual(["guarded"]);
  expect(plan.choose("fastest", 0).tips).toHaveLength(1);
  expect(plan.choose("faster", 0).senders).toEqual(["rpc", "jito"]);
});

test("a tip follows landed tips between minimum and cap, and is as configured while they are unknown", () => {
  let landed: bigint | undefined;
  const asked: unknown[] = [];
  const lamports = (percentile: unknown) => {
    asked.push(percentile);
    return landed;
  };
  const plan = createSenderPlan(parse(relay({ tipFloor: floor }))!, new Map([[floor.url, { lamports }]]));
  const tipNow = () => plan.choose("faster", 0).tips[0]!.lamports;
  expect(tipNow()).toBe(2_000n);
  landed = 5_555n;
  expect(tipNow()).toBe(5_555n);
  landed = 0n;
  expect(tipNow()).toBe(1_000n);
  landed = 5_555_000n;
  expect(tipNow()).toBe(20_000n);
  expect(new Set(asked)).toEqual(new Set([75]));
});
