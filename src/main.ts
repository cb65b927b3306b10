import cluster from "node:cluster";
import { type Logger, pino } from "pino";
import { openSandbox, startApp } from "./app.ts";
import { type Config, ConfigError, describeSettings, parseConfig } from "./config.ts";
import { createDemoWallet, describeStart } from "./start-page.ts";
import { startWorkers, WORKER_READY } from "./workers.ts";

const HELP = `Tradewire: builds unsigned Solana trade transactions.

  npm start                    one process
  npm start -- --workers 4     as many processes as cores, on one port; SIGHUP replaces them one after another
  npm start -- --check         reads the settings, says what is wrong with them, and ends
  npm start -- --help          this

Settings, as environment variables:

`;

const MAX_WORKERS = 64;

/** Starts the service and stops it on SIGTERM or SIGINT. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes("--help")) {
    process.stdout.write(`${HELP}${describeSettings()}\n`);
    return;
  }
  const config = parseConfig(process.env);
  const workers = parseWorkers(argv);
  if (argv.includes("--check")) {
    process.stdout.write("The settings are usable.\n");
    return;
  }
  const logger = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: false }));
  if (workers !== undefined && cluster.isPrimary) await runWorkers(config, logger, workers);
  else await runApp(config, logger);
}

/** @throws ConfigError */
function parseWorkers(argv: readonly string[]): number | undefined {
  const at = argv.indexOf("--workers");
  if (at === -1) return undefined;
  const count = Number(argv[at + 1]);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_WORKERS) return count;
  throw new ConfigError([`--workers must be followed by a whole number from 1 to ${MAX_WORKERS} (processes).`]);
}

async function runApp(config: Config, logger: Logger): Promise<void> {
  const app = await startApp({ config, logger });
  stopOnSignal(logger, async (signal) => {
    // Whoever sends SIGTERM routes new requests elsewhere, which takes a moment; whoever presses Ctrl-C waits for it.
    if (signal === "SIGTERM") await app.drain();
    await app.close();
  });
  if (cluster.isWorker) process.send!(WORKER_READY);
  else process.stdout.write(describeStart(app, await createDemoWallet(app)));
}

/** The primary keeps the embedded chain, where there is one, and looks after the workers; it serves nothing itself. */
async function runWorkers(config: Config, logger: Logger, count: number): Promise<void> {
  const sandbox = config.solanaRpcUrls === undefined ? await openSandbox(config) : undefined;
  const chain: Record<string, string> =
    sandbox === undefined
      ? {}
      : {
          SOLANA_RPC_URL: sandbox.rpcUrl,
          SOLANA_WS_URL: sandbox.wsUrl,
          SIGN_IN_CHAIN_ID: "localnet",
          ...(config.lookupTables === undefined ? { LOOKUP_TABLES: sandbox.world.lookupTables.join() } : {}),
        };
  const workers = await startWorkers({
    count,
    logger,
    // Each has an admin port of its own: metrics are of one process.
    environment: (index) => ({
      ...chain,
      ADMIN_PORT: `${config.adminPort === 0 ? 0 : config.adminPort + index}`,
    }),
  });
  process.on("SIGHUP", () => {
    workers.restart().catch((error: unknown) => logger.error({ err: error }, "a worker could not be replaced"));
  });
  stopOnSignal(logger, async () => {
    await workers.close();
    await sandbox?.close();
  });
  process.stdout.write(`\nTradewire is ready: ${count} processes on port ${config.port}.\n`);
  if (sandbox !== undefined) process.stdout.write(`Embedded chain, JSON-RPC: ${sandbox.rpcUrl}\n`);
  process.stdout.write(`Replace them one after another: kill -HUP ${process.pid}\n\n`);
}

function stopOnSignal(logger: Logger, stop: (signal: "SIGTERM" | "SIGINT") => Promise<void>): void {
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      logger.info(`${signal}: finishing what is under way`);
      stop(signal).then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
});
