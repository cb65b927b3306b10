import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bs58 from "bs58";
import { expect, it } from "vitest";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { eventually } from "../../support/eventually.ts";
import { lookupTablesOf } from "../../support/world.ts";
import { type ServiceProcess, startServiceProcess } from "../faults/service-process.ts";
import { codeOf, tradeJudged } from "./judged-trade.ts";
import { JudgeLedger } from "./ledger.ts";
import { report } from "./table.ts";
import { tokenPerVenue, tokenTrades } from "./world-trades.ts";

const SOL = 1_000_000_000;
const FOREIGN = "The Solana nodes serve another chain";

const secretOf = (seed: number) => bs58.encode(createRandom(seed).bytes(32));

/** The first trade of a new wallet on the chain, held against the ledger. */
async function firstTrade({ url }: ServiceProcess, sandbox: Sandbox, seed: number) {
  const { tokens } = sandbox.world;
  const client = Tradewire.connect({
    baseUrl: url,
    wallet: secretOf(seed),
    decimals: Object.fromEntries(tokens.map(({ mint, decimals }) => [mint.toString(), decimals])),
    lookupTables: lookupTablesOf(sandbox.world),
    keepAliveMs: 0,
  });
  const ledger = new JudgeLedger(sandbox.rpcUrl);
  const address = client.wallet.publicKey.toString();
  await ledger.call("requestAirdrop", [address, 10 * SOL]);
  await eventually(async () => expect(await ledger.lamports(address)).toBeGreaterThan(0n));
  await client.register();
  const [trade] = tokenTrades(tokenPerVenue(sandbox.world)[0]!);
  return { client, judged: await tradeJudged(ledger, client, trade!.what, () => trade!.build(client)) };
}

it("a process whose node comes back with another chain says so once and exits with 1; the next one trades there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-genesis-"));
  let sandbox = await startSandbox({ seed: 1, slotMs: 100 });
  const { rpcUrl, wsUrl } = sandbox;
  const environment = {
    PORT: "0",
    ADMIN_PORT: "0",
    DATA_DIR: folder,
    SIGN_IN_CHAIN_ID: "localnet",
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    SOLANA_RPC_TIMEOUT_MS: "20000",
    SHADOW_EXECUTION: "off",
  };
  const processes: ServiceProcess[] = [];
  try {
    const first = await startServiceProcess("first", environment);
    processes.push(first);
    const before = await firstTrade(first, sandbox, 58_001);
    await sandbox.close();
    sandbox = await startSandbox({ seed: 2, slotMs: 100, port: Number(new URL(rpcUrl).port) });
    await eventually(() => expect(first.isRunning).toBe(false));
    const code = await first.stop();
    const lines = first
      .output()
      .split("\n")
      .filter((line) => line.includes(FOREIGN)).length;

    const second = await startServiceProcess("second", environment);
    processes.push(second);
    const after = await firstTrade(second, sandbox, 58_002);
    // Keys outlive the chain they were made on; trades do not.
    const old = Tradewire.connect({
      baseUrl: second.url,
      wallet: secretOf(58_001),
      apiKey: before.client.apiKey,
      keepAliveMs: 0,
    });
    const known = await old.getTrade(before.judged.trade.signature).then(
      ({ status }) => status,
      (error) => error.code,
    );
    const faults = [
      ...before.judged.faults,
      ...after.judged.faults,
      ...(code === 1 ? [] : [`exit code ${code}`]),
      ...(lines === 1 ? [] : [`${lines} lines`]),
    ];
    report(
      "another genesis",
      "whole process, embedded chain",
      `exit code ${code}, ${lines} line; the old trade is ${known}`,
      faults,
    );
    expect(await codeOf(old.profile())).toBe("accepted");
  } finally {
    for (const one of processes) if (one.isRunning) await one.stop();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
