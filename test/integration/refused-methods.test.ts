import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { type RpcProxy, startRpcProxy } from "../faults/rpc-proxy.ts";
import { type History, Trader } from "../faults/trader.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The service on a node that refuses these methods, and what it logged. */
async function serviceOn(refusedMethods: readonly string[], node: (proxy: RpcProxy) => Promise<unknown>) {
  const sandbox = await startSandbox({ slotMs: 50 });
  closers.push(() => sandbox.close());
  const proxy = await startRpcProxy(sandbox);
  closers.push(() => proxy.close());
  await proxy.set({ refusedMethods });
  await node(proxy);
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));
  const logged: string[] = [];
  const log = (_facts: object, message: string) => void logged.push(message);
  const app = await startApp({
    config: parseConfig({
      PORT: "0",
      ADMIN_PORT: "0",
      DATA_DIR: dataDir,
      SIGN_IN_CHAIN_ID: "localnet",
      SOLANA_RPC_URLS: proxy.url,
      SOLANA_WS_URLS: proxy.wsUrl,
    }),
    logger: { info: () => {}, warn: log, error: log },
  });
  closers.push(async () => {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const history: History = { builds: [], refusedBuilds: [], submits: [], secrets: [] };
  const trader = new Trader(77, history);
  await fetch(sandbox.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "requestAirdrop", params: [trader.address, 5e9] }),
  });
  await trader.register(app.url);
  const mint = sandbox.world.tokens.find(({ venue }) => venue === "pump_fun")!.mint.toString();
  return {
    proxy,
    logged,
    async trade() {
      const built = await trader.build(app.url, { path: "buy", body: { mint, solAmount: 0.01 } });
      if (built === undefined) throw new Error(JSON.stringify(history.refusedBuilds.at(-1)));
      return trader.submit({ name: "service", url: app.url }, built);
    },
  };
}

test.each([["getProgramAccounts"], ["getRecentPrioritizationFees"], ["getRecentPerformanceSamples"]])(
  "a node without %s costs one line in the log, and trades go on",
  async (method) => {
    const { logged, trade, proxy } = await serviceOn([method], async () => {});
    expect((await trade()).data?.status).toBe("confirmed");
    const asked = proxy.calls.get(method);
    for (let i = 0; i < 3; i++) expect((await trade()).data?.status).toBe("confirmed");
    expect(logged.filter((line) => line.includes(method))).toHaveLength(1);
    expect(proxy.calls.get(method)).toBe(asked);
  },
);

test("a node whose WebSocket says nothing costs one line a while, and trades go on", async () => {
  const { logged, trade } = await serviceOn([], (proxy) => proxy.set({ notices: "silent" }));
  for (let i = 0; i < 4; i++) expect((await trade()).data?.status).toBe("confirmed");
  expect(logged.length).toBeLessThanOrEqual(4);
});
