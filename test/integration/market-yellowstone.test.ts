import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { bridgeYellowstone, type YellowstoneBridge } from "../support/yellowstone-bridge.ts";
import { startYellowstoneServer, type YellowstoneServer } from "../support/yellowstone-server.ts";

let server: YellowstoneServer;
let service: TestService;
let bridge: YellowstoneBridge;

beforeAll(async () => {
  server = await startYellowstoneServer();
  service = await startTestService({
    YELLOWSTONE_URL: server.url,
    YELLOWSTONE_TOKEN: "token",
    SANDBOX_SLOT_MS: "200",
  });
  bridge = bridgeYellowstone(server, service.sandbox.wsUrl);
});
afterAll(async () => {
  bridge?.close();
  await service?.close();
  await server?.close();
});

test("the service runs on the stream: consecutive trades end in their estimates", async () => {
  const client = await service.newClient(20);
  const mint = service.mintOn("raydium_cpmm");
  const order = { mint, solAmount: 0.1, slippage: 0.05, priority: "fast" as const };
  await client.buildBuy(order);
  await eventually(() => expect(server.requests.at(-1)?.accounts).toBeDefined());
  const metricOf = async (name: string) => {
    const metrics = await (await fetch(`${service.app.admin.url}/metrics`)).text();
    return Number(new RegExp(`^tradewire_${name} (.*)$`, "m").exec(metrics)?.[1]);
  };
  await eventually(async () => expect(await metricOf("accounts_streamed")).toBeGreaterThan(5));
  const before = bridge.changes;
  for (let round = 0; round < 3; round++) {
    const built = await client.buildBuy(order);
    const trade = await client.submit(built.submissionToken, await client.sign(built));
    expect(trade.tradeResult!.outputAmountRaw).toBe(built.estimates!.outputAmountRaw);
  }
  expect(bridge.changes).toBeGreaterThan(before + 6);
  expect(new Set(server.tokens)).toEqual(new Set(["token"]));
  expect(await metricOf("accounts_streamed")).toBeGreaterThan(5);
  expect(await metricOf("state_updates_total")).toBeGreaterThan(6);
  expect(await metricOf("state_gaps_total")).toBe(0);
  expect(await metricOf("state_audit_differences_total")).toBe(0);
});
