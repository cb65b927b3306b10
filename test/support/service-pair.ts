import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/config/config.ts";
import { Trader } from "../slow/faults/trader.ts";
import { type PacedSandbox, startPacedSandbox } from "./paced-sandbox.ts";
import { PATIENT } from "./service.ts";

/** Two services on one chain and one database, and a wallet with 5 SOL and a key. */
export interface ServicePair {
  readonly sandbox: PacedSandbox;
  readonly trader: Trader;
  /** The two that run now. */
  readonly apps: readonly App[];
  /** One JSON-RPC call to the chain. @returns its result */
  rpc<T>(method: string, params: readonly unknown[]): Promise<T>;
  /** Starts both services anew, as after an upgrade. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts two services in this process.
 *
 * @param databaseUrl PostgreSQL, which stays when they close; absent: an embedded database of their own
 */
export async function startServicePair(databaseUrl?: string): Promise<ServicePair> {
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));
  const sandbox = await startPacedSandbox({ slotMs: 50, confirmedAfterSlots: 1 });
  const apps: App[] = [];
  const start = () =>
    startApp({
      now: Date.now,
      config: parseConfig({
        ...PATIENT,
        DATA_DIR: dataDir,
        PUBLIC_URL: "http://tradewire.test",
        SIGN_IN_CHAIN_ID: "localnet",
        SOLANA_RPC_URLS: sandbox.rpcUrl,
        SOLANA_WS_URLS: sandbox.wsUrl,
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, KEY_PEPPER: "07".repeat(32) }),
      }),
      logger: { info: () => {}, warn: () => {}, error: () => {} },
    });
  const rpc = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    const response = await fetch(sandbox.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return ((await response.json()) as { result: T }).result;
  };
  const stop = () => Promise.all(apps.splice(0).map((app) => app.close()));
  const restart = async () => {
    await stop();
    // One after the other: the first makes the secrets and the tables that both share.
    for (let i = 0; i < 2; i++) apps.push(await start());
  };
  const close = async () => {
    await stop();
    await sandbox.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const trader = new Trader(0x7a1, { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] });
  try {
    await restart();
    await rpc("requestAirdrop", [trader.address, 5e9]);
    await trader.register(apps[0]!.url);
  } catch (error) {
    await close();
    throw error;
  }
  return { sandbox, trader, apps, rpc, restart, close };
}
