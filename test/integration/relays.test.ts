import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type BuildEntry, type History, type SubmitEntry, Trader } from "../slow/faults/trader.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeRelay, startFakeRelay } from "../support/fake-relay.ts";
import { type FakeTipFloor, LANDED_TIPS, spike, startFakeTipFloor } from "../support/fake-tip-floor.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createTestWallet } from "../support/wallet.ts";

const TIP = 20_000;
const MINUTE_MS = 60_000;
const tipAccounts = [createTestWallet().address.toString(), createTestWallet().address.toString()];
const engineAccount = createTestWallet().address.toString();
const flooredAccount = createTestWallet().address.toString();
const FLOORED = { configured: 3_000n, cap: 50_000n };
const history: History = { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] };

/** How far the wall clock of the service is ahead. Milliseconds. */
let aheadMs = 0;
let relay: FakeRelay;
let engine: FakeRelay;
let floored: FakeRelay;
let tipFloor: FakeTipFloor;
let service: TestService;
let trader: Trader;

beforeAll(async () => {
  relay = await startFakeRelay();
  engine = await startFakeRelay();
  floored = await startFakeRelay();
  tipFloor = await startFakeTipFloor();
  service = await startTestService(
    {
      SUBMIT_TIMEOUT_MS: "1500",
      RELAYS: JSON.stringify([
        {
          name: "relay",
          url: `${relay.url}/send`,
          headers: { "x-key": "secret-of-the-relay" },
          tipAccounts,
          leastTip: 5_000,
          levels: { faster: TIP },
        },
        {
          name: "engine",
          url: `${engine.url}/api/v1/transactions`,
          bundleOnly: true,
          tipAccounts: [engineAccount],
          levels: { fastest: 1_000_000 },
        },
        {
          name: "floored",
          url: floored.url,
          tipAccounts: [flooredAccount],
          leastTip: 1_000,
          levels: { economy: Number(FLOORED.configured) },
          tipFloor: { url: tipFloor.url, percentiles: { economy: 75 }, caps: { economy: Number(FLOORED.cap) } },
        },
      ]),
    },
    { now: () => Date.now() + aheadMs },
  );
  engine.forwardTo = service.sandbox.rpcUrl;
  trader = new Trader(0xfee, history);
  for (const address of [trader.address, ...tipAccounts, engineAccount, flooredAccount])
    await service.rpc("requestAirdrop", [address, 5e9]);
  await trader.register(service.url);
});
afterAll(async () => {
  await service?.close();
  await relay?.close();
  await engine?.close();
  await floored?.close();
  await tipFloor?.close();
});
beforeEach(() => {
  relay.status = 200;
  relay.taken.length = 0;
  engine.taken.length = 0;
});

const order = (priority: string, more: object = {}) => ({
  path: "buy" as const,
  body: { mint: service.mintOn("raydium_cpmm", "USDC"), solAmount: 0.01, slippage: 0.1, priority, ...more },
});

const LANDED = /^(confirmed|finalized)$/;
const submit = (built: BuildEntry) => trader.submit({ name: "service", url: service.url }, built);

/** Submits until the trade has landed: on a busy machine that may take longer than one submit waits. */
async function submitToEnd(built: BuildEntry): Promise<SubmitEntry> {
  let entry = await submit(built);
  while (entry.data?.status === "processed" || entry.data?.status === "pending") entry = await submit(built);
  return entry;
}

async function trade(priority: string): Promise<{ built: BuildEntry; entry: SubmitEntry }> {
  const built = (await trader.build(service.url, order(priority)))!;
  return { built, entry: await submitToEnd(built) };
}

const balance = async (address: string) =>
  BigInt((await service.rpc<{ value: number }>("getBalance", [address])).value);

async function chargedFor(signature: string) {
  const record = await service.rpc<{
    meta: { fee: number; preBalances: number[]; postBalances: number[] };
    transaction: { message: { accountKeys: string[] } };
  }>("getTransaction", [signature, { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 1 }]);
  const { meta, transaction } = record;
  const gained = (address: string) => {
    const index = transaction.message.accountKeys.indexOf(address);
    return index < 0 ? 0 : meta.postBalances[index]! - meta.preBalances[index]!;
  };
  const tips = [...tipAccounts, engineAccount, flooredAccount].reduce((sum, address) => sum + gained(address), 0);
  return { fee: BigInt(meta.fee), tips: BigInt(tips) };
}

test.each(["economy", "fast", "faster", "fastest"])(
  "priorityCost of %s is what the chain charges, to the lamport",
  async (level) => {
    const { built, entry } = await trade(level);
    expect(entry.data?.status).toMatch(LANDED);
    const { fee, tips } = await chargedFor(entry.data!.signature);
    expect(BigInt(built.costs.baseFee) + BigInt(built.costs.priorityFee)).toBe(fee);
    expect(BigInt(built.costs.tip)).toBe(tips);
    expect(built.priorityCostLamports).toBe(fee - 5_000n + tips);
    expect(entry.data!.costs.tip).toBe(built.costs.tip);
    expect(entry.data!.tradeResult).toMatchObject({
      inputAmountRaw: built.estimates.inputAmountRaw,
      outputAmountRaw: built.estimates.outputAmountRaw,
    });
  },
);

test("the level of a relay carries its tip, and the relay receives the signed bytes with its headers", async () => {
  const { built } = await trade("faster");
  expect(built.costs.tip).toBe(`${TIP}`);
  expect(relay.taken[0]).toMatchObject({ path: "/send", transaction: built.signed });
  expect(relay.taken[0]!.headers["x-key"]).toBe("secret-of-the-relay");
  const other = await trade("fast");
  expect(other.built.costs.tip).toBe("0");
  expect(relay.taken.some(({ transaction }) => transaction === other.built.signed)).toBe(false);
});

test("tips go to the accounts of a relay in turn", async () => {
  const before = await Promise.all(tipAccounts.map(balance));
  for (let i = 0; i < 6; i++) await trade("faster");
  // What is confirmed becomes final.
  await service.sandbox.passSlots(40);
  const after = await Promise.all(tipAccounts.map(balance));
  const tips = after.map((lamports, i) => lamports - before[i]!);
  expect(tips[0]! + tips[1]!).toBeGreaterThanOrEqual(BigInt(6 * TIP));
  expect(tips.every((lamports) => lamports > 0n)).toBe(true);
});

test("a trade exclusive to a relay is sent nowhere else", async () => {
  engine.forwardTo = undefined;
  const built = (await trader.build(service.url, order("fastest")))!;
  const entry = await submit(built);
  expect(engine.taken[0]).toMatchObject({ path: "/api/v1/transactions?bundleOnly=true", transaction: built.signed });
  expect(entry.data?.status).toBe("pending");
  engine.forwardTo = service.sandbox.rpcUrl;
  const again = await submitToEnd(built);
  expect(again.data?.status).toMatch(LANDED);
});

test("a failing relay keeps no trade from landing", async () => {
  relay.status = 503;
  const { entry } = await trade("faster");
  expect(entry.data?.status).toMatch(LANDED);
});

test("maxPriorityCost includes tips", async () => {
  const refused = await trader.build(service.url, order("fastest", { maxPriorityCost: 0.0009 }));
  expect(refused).toBeUndefined();
  expect(history.refusedBuilds.at(-1)).toMatchObject({ status: 422, code: "PRIORITY_COST_TOO_HIGH" });
});

test("the price list contains tips and expected slots", async () => {
  const { body } = await service.call("/v1/priority");
  const levels = body.data!.levels as { priority: string; expectedCostRaw: string; expectedSlots: number }[];
  const costOf = (level: string) => BigInt(levels.find(({ priority }) => priority === level)!.expectedCostRaw);
  expect(costOf("faster")).toBeGreaterThan(BigInt(TIP));
  expect(costOf("fastest")).toBeGreaterThan(1_000_000n);
  for (const { expectedSlots } of levels) expect(expectedSlots).toBeGreaterThanOrEqual(1);
});

test("a tip that follows landed tips is in the trade, its price and its senders; a spike stops at the cap", async () => {
  const pricedAt = async () => {
    const { body } = await service.call("/v1/priority");
    const levels = body.data!.levels as { priority: string; expectedCostRaw: string }[];
    return BigInt(levels.find(({ priority }) => priority === "economy")!.expectedCostRaw);
  };
  const landed75 = BigInt(Math.ceil(LANDED_TIPS.landed_tips_75th_percentile * 1e9));
  const quiet = await pricedAt();
  const { built, entry } = await trade("economy");
  expect(entry.data?.status).toMatch(LANDED);
  expect(BigInt(built.costs.tip)).toBe(landed75);
  expect(built.priorityCostLamports).toBe(BigInt(built.costs.priorityFee) + landed75);
  expect(floored.taken.some(({ transaction }) => transaction === built.signed)).toBe(true);
  tipFloor.answer = JSON.stringify([spike(1_000)]);
  await eventually(async () => expect(await pricedAt()).toBe(quiet - landed75 + FLOORED.cap));
  const spiked = await trade("economy");
  const { tips } = await chargedFor(spiked.entry.data!.signature);
  expect(tips).toBe(FLOORED.cap);
  expect(BigInt(spiked.built.costs.tip)).toBe(FLOORED.cap);
});

// The last one: to the service, minutes pass in which it learns nothing of the chain.
test("a relay that refused is tried again ten minutes later, though the wall clock was set back by an hour", async () => {
  const sendersUp = async () => {
    const metrics = await (await fetch(`${service.app.admin.url}/metrics`)).text();
    return Number(/^tradewire_senders_up (\d+)$/m.exec(metrics)![1]);
  };
  relay.status = 403;
  await submit((await trader.build(service.url, order("faster")))!);
  await eventually(async () => expect(await sendersUp()).toBe(3));
  aheadMs = -60 * MINUTE_MS;
  expect(await sendersUp()).toBe(3);
  aheadMs = -49 * MINUTE_MS;
  expect(await sendersUp()).toBe(4);
});
