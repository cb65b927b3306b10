/** The whole service in a process that says what it has used. Its settings come as JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../../src/app/app.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { answerParent } from "../child.ts";
import { cpuMicros } from "../measure.ts";

const folder = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const quiet = () => {};
const app = await startApp({
  config: parseConfig({ DATA_DIR: folder, ...JSON.parse(process.argv[2]!) }),
  now: Date.now,
  logger: { info: quiet, warn: quiet, error: quiet },
});
answerParent({ port: app.port }, () => ({ cpu: cpuMicros() }));
