import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/config/config.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type History, Trader } from "../slow/faults/trader.ts";
import { eventually } from "../support/eventually.ts";
import { PATIENT } from "../support/service.ts";

const CONFIRMED_AFTER_SLOTS = 20;
const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));
const history: History = { builds: [], refusedBuilds: [], submits: [], secrets: [] };
let sandbox: Sandbox;
let holder: App;
let other: App;
let trader: Trader;

/** A service of its own on the database and chain that all of them share. */
const startService = () =>
  startApp({
    now: Date.now,
    config: parseConfig({
      ...PATIENT,
      DATA_DIR: dataDir,
      PUBLIC_URL: "http://tradewire.test",
      SIGN_IN_CHAIN_ID: "localnet",
      SOLANA_RPC_URLS: sandbox.rpcUrl,
      SOLANA_WS_URLS: sandbox.wsUrl,
    }),
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  });

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 50, confirmedAfterSlots: 1 });
  holder = await startService();
  other = await startService();
  trader = new Trader(0xb0, history);
  await rpc("requestAirdrop", [trader.address, 5e9]);
  await trader.register(holder.url);
});
afterAll(async () => {
  await Promise.all([holder?.close(), other?.close()]);
  await sandbox?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function rpc<T>(method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(sandbox.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: T }).result;
}

async function statusOnChain(signature: string): Promise<string | undefined> {
  const { value } = await rpc<{ value: ({ confirmationStatus: string } | null)[] }>("getSignatureStatuses", [
    [signature],
  ]);
  return value[0]?.confirmationStatus;
}

test("a process that does not own a trade reports its progress, step by step", async () => {
  const mint = sandbox.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!.mint.toString();
  const built = (await trader.build(holder.url, { path: "buy", body: { mint, solAmount: 0.01 } }))!;
  // After the build: a chain whose confirmed head stands still for twenty slots prices nothing meanwhile.
  await sandbox.setDelays({
    confirmedAfterSlots: CONFIRMED_AFTER_SLOTS,
    finalizedAfterSlots: 2 * CONFIRMED_AFTER_SLOTS,
  });
  const submitted = trader.submit({ name: "holder", url: holder.url }, built);
  const reported = new Map<string, { slot: unknown; tradeResult?: unknown }>();
  for (const step of ["processed", "confirmed", "finalized"]) {
    // The chain stands still at each step until the process has seen it.
    for (await sandbox.pause(); (await statusOnChain(built.signature)) !== step; ) await sandbox.advanceSlots(1);
    await eventually(async () => {
      const { status, data } = await trader.get(other.url, `/v1/tx/${built.signature}`);
      expect(status).toBe(200);
      const trade = data as { status: string; slot: unknown; tradeResult: unknown };
      reported.set(trade.status, trade);
      expect(trade.status).toBe(step);
    });
  }
  await sandbox.resume();
  const { data } = await submitted;
  expect(data).toMatchObject({ status: "confirmed" });
  expect([...reported.keys()].filter((status) => status !== "pending")).toEqual([
    "processed",
    "confirmed",
    "finalized",
  ]);
  for (const status of ["processed", "confirmed", "finalized"]) expect(reported.get(status)!.slot).toBe(data!.slot);
  expect(reported.get("finalized")!.tradeResult).toMatchObject(data!.tradeResult!);

  // A final outcome is the same from every process, for reads and repeated submits: each sees the chain's root in its own time.
  for (const { url } of [holder, other]) {
    await eventually(async () => {
      const again = await trader.submit({ name: "again", url }, built);
      expect(again.data).toEqual({ ...data, status: "finalized" });
    });
    expect((await trader.get(url, `/v1/tx/${built.signature}`)).data).toMatchObject({ status: "finalized" });
  }
});
