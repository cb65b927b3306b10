/** The service on the embedded chain with one registered, funded wallet. Prints where it is and what to ask. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/process/config/config.ts";
import { createDemoWallet } from "../../src/process/start-page.ts";

const app = await startApp({
  config: parseConfig({
    PORT: "0",
    ADMIN_PORT: "0",
    SANDBOX_PORT: "0",
    DATA_DIR: mkdtempSync(join(tmpdir(), "tradewire-bench-")),
    // One key and one address ask for all of it; they are counted, and never too many.
    BUILD_PER_SECOND: "1000000",
    ADDRESS_BUILD_PER_SECOND: "1000000",
  }),
  logger: console,
});
const demo = await createDemoWallet(app);
const token = app.sandbox!.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!;
process.stdout.write(`${JSON.stringify({ port: app.port, apiKey: demo!.apiKey, mint: token.mint })}\n`);
process.on("SIGTERM", () => void app.close().then(() => process.exit(0)));
