import { afterAll, beforeAll, expect, test } from "vitest";
import { TradeError } from "../../src/client/trade-error.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { startTestService, type TestService } from "../support/service.ts";

/** What a chain does to its users without any node being wrong: leaders that are absent, and transactions that none of them gets. */
let service: TestService;
let client: Tradewire;
beforeAll(async () => {
  service = await startTestService();
  client = await service.newClient();
});
afterAll(() => service?.close());

const BLOCKHASH_BLOCKS = 150;
const build = () =>
  client.buildBuy({ mint: service.mintOn("raydium_cpmm", "EMBER"), solAmount: 0.1, slippage: 0.05, priority: "fast" });

test("a trade lands exactly across slots without a block", async () => {
  const built = await build();
  const signed = await client.sign(built);
  await service.sandbox.skipSlots(4);
  const trade = await client.submit(built.submissionToken, signed);
  expect(trade.tradeResult!.outputAmountRaw).toBe(built.estimates!.outputAmountRaw);
});

test("a trade that a node took and no leader got lands with a later broadcast", async () => {
  const built = await build();
  const signed = await client.sign(built);
  await service.sandbox.setDrops(true);
  const submitted = client.submit(built.submissionToken, signed);
  await service.sandbox.passSlots(8);
  await service.sandbox.setDrops(false);
  const trade = await submitted;
  expect(trade.tradeResult!.outputAmountRaw).toBe(built.estimates!.outputAmountRaw);
});

test("one that no leader ever gets is proven expired", async () => {
  const built = await build();
  const signed = await client.sign(built);
  await service.sandbox.setDrops(true);
  const submitted = client.submit(built.submissionToken, signed).catch((error: unknown) => error);
  await service.sandbox.advanceSlots(2 * BLOCKHASH_BLOCKS);
  const error = await submitted;
  await service.sandbox.setDrops(false);
  expect(error).toBeInstanceOf(TradeError);
  expect(error).toMatchObject({ code: "TX_EXPIRED", safeToRebuild: true });
});
