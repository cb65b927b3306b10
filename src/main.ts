import { pino } from "pino";
import { type App, startApp } from "./app.ts";
import { ConfigError, describeSettings, parseConfig } from "./config.ts";
import { createDemoWallet, describeStart } from "./start-page.ts";

/** Starts the service and stops it on SIGTERM or SIGINT. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes("--help")) {
    process.stdout.write(
      `Tradewire: builds unsigned Solana trade transactions.\n\nSettings, as environment variables:\n\n${describeSettings()}\n`,
    );
    return;
  }
  const config = parseConfig(process.env);
  if (argv.includes("--check")) {
    process.stdout.write("The settings are usable.\n");
    return;
  }
  const logger = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: false }));
  const app = await startApp({ config, logger });
  stopOnSignal(app, logger);
  const demo = app.sandbox === undefined ? undefined : await createDemoWallet(app);
  process.stdout.write(describeStart(app, demo));
}

function stopOnSignal(app: App, logger: { info(message: string): void }): void {
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      logger.info(`${signal}: finishing what is under way`);
      stop(app, signal).then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}

/** Whoever sends SIGTERM routes new requests elsewhere, which takes a moment; whoever presses Ctrl-C waits for it. */
async function stop(app: App, signal: "SIGTERM" | "SIGINT"): Promise<void> {
  if (signal === "SIGTERM") await app.drain();
  await app.close();
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
});
