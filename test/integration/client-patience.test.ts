import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ SUBMIT_TIMEOUT_MS: "1000" });
});
afterAll(() => service?.close());

test("patience may be shorter than the time-out of a call, and need not be whole milliseconds", async () => {
  const client = await service.newClient();
  const mint = service.mintOn("raydium_cpmm");
  const built = await client.buildBuy({ mint, solAmount: 0.01, slippage: 0.1, priority: "fast" });
  const signed = await client.sign(built);
  const trade = await client.submit(built.submissionToken, signed, { patienceMs: 29_000.25, timeoutMs: 30_000.5 });
  expect(trade.status).toBe("confirmed");
  await client.ping({ timeoutMs: 9_999.9 });
});

test("a time-out of 0 is none: such a client pings, and its trades are decided", async () => {
  const client = await service.newClient(10, { timeoutMs: 0 });
  await client.ping();
  const order = { mint: service.mintOn("raydium_cpmm"), solAmount: 0.01, slippage: 0.1, priority: "fast" } as const;
  expect((await client.buy(order, { patienceMs: 29_000 })).status).toBe("confirmed");
});

test("the client waits for the end of a trade that the service reports as processed", async () => {
  const client = await service.newClient();
  const mint = service.mintOn("raydium_cpmm");
  const built = await client.buildBuy({ mint, solAmount: 0.01, slippage: 0.1, priority: "fast" });
  await service.sandbox.setDelays({ confirmedAfterSlots: 40, finalizedAfterSlots: 60 });
  const trade = await client.submit(built.submissionToken, await client.sign(built));
  expect(trade.status).toBe("confirmed");
  expect(trade.tradeResult).toBeDefined();
});
