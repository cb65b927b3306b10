import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { type RpcProxy, startRpcProxy } from "../slow/faults/rpc-proxy.ts";
import { startTestService, type TestService } from "../support/service.ts";

/** Calls a second that docs/mainnet.md promises at rest, and what live accounts of a few pairs add. */
const AT_REST = 3.5;
const LIVE = 2;

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let proxy: RpcProxy;
let service: TestService;
/** Moves the service's clock ahead, past the time after which it is at rest. */
let aheadMs = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
  proxy = await startRpcProxy(sandbox);
  const environment = { SOLANA_RPC_URL: proxy.url, SOLANA_WS_URL: proxy.wsUrl };
  service = await startTestService(environment, { now: () => Date.now() + aheadMs });
});
afterAll(async () => {
  await service?.close();
  await proxy?.close();
  await sandbox?.close();
});

const total = () => [...proxy.calls.values()].reduce((sum, count) => sum + count, 0);

/** Calls over some seconds. A busy machine makes fewer, never more. */
async function callsIn(seconds: number): Promise<number> {
  const before = total();
  await sleep(seconds * 1_000);
  return total() - before;
}

it("a fresh service makes about three calls a second, and so does one that has traded", async () => {
  aheadMs += 15_000;
  await sleep(1_500);
  expect(await callsIn(5)).toBeLessThanOrEqual(5 * AT_REST);
  const client = await service.newClient();
  for (const { mint } of sandbox.world.tokens.slice(0, 4))
    await client.buildBuy({ mint: mint.toString(), solAmount: 0.1, slippage: 0.05, priority: "fast" }).catch(() => {});
  aheadMs += 15_000;
  await sleep(2_500);
  expect(await callsIn(5)).toBeLessThanOrEqual(5 * (AT_REST + LIVE));
});
