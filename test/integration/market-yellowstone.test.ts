import { afterAll, beforeAll, expect, test } from "vitest";
import { asAccount, asContext } from "../../src/chain/rpc/rpc-values.ts";
import { createSubscriptions, type Subscriptions } from "../../src/chain/rpc/subscriptions.ts";
import { SLOT_STATUS } from "../../src/chain/yellowstone/yellowstone-wire.ts";
import { Address } from "../../src/primitives/address.ts";
import { eventually } from "../support/eventually.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { startYellowstoneServer, type YellowstoneServer } from "../support/yellowstone-server.ts";

let server: YellowstoneServer;
let service: TestService;
let subscriptions: Subscriptions;
let bridging: NodeJS.Timeout;
let streamed = 0;

beforeAll(async () => {
  server = await startYellowstoneServer();
  service = await startTestService({
    YELLOWSTONE_URL: server.url,
    YELLOWSTONE_TOKEN: "token",
    SANDBOX_SLOT_MS: "200",
  });
  bridge(service.sandbox.wsUrl);
});
afterAll(async () => {
  clearInterval(bridging);
  subscriptions?.close();
  await service?.close();
  await server?.close();
});

/** Feeds the stream from the embedded chain's WebSocket, with the accounts requested of it. */
function bridge(wsUrl: string): void {
  const followed = new Set<string>();
  subscriptions = createSubscriptions({ urls: [wsUrl], now: Date.now, random: Math.random, warn: () => {} });
  subscriptions.onSlot((slot, { parent, root }) => {
    server.emit({ kind: "slot", slot: Number(slot), status: SLOT_STATUS.firstShredReceived });
    server.emit({ kind: "slot", slot: Number(slot), parent: Number(parent), status: SLOT_STATUS.createdBank });
    server.emit({ kind: "slot", slot: Number(root), status: SLOT_STATUS.finalized });
  });
  const follow = (text: string) => {
    const address = Address.of(text);
    subscriptions.subscribe({
      kind: "account",
      params: [text, { encoding: "base64", commitment: "processed" }],
      onNotice(result) {
        const { slot, value } = asContext(result, "an account notice");
        const account = asAccount(address, value, slot);
        streamed += 1;
        server.emit({
          kind: "account",
          slot: Number(slot),
          address,
          lamports: Number(account?.lamports ?? 0n),
          owner: account?.owner,
          data: account?.data ?? new Uint8Array(),
          writeVersion: streamed,
        });
      },
    });
  };
  bridging = setInterval(() => {
    for (const filter of Object.values(server.requests.at(-1)?.accounts ?? {})) {
      for (const text of filter.account) {
        if (followed.has(text)) continue;
        followed.add(text);
        follow(text);
      }
    }
  }, 5);
}

test("the service runs on the stream: consecutive trades end in their estimates", async () => {
  const client = await service.newClient(20);
  const mint = service.mintOn("raydium_cpmm");
  const order = { mint, solAmount: 0.1, slippage: 0.05, priority: "fast" as const };
  await client.buildBuy(order);
  await eventually(() => expect(server.requests.at(-1)?.accounts).toBeDefined());
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const before = streamed;
  for (let round = 0; round < 3; round++) {
    const built = await client.buildBuy(order);
    const trade = await client.submit(built.submissionToken, await client.sign(built));
    expect(trade.tradeResult!.outputAmountRaw).toBe(built.estimates!.outputAmountRaw);
  }
  expect(streamed).toBeGreaterThan(before + 6);
  expect(new Set(server.tokens)).toEqual(new Set(["token"]));
  const metrics = await (await fetch(`${service.app.admin.url}/metrics`)).text();
  const metricOf = (name: string) => Number(new RegExp(`^tradewire_${name} (.*)$`, "m").exec(metrics)?.[1]);
  expect(metricOf("accounts_streamed")).toBeGreaterThan(5);
  expect(metricOf("state_updates_total")).toBeGreaterThan(6);
  expect(metricOf("state_gaps_total")).toBe(0);
  expect(metricOf("state_audit_differences_total")).toBe(0);
});
