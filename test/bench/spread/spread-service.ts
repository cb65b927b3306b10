/**
 * The API on spread traffic: the real edge, keys and builds, on accounts in memory in place of a node. After each build, one
 * account of a random market changes, unless it is asked to leave that out, or the build too. It answers what it has used;
 * callers get their keys from the file that it names.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey, hashApiKey, keyIdOf } from "../../../src/accounts/keys/api-key.ts";
import { createKeyDirectory } from "../../../src/accounts/keys/key-directory.ts";
import { openStore, type Store } from "../../../src/accounts/store/store.ts";
import { Metrics } from "../../../src/api/observe/metrics.ts";
import { Api } from "../../../src/api/server.ts";
import { apiSettings } from "../../../src/app/api-settings.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { monotonicMs } from "../../../src/primitives/clock.ts";
import { buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { Trades } from "../../../src/trade/trade.ts";
import { answerParent } from "../child.ts";
import { cpuMicros } from "../measure.ts";
import { buildEach } from "./spread-requests.ts";
import { FULL_SPREAD, openSpreadWorld, type SpreadWorld } from "./spread-world.ts";

/** What the callers of the service know, as JSON. */
export interface SpreadFacts {
  readonly port: number;
  /** API keys, by wallet. */
  readonly keys: readonly string[];
  readonly mints: readonly string[];
  /** Of each pair, the places of its wallet and its mint. */
  readonly pairs: readonly (readonly [wallet: number, mint: number])[];
}

/** What calls do from now on: `call` answers with the last build, which leaves what the wire and the gate cost. */
export type CallWork = "call and build and update" | "call and build" | "call";

/** Asks for what is used so far. */
export interface UsageQuestion {
  /** As before, if it is absent. */
  readonly work?: CallWork | undefined;
}

/** What the service has used since it started. */
export interface Usage {
  /** Processor time, microseconds. */
  readonly cpu: number;
  /** Bytes on the heap and outside of it; what calls leave there, if no collection ran in between. */
  readonly bytes: number;
}

const ROWS_AT_ONCE = 500;
const PEPPER = new Uint8Array(32).fill(5);

const scale = Number(process.argv[2] ?? 1);
const folder = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const world = await openSpreadWorld(
  { ...FULL_SPREAD, wallets: FULL_SPREAD.wallets / scale, mints: FULL_SPREAD.mints / scale },
  17,
);
await buildEach(world);
const store = await openStore({ dataDir: folder });
const apiKeys = await register(store, world);
const keys = createKeyDirectory({ store, pepper: PEPPER, now: monotonicMs, epochMs: Date.now });
for (const key of apiKeys) await keys.authenticate(key);
const config = parseConfig({
  PORT: "0",
  DATA_DIR: folder,
  // All requests come from one address: limits are counted but never reached.
  BUILD_PER_SECOND: "1000000",
  ADDRESS_BUILD_PER_SECOND: "1000000",
  BUILD_QUEUE_MS: "10000",
});
const metrics = new Metrics();
const api = new Api({
  trades: { build } as Trades,
  accounts: {} as never,
  keys,
  logger: { warn: console.warn, error: console.error },
  settings: apiSettings(config, { tls: undefined, publicUrl: () => "http://127.0.0.1" }),
  canBuild: () => true,
  nowMs: monotonicMs,
  wallMs: Date.now,
  requestIdPrefix: "bench",
  observe: (record) => metrics.record(record),
});
const { port } = await api.listen();
const file = join(folder, "facts.json");
const facts: SpreadFacts = {
  port,
  keys: apiKeys,
  mints: world.mints.map(String),
  pairs: world.pairs.map(({ walletIndex, mintIndex }) => [walletIndex, mintIndex]),
};
writeFileSync(file, JSON.stringify(facts));
// What changes is found beforehand: in a service it comes from a socket.
const changing = Array.from(world.marketsOf.values(), ([market]) => market!);
let work: CallWork = "call and build and update";
let last: ReturnType<Trades["build"]> | undefined;
answerParent({ file, port }, (question: UsageQuestion): Usage => {
  work = question.work ?? work;
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { cpu: cpuMicros(), bytes: heapUsed + arrayBuffers };
});

function build(request: Parameters<Trades["build"]>[0]): ReturnType<Trades["build"]> {
  if (work === "call" && last !== undefined) return last;
  const built = buildTrade(world.ports, request);
  last = built;
  if (work === "call and build") return built;
  world.chain.touch(changing[world.random.u32() % changing.length]!);
  return built;
}

/** Writes an account and a key for each wallet. @returns the keys */
async function register(into: Store, { wallets }: SpreadWorld): Promise<readonly string[]> {
  const made = wallets.map((wallet) => ({ wallet: wallet.toString(), key: createApiKey(randomBytes) }));
  const at = Date.now();
  for (let from = 0; from < made.length; from += ROWS_AT_ONCE) {
    const rows = made.slice(from, from + ROWS_AT_ONCE);
    await into.run(async (db) => {
      await db
        .insertInto("accounts")
        .values(rows.map(({ wallet }) => ({ id: wallet, wallet, created_at_ms: at })))
        .execute();
      await db
        .insertInto("api_keys")
        .values(
          rows.map(({ wallet, key }) => ({
            id: keyIdOf(key),
            account_id: wallet,
            hash: hashApiKey(key, PEPPER),
            label: "",
            created_at_ms: at,
            revoked_at_ms: null,
            used_at_ms: at + 1,
          })),
        )
        .execute();
    });
  }
  return made.map(({ key }) => key);
}
