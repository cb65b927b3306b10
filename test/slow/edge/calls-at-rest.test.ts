import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { type RpcProxy, startRpcProxy } from "../faults/rpc-proxy.ts";
import { followPace } from "../validator/chain-pace.ts";
import { JudgeLedger } from "../validator/ledger.ts";

/** Most calls a second, as docs/mainnet.md states them: at rest, while trading, and at rest with live accounts. */
const MOST = { fresh: 3.5, trading: 10, rested: 4 };
/** Silence of the chain after which live accounts are polled, and the calls a second that adds. */
const QUIET_MS = 1_000;
const POLLS = 2.5;

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let proxy: RpcProxy;
let service: TestService;
/** Moves the service's clock ahead, past the time after which it is at rest. */
let aheadMs = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
  proxy = await startRpcProxy(sandbox);
  const environment = { SOLANA_RPC_URL: proxy.url, SOLANA_WS_URL: proxy.wsUrl, SHADOW_EXECUTION: "guard" };
  service = await startTestService(environment, { now: () => Date.now() + aheadMs });
});
afterAll(async () => {
  await service?.close();
  await proxy?.close();
  await sandbox?.close();
});

const total = () => [...proxy.calls.values()].reduce((sum, count) => sum + count, 0);
const subscribed = () =>
  [...proxy.calls].reduce((sum, [method, n]) => (/[sS]ubscribe$/.test(method) ? sum + n : sum), 0);

/** Calls a second over some seconds, and the most there may be. A busy machine makes fewer, unless its chain stands still. */
async function callsIn(state: keyof typeof MOST, seconds: number, during: () => Promise<unknown> = async () => {}) {
  const before = total() - subscribed();
  const startedMs = performance.now();
  const pace = followPace(new JudgeLedger(sandbox.rpcUrl));
  await Promise.all([during(), sleep(seconds * 1_000)]).finally(() => pace.stop());
  const rate = ((total() - subscribed() - before) * 1_000) / (performance.now() - startedMs);
  return { rate, most: MOST[state] + (state !== "fresh" && pace.longestMs() > QUIET_MS ? POLLS : 0) };
}

it("calls a second are as documented: of a fresh service, of one that trades, and of one at rest after it", async () => {
  aheadMs += 15_000;
  await sleep(1_500);
  const fresh = await callsIn("fresh", 8);
  expect(fresh.rate).toBeLessThanOrEqual(fresh.most);
  const client = await service.newClient();
  const mints = sandbox.world.tokens.slice(0, 8).map(({ mint }) => mint.toString());
  const buildAll = async () => {
    for (const mint of mints)
      await client.buildBuy({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" }).catch(() => {});
  };
  // Searches of the first builds are not repeated soon.
  await buildAll();
  await sleep(2_500);
  const endMs = performance.now() + 5_000;
  const trading = await callsIn("trading", 5, async () => {
    while (performance.now() < endMs) await Promise.all([buildAll(), sleep(500)]);
  });
  expect(trading.rate).toBeLessThanOrEqual(trading.most);
  aheadMs += 15_000;
  await sleep(2_500);
  const rested = await callsIn("rested", 5);
  expect(rested.rate).toBeLessThanOrEqual(rested.most);
});
