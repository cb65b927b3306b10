import { startSandbox } from "./sandbox.ts";

/** The embedded chain alone, for several processes of the service to share: `node src/sandbox/serve.ts`. */
const host = process.env.SANDBOX_HOST || "127.0.0.1";
const port = Number(process.env.SANDBOX_PORT || 8_899);
const slotMs = Number(process.env.SANDBOX_SLOT_MS || 200);

const sandbox = await startSandbox({ host, port, slotMs });
process.stdout.write(`The embedded chain is ready: ${sandbox.rpcUrl}\n`);
process.stdout.write(`Its lookup table, for LOOKUP_TABLES: ${sandbox.world.lookupTables.join()}\n`);
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => void sandbox.close().then(() => process.exit(0)));
}
