/**
 * The figures of the project as ratios, on this machine: quotes and warm builds on every venue against SHA-256 of 1 KiB,
 * and REST requests per second against a bare Fastify server. `npm run bench`; with `-- --venues`, the venues alone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/process/config/config.ts";
import { createDemoWallet } from "../../src/process/start-page.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { measureLoad } from "./load.ts";
import { medianMicros, micros, referenceMicros } from "./measure.ts";
import { type BenchRow, benchVenues } from "./venues.ts";

/** How long servers are under load before they are measured. */
const WARM_UP_MS = 8_000;

const rows: BenchRow[] = [["figure", "measured", "ratio", "promise"]];
const reference = referenceMicros();
rows.push(["SHA-256 of 1 KiB", micros(reference), "1", ""]);
rows.push(...benchVenues(reference));
if (process.argv.includes("--venues")) {
  process.stdout.write(`${table(rows)}\n`);
  process.exit();
}
await benchBuild();
await benchRest();
process.stdout.write(`${table(rows)}\n`);

async function benchBuild(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
  const app = await startApp({
    now: Date.now,
    config: parseConfig({ PORT: "0", ADMIN_PORT: "0", SANDBOX_PORT: "0", DATA_DIR: dataDir }),
    logger: console,
  });
  try {
    const demo = (await createDemoWallet(app))!;
    const seen = new Set<string>();
    for (const token of app.sandbox!.world.tokens) {
      if (seen.has(token.venue)) continue;
      seen.add(token.venue);
      const request: TradeRequest = {
        principal: { accountId: "bench", keyId: "bench", wallet: demo.address },
        inMint: SOL_MINT,
        outMint: token.mint,
        mode: "exactIn",
        amount: 0.1,
        slippage: 0.05,
        priority: "fast",
        maxPriceImpact: undefined,
        maxPriorityCost: undefined,
      };
      const cold = performance.now();
      await app.trades.build(request);
      rows.push([`first build of a pair, ${token.venue}`, micros((performance.now() - cold) * 1000), "", ""]);
      let wire = "";
      const build = medianMicros(() => {
        const built = app.trades.build(request);
        if (built instanceof Promise) throw new Error("a warm build waited");
        wire = Buffer.from(built.unsignedTransaction).toString("base64") + built.submissionToken;
      }, 5_000);
      rows.push([
        `warm build, ${token.venue} (${wire.length} characters)`,
        micros(build),
        (build / reference).toFixed(1),
        "≤ 40",
      ]);
    }
  } finally {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function benchRest(): Promise<void> {
  const servers: ChildProcess[] = [];
  try {
    const service = await serve("service.ts");
    servers.push(service.process);
    const { port, apiKey, mint } = service.facts as { port: number; apiKey: string; mint: string };
    const load = {
      path: "/v1/tx/buy",
      headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" }),
      connections: 32,
      durationMs: 3_000,
    };
    const once = await measureLoad({ port, ...load, durationMs: 500, connections: 1 });
    const bare = await serve("bare-server.ts", String(once.bytes));
    servers.push(bare.process);
    // Both compile their hot code first, which takes the larger one some seconds of load.
    for (const warmed of [port, (bare.facts as { port: number }).port]) {
      await measureLoad({ port: warmed, ...load, durationMs: WARM_UP_MS });
    }
    const bareRate: number[] = [];
    const serviceRate: number[] = [];
    for (let round = 0; round < 3; round++) {
      bareRate.push((await measureLoad({ port: (bare.facts as { port: number }).port, ...load })).perSecond);
      serviceRate.push((await measureLoad({ port, ...load })).perSecond);
    }
    const [yardstick, ours] = [Math.max(...bareRate), Math.max(...serviceRate)];
    rows.push([`bare Fastify POST, ${once.bytes} bytes back`, `${Math.round(yardstick)}/s`, "1", ""]);
    rows.push(["POST /v1/tx/buy, one core", `${Math.round(ours)}/s`, (ours / yardstick).toFixed(2), "≥ 0.3"]);
  } finally {
    for (const server of servers) server.kill("SIGTERM");
  }
}

/** Starts a server of this folder in a process of its own; its first line of output says where it is. */
async function serve(file: string, ...args: string[]): Promise<{ process: ChildProcess; facts: unknown }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes("\n")) break;
  }
  return { process: child, facts: JSON.parse(output) };
}

function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
