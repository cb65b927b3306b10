/** The service on the embedded chain with one registered, funded wallet. Prints its port, the API key and a mint. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/process/config/config.ts";
import { createDemoWallet } from "../../src/process/start-page.ts";

const dataDir = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
const app = await startApp({
  now: Date.now,
  config: parseConfig({
    PORT: "0",
    ADMIN_PORT: "0",
    SANDBOX_PORT: "0",
    DATA_DIR: dataDir,
    // All requests come from one key and one address: limits are counted but never reached.
    BUILD_PER_SECOND: "1000000",
    ADDRESS_BUILD_PER_SECOND: "1000000",
    // To measure what checks on the deployed programs cost: nothing is to be seen of them here.
    SHADOW_EXECUTION: process.env.SHADOW_EXECUTION,
  }),
  // The first line of standard output is for the bench.
  logger: { info: () => {}, warn: console.error, error: console.error },
});
const demo = await createDemoWallet(app);
const token = app.sandbox!.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!;
process.stdout.write(`${JSON.stringify({ port: app.port, apiKey: demo!.apiKey, mint: token.mint })}\n`);
process.on("SIGTERM", async () => {
  await app.close();
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
});
