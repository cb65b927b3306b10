import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Address } from "../../src/primitives/address.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ SANDBOX_SLOT_MS: "400" });
});
afterAll(() => service?.close());

test("a warm build makes no RPC call and no database call, and awaits no promise", async () => {
  const client = await service.newClient(50);
  const tradedForSol = service.sandbox.world.tokens.filter(({ quoteMint }) => quoteMint === SOL_MINT);
  const requests = [...new Set(tradedForSol.map(({ mint }) => mint))].map(
    (mint): TradeRequest => ({
      principal: { accountId: "test", keyId: "test", wallet: Address.of(client.wallet.publicKey.toString()) },
      inMint: SOL_MINT,
      outMint: mint,
      mode: "exactIn",
      amount: 0.05,
      slippage: 0.05,
      priority: "fast",
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
    }),
  );
  const { trades } = service.app;
  for (const request of requests) await trades.build(request);
  for (const request of requests) await trades.build(request);

  const network = vi.spyOn(globalThis, "fetch");
  const database = [vi.spyOn(DatabaseSync.prototype, "prepare"), vi.spyOn(DatabaseSync.prototype, "exec")];
  try {
    for (let round = 0; round < 20; round++) {
      for (const request of requests) expect(trades.build(request)).not.toBeInstanceOf(Promise);
    }
    expect(network).not.toHaveBeenCalled();
    for (const call of database) expect(call).not.toHaveBeenCalled();
  } finally {
    vi.restoreAllMocks();
  }
});
