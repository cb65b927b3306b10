/**
 * Updates the lists in the venues' `known-configs.ts` from a node that serves getProgramAccounts: prints added and removed
 * entries, and writes the files. `npm run venues:refresh -- --rpc <url>`; with `--dry-run`, writes nothing.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createAccountReader } from "../src/chain/rpc/accounts/account-reader.ts";
import { createRpcEndpoint } from "../src/chain/rpc/rpc-endpoint.ts";
import { createRpcPool } from "../src/chain/rpc/rpc-pool.ts";
import { readVenueFolders } from "./venue-folders.ts";
import { updateList, venueLists } from "./venue-lists.ts";

const TIMEOUT_MS = 60_000;
const MAX_RESPONSE_BYTES = 64 << 20;

const { values } = parseArgs({ options: { rpc: { type: "string" }, "dry-run": { type: "boolean", default: false } } });
if (values.rpc === undefined) {
  process.stderr.write("Name a node of mainnet: npm run venues:refresh -- --rpc https://…\n");
  process.exit(2);
}
const endpoint = createRpcEndpoint({
  url: values.rpc,
  now: Date.now,
  timeoutMs: TIMEOUT_MS,
  maxResponseBytes: MAX_RESPONSE_BYTES,
});
const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: (text) => process.stderr.write(`${text}\n`) });
const reader = createAccountReader({ pool, commitment: "confirmed" });

for (const list of venueLists(await readVenueFolders())) {
  const source = readFileSync(list.file, "utf8");
  try {
    const update = await updateList(reader, list, source);
    if (update === undefined) {
      process.exitCode = 1;
      process.stdout.write(`${list.constant}: the node does not serve this search\n`);
      continue;
    }
    const { added, removed } = update;
    process.stdout.write(`${list.constant}: ${added.length} new, ${removed.length} gone\n`);
    for (const value of added) process.stdout.write(`  + ${value}\n`);
    for (const value of removed) process.stdout.write(`  - ${value}\n`);
    if (update.source !== source && !values["dry-run"]) writeFileSync(list.file, update.source);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${list.constant}: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
