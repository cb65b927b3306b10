/**
 * A restart with pairs in use: a service finds the markets of each by searching the chain and keeps them in the database; another
 * one, with the same database and nothing in memory, builds on each pair again. Prints the rows of the second as JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoredMarketIndex } from "../../../src/accounts/market-index.ts";
import { openStore } from "../../../src/accounts/store/store.ts";
import { venues } from "../../../src/venues/registry.ts";
import { LiveChain } from "./live-chain.ts";
import { LiveService } from "./live-service.ts";

const PAIRS = Number(process.argv[2] ?? 10_000);
/** Tokens after which what was found is written. */
const TOKENS_AT_ONCE = 1_000;
const folder = mkdtempSync(join(tmpdir(), "tradewire-restart-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Of a node, for reads of accounts. */
const READS_TAKE_MS = 20;
const chain = new LiveChain(PAIRS, READS_TAKE_MS);
const tokens = [...chain.pools.keys()];
await run();
const searched = { ...chain.calls };
Object.assign(chain.calls, { accounts: 0, programAccounts: 0 });
const [startCpu, startMs] = [process.cpuUsage(), performance.now()];
await run();
const { user, system } = process.cpuUsage(startCpu);
const tookSeconds = (performance.now() - startMs) / 1_000;
const cpuSeconds = (user + system) / 1e6;
const { accounts, programAccounts } = chain.calls;
const rows = [
  [
    `restart with ${PAIRS} pairs in use: all warm`,
    `${cpuSeconds.toFixed(1)} s`,
    `${tookSeconds.toFixed(1)} s by the clock; nodes answer reads in ${READS_TAKE_MS} ms`,
    "≤ 10 s",
  ],
  [
    "calls to nodes of that restart",
    `${programAccounts} getProgramAccounts, ${accounts} getMultipleAccounts`,
    `${searched.programAccounts} and ${searched.accounts} the first time`,
    "0 getProgramAccounts",
  ],
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit();

/** One service's life: it makes every pair hot, and ends. */
async function run(): Promise<void> {
  const store = await openStore({ dataDir: folder });
  const index = new StoredMarketIndex({ store, network: "restart", now: Date.now, warn: console.warn });
  const writes: Promise<void>[] = [];
  const service = new LiveService(chain, venues, {
    find: (keys) => index.find(keys),
    add: (...found) => void writes.push(index.add(...found)),
    remove: (addresses) => void writes.push(index.remove(addresses)),
  });
  for (let at = 0; at < tokens.length; at += TOKENS_AT_ONCE) {
    await service.warm(tokens.slice(at, at + TOKENS_AT_ONCE));
    // More than a thousand writes do not wait: in service searches come no faster than their budget.
    await Promise.all(writes.splice(0));
  }
  service.close();
  await index.close();
  await store.close();
}
