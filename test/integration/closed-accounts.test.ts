import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { startTestService, type TestService } from "../support/service.ts";

const CALLERS = 4;
const ROUNDS = 3;
let sandbox: PacedSandbox;
let service: TestService;

/** Two nodes, which are compared with each other. */
beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: 200 });
  const { port } = new URL(sandbox.rpcUrl);
  const ws = new URL(sandbox.wsUrl).port;
  service = await startTestService({
    SOLANA_RPC_URLS: `http://127.0.0.1:${port},http://localhost:${port}`,
    SOLANA_WS_URLS: `ws://127.0.0.1:${ws},ws://localhost:${ws}`,
  });
});
afterAll(async () => {
  await service?.close();
  await sandbox?.close();
});

test("a token account that a sale has closed is opened again by the buy that follows at once", async () => {
  const tokens = sandbox.world.tokens.filter(
    ({ venue, quoteMint }) => venue === "raydium_cpmm" && quoteMint === SOL_MINT,
  );
  const rounds = Array.from({ length: CALLERS }, async (_, caller) => {
    const client = await service.newClient(0);
    await fund(`${client.wallet.publicKey}`);
    const order = { mint: `${tokens[caller % tokens.length]!.mint}`, slippage: 0.2, priority: "fast" } as const;
    // Between two readings of the nodes, at a place of its own.
    await sleep(caller * 37);
    for (let round = 0; round < ROUNDS; round++) {
      const bought = await client.buy({ ...order, solAmount: 0.01 });
      expect(BigInt(bought.costs!.rentPaid), `caller ${caller}, round ${round}`).toBeGreaterThan(0n);
      const maxInputRaw = bought.tradeResult!.outputAmountRaw;
      await client.sell({ ...order, sellPercent: 100 }, { maxInputRaw });
    }
  });
  await Promise.all(rounds);
});

async function fund(address: string): Promise<void> {
  const params = [address, 10_000_000_000];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "requestAirdrop", params });
  await fetch(sandbox.rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
}
