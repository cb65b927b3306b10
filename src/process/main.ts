import cluster from "node:cluster";
import { type Logger, pino } from "pino";
import { type App, startApp } from "../app/app.ts";
import { describeChain, type EmbeddedChain, startEmbeddedChain } from "../app/chain/embedded-chain.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { parseCommandLine } from "./command-line.ts";
import { ConfigError, parseConfig } from "./config/config.ts";
import { describeSettings } from "./config/describe-settings.ts";
import type { Config } from "./config/settings.ts";
import { findObstacles } from "./preflight.ts";
import { describeStartFailure } from "./start-failure.ts";
import { createDemoWallet, describeStart } from "./start-page.ts";
import { startWorkers, WORKER_READY, type Workers } from "./workers.ts";

const HELP = `Tradewire: builds unsigned Solana trade transactions.

  npm start                    one process
  npm start -- --workers 4     4 processes on one port, one for each core at most; SIGHUP replaces them one after another
  npm start -- --chain         the embedded chain alone, for several services to share
  npm start -- --check         looks at the settings and what they name, says what is wrong, and ends
  npm start -- --help          this

Settings, as environment variables:

`;

/** What a primary tells its workers in their environment: the embedded chain it keeps, and which worker says how to reach it all. */
const CHAIN_VARIABLE = "TRADEWIRE_EMBEDDED_CHAIN";
const DESCRIBE_VARIABLE = "TRADEWIRE_DESCRIBE_START";

/** Starts the service and stops it on SIGTERM or SIGINT. */
async function main(argv: readonly string[]): Promise<void> {
  const { task, workers } = parseCommandLine(argv);
  if (task === "help") {
    process.stdout.write(`${HELP}${describeSettings()}\n`);
    return;
  }
  const config = parseConfig(process.env);
  if (cluster.isPrimary) {
    const obstacles = findObstacles(config, { workers, chainAlone: task === "chain" });
    if (obstacles.length > 0) throw new ConfigError(obstacles);
  }
  if (task === "check") {
    process.stdout.write("The settings are usable.\n");
    return;
  }
  const logger = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: false }));
  if (task === "chain") await runChain(config, logger);
  else if (workers !== undefined && cluster.isPrimary) await runWorkers(config, logger, workers);
  else await runApp(config, logger);
}

async function runApp(config: Config, logger: Logger): Promise<void> {
  const known = process.env[CHAIN_VARIABLE];
  const chain = known === undefined ? undefined : (JSON.parse(known) as EmbeddedChain);
  let app: App | undefined;
  stopOnSignal(logger, async (signal) => {
    // Whoever sends SIGTERM routes new requests elsewhere, which takes a moment; whoever presses Ctrl-C waits for it.
    if (signal === "SIGTERM") await app?.drain();
    await app?.close();
  });
  app = await startApp({ config, logger, now: Date.now, chain });
  if (!cluster.isWorker) {
    process.stdout.write(describeStart(app, await createDemoWallet(app)));
    return;
  }
  if (process.env[DESCRIBE_VARIABLE] !== undefined) process.send!(describeStart(app, await createDemoWallet(app)));
  process.send!(WORKER_READY);
}

/** The primary keeps the embedded chain, where there is one, and looks after the workers; it serves nothing itself. */
async function runWorkers(config: Config, logger: Logger, count: number): Promise<void> {
  let sandbox: Sandbox | undefined;
  let workers: Workers | undefined;
  stopOnSignal(logger, async () => {
    await workers?.close();
    await sandbox?.close();
  });
  if (config.solanaRpcUrls === undefined) sandbox = await startEmbeddedChain(config);
  const chain: Record<string, string> =
    sandbox === undefined ? {} : { [CHAIN_VARIABLE]: JSON.stringify(describeChain(sandbox)) };
  let page: unknown;
  const started = await startWorkers({
    count,
    logger,
    environment: (index) => ({
      ...chain,
      // One of the first describes them all.
      ...(index === 0 && page === undefined ? { [DESCRIBE_VARIABLE]: "1" } : {}),
      // Each has an admin port of its own: metrics are of one process.
      ADMIN_PORT: `${config.adminPort === 0 ? 0 : config.adminPort + index}`,
    }),
    onMessage: (message) => {
      page ??= message;
    },
  });
  workers = started;
  process.on("SIGHUP", () => {
    started.restart().catch((error: unknown) => logger.error({ err: error }, "a worker could not be replaced"));
  });
  process.stdout.write(`${page}`);
  process.stdout.write(
    `  ${count} processes share the port; each has an admin port of its own, ${config.adminPort === 0 ? "any that was free" : "from the one above on"}.\n`,
  );
  process.stdout.write(`  Replace them one after another: kill -HUP ${process.pid}\n\n`);
}

async function runChain(config: Config, logger: Logger): Promise<void> {
  let sandbox: Sandbox | undefined;
  stopOnSignal(logger, async () => sandbox?.close());
  sandbox = await startEmbeddedChain(config);
  process.stdout.write(`The embedded chain is ready: ${sandbox.rpcUrl}  ${sandbox.wsUrl}\n`);
}

/** Set up before anything is started: the first process of a container is sent signals in vain that it does not ask for. */
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
  process.stderr.write(`${describeStartFailure(error)}\n`);
  process.exit(1);
});
