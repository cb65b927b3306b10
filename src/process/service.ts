import cluster from "node:cluster";
import { isatty } from "node:tty";
import { type Logger, pino } from "pino";
import type { App } from "../app/app.ts";
import { describeChain, type EmbeddedChain, startEmbeddedChain } from "../app/chain/embedded-chain.ts";
import { startShadow } from "../app/shadow/shadow-parts.ts";
import { ConfigError, parseConfig } from "../config/config.ts";
import { describeSettings } from "../config/describe-settings.ts";
import { mistypedNames } from "../config/mistyped-names.ts";
import type { Config } from "../config/settings.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { parseServiceArguments } from "./command-line.ts";
import { doubtSecrets } from "./embedded-chain-rule.ts";
import { LogLines } from "./log-lines.ts";
import { doubtCertificate, runPreflight } from "./preflight.ts";
import { createDemoWallet, describeStart, writeDemoFile } from "./start-page.ts";
import { isForOtherWorkers, reachOtherWorkers } from "./worker-messages.ts";
import { startWorkers, WORKER_READY, WORKER_REPLACED, type Workers } from "./workers.ts";

const HELP = `Tradewire: builds unsigned Solana trade transactions.

  npm start                    one process; SIGHUP has it read TLS_CERT and TLS_KEY again
  npm start -- --workers 4     4 processes on one port, at most one per core; SIGHUP replaces them one after another
  npm start -- --chain         the embedded chain alone, for several services to share
  npm start -- --check         checks the settings and what they name, prints every problem, and exits
  npm start -- --help          this text

Settings, as environment variables:

`;

/** What a worker may take to end beyond its times to drain. Milliseconds. */
const END_MARGIN_MS = 30_000;

/** The primary passes these to its workers: where its embedded chain and its shadow process are, and which worker describes the start. */
const CHAIN_VARIABLE = "TRADEWIRE_EMBEDDED_CHAIN";
const SHADOW_VARIABLE = "TRADEWIRE_SHADOW_SOCKET";
const DESCRIBE_VARIABLE = "TRADEWIRE_DESCRIBE_START";

/**
 * Does what the arguments ask for: runs the service until SIGTERM or SIGINT, or the embedded chain alone, or only checks
 * the settings or prints the help. Resolves once everything is started.
 *
 * @throws ConfigError if an argument or a setting cannot be used
 */
export async function runService(argv: readonly string[]): Promise<void> {
  const { task, workers } = parseServiceArguments(argv);
  if (task === "help") {
    process.stdout.write(`${HELP}${describeSettings()}\n`);
    return;
  }
  const config = parseConfig(process.env);
  if (cluster.isPrimary) {
    const problems = runPreflight(config, { workers, chainAlone: task === "chain" });
    if (problems.length > 0) throw new ConfigError(problems);
  }
  const doubts = cluster.isPrimary ? [...mistypedNames(process.env), ...doubtSecrets(config)] : [];
  if (cluster.isPrimary && task !== "chain") doubts.push(...doubtCertificate(config, Date.now()));
  if (task === "check") {
    process.stdout.write(["The settings are usable.", ...doubts, ""].join("\n"));
    return;
  }
  const lines = new LogLines(2);
  process.on("exit", () => lines.flush());
  const logger = pino({ level: config.logLevel }, lines);
  // As on a full disk: what the start prints is no reason to end.
  process.stdout.on("error", () => {});
  for (const doubt of doubts) logger.warn({}, doubt);
  if (task === "chain") await runChain(config, logger);
  else if (workers !== undefined && cluster.isPrimary) await runWorkers(config, logger, workers);
  else await runApp(config, logger);
}

/** Loads the application only now: a setting that cannot be used is reported at once, and a primary of workers stays small. */
async function runApp(config: Config, logger: Logger): Promise<void> {
  const known = process.env[CHAIN_VARIABLE];
  const chain = known === undefined ? undefined : (JSON.parse(known) as EmbeddedChain);
  let app: App | undefined;
  const started = Promise.withResolvers<App>();
  // Without a listener, SIGHUP ends the process at once, with what it serves. The end of its terminal may do that.
  if (cluster.isWorker || !(isatty(0) || isatty(1)))
    process.on("SIGHUP", () => void started.promise.then((running) => renewCertificate(logger, running)));
  stopOnSignal(logger, async (signal) => {
    // An orchestrator that sends SIGTERM needs a moment to route new requests elsewhere; Ctrl-C should not wait.
    if (signal === "SIGTERM") await app?.drain();
    await app?.close();
  });
  const { startApp } = await import("../app/app.ts");
  app = await startApp({
    config,
    logger,
    now: Date.now,
    chain,
    shadowPath: process.env[SHADOW_VARIABLE],
    own: process,
    otherWorkers: cluster.isWorker ? reachOtherWorkers(process) : undefined,
    // Whatever supervises the process starts it again, on the new chain. Submissions of the old one can never end there.
    onForeignChain: (message) => {
      logger.error(message);
      (app?.close() ?? Promise.resolve()).finally(() => process.exit(1));
    },
  });
  started.resolve(app);
  if (!cluster.isWorker) {
    process.stdout.write(await startPage(config, app));
    return;
  }
  const { admin } = app;
  process.on("message", (message) => {
    if (message === WORKER_REPLACED) admin.leave();
  });
  if (process.env[DESCRIBE_VARIABLE] !== undefined) process.send!(await startPage(config, app));
  process.send!(WORKER_READY);
}

/** Shows new connections a renewed certificate, or goes on with the one of before. */
function renewCertificate(logger: Logger, app: App): void {
  try {
    app.renewCertificate();
    logger.info("SIGHUP: TLS_CERT and TLS_KEY, if set, were read again; other settings are read at the start");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    logger.error(`SIGHUP: TLS_CERT and TLS_KEY are unusable (${code ?? message}); the certificate of before is kept`);
  }
}

/** The start page with a demo wallet, if there is an embedded chain. Its secrets go to a terminal or to a file, never to a log. */
async function startPage(config: Config, app: App): Promise<string> {
  const demo = await createDemoWallet(app);
  const toFile = demo !== undefined && !process.stdout.isTTY;
  return describeStart(app, demo, toFile ? writeDemoFile(config.dataDir, app, demo) : undefined);
}

/** The primary runs the embedded chain, if there is one, and supervises the workers; it serves no requests itself. */
async function runWorkers(config: Config, logger: Logger, count: number): Promise<void> {
  let sandbox: Sandbox | undefined;
  let workers: Workers | undefined;
  const started = Promise.withResolvers<Workers>();
  // Those that are starting may have read the files of before.
  process.on("SIGHUP", () => {
    started.promise
      .then((running) => running.restart())
      .catch((error: unknown) => logger.error({ err: error }, "a worker could not be replaced"));
  });
  const shadow = startShadow(config, (message) => logger.warn({}, message));
  stopOnSignal(logger, async () => {
    await workers?.close();
    await shadow?.close();
    await sandbox?.close();
  });
  if (config.solanaRpcUrls === undefined) sandbox = await startEmbeddedChain(config);
  const chain: Record<string, string> =
    sandbox === undefined ? {} : { [CHAIN_VARIABLE]: JSON.stringify(describeChain(sandbox)) };
  let page: unknown;
  workers = await startWorkers({
    count,
    logger,
    endMs: config.lameDuckMs + config.drainTimeoutMs + END_MARGIN_MS,
    environment: (index) => ({
      ...chain,
      ...(shadow === undefined ? {} : { [SHADOW_VARIABLE]: shadow.path }),
      // One of the first workers describes them all.
      ...(index === 0 && page === undefined ? { [DESCRIBE_VARIABLE]: "1" } : {}),
      // Each has its own admin port: metrics are per process.
      ADMIN_PORT: `${config.adminPort === 0 ? 0 : config.adminPort + index}`,
    }),
    onMessage: (message) => {
      page ??= message;
    },
    isForOthers: isForOtherWorkers,
  });
  started.resolve(workers);
  const adminPorts = config.adminPort === 0 ? "any that was free" : "counting up from the one above";
  process.stdout.write(
    `${page}  ${count} processes share the port; each has its own admin port, ${adminPorts}.\n` +
      `  Replace them one after another: kill -HUP ${process.pid}\n\n`,
  );
}

async function runChain(config: Config, logger: Logger): Promise<void> {
  let sandbox: Sandbox | undefined;
  stopOnSignal(logger, async () => sandbox?.close());
  sandbox = await startEmbeddedChain(config);
  process.stdout.write(`The embedded chain is ready: ${sandbox.rpcUrl}  ${sandbox.wsUrl}\n`);
}

/** Called before anything starts: PID 1 of a container receives only the signals it handles. */
function stopOnSignal(logger: Logger, stop: (signal: "SIGTERM" | "SIGINT") => Promise<void>): void {
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      logger.info(`${signal}: finishing pending requests`);
      stop(signal).then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, "the stop failed");
          process.exit(1);
        },
      );
    });
  }
}
