/**
 * A service's live state over Yellowstone at its promised size, in a process of its own: what each turn of its loop takes while the
 * stream bursts, forks, has a gap and is cut. Sends a `LiveStateReport`.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AccountReader } from "../../../src/chain/port.ts";
import { createYellowstoneStateSource } from "../../../src/chain/yellowstone/yellowstone-state-source.ts";
import { createMarkets } from "../../../src/market/markets.ts";
import type { Address } from "../../../src/primitives/address.ts";
import type { Account } from "../../../src/solana/account.ts";
import { SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import type { BurstOrder } from "./burst-process.ts";
import {
  ACCOUNTS,
  addressOf,
  type LiveStateReport,
  MARKETS_PER_PAIR,
  PAIRS,
  pairOf,
  SINGLES,
  venue,
} from "./live-state.ts";
import { type Turn, watchTurns } from "./turn-watch.ts";

const server: ChildProcess = fork(fileURLToPath(new URL("./burst-process.ts", import.meta.url)), {
  execArgv: process.execArgv,
});
const [port] = (await once(server, "message")) as [number];
async function ask(order: BurstOrder): Promise<number> {
  server.send(order);
  const [count] = (await once(server, "message")) as [number];
  return count;
}

/** How often the end of the root's work is waited for, a tenth of a second each time. */
const PRUNED_WAITS = 100;
let slot = 1_000;
let value = 0;
const warnings: string[] = [];
const warn = (message: string) => void warnings.push(message);
/** As a read is decoded: small buffers share larger ones. */
const accountAt = (address: Address): Account => ({
  ...{ address, slot: BigInt(slot), owner: SYSTEM_PROGRAM, lamports: 1n, executable: false },
  data: Buffer.allocUnsafe(165).fill(value),
});
const reader: AccountReader = {
  async fetchAccounts(addresses) {
    await nextTurn();
    return { slot: BigInt(slot), accounts: addresses.map(accountAt) };
  },
  fetchProgramAccounts: async () => "refused",
};
const source = createYellowstoneStateSource({
  ...{ url: `http://127.0.0.1:${port}`, token: undefined, reader, now: Date.now, random: () => 0.5, warn },
  // The server reports slots only in bursts.
  ...{ silentMs: 600_000, quietMs: 600_000 },
});
const head = { slotAgeMs: () => 0, clock: () => ({ slot: BigInt(slot), epoch: 0n, unixTimestamp: 0n }) };
/** The pairs are filled in at once: how many cold searches a service makes is row 45's matter. */
const searchBudget = { perKey: 0, perAddress: 0, perSecond: 0, burstSeconds: 60, atOnce: PAIRS, waitMs: 600_000 };
const markets = createMarkets({
  ...{ reader, source, head, venues: [venue], searchBudget, now: Date.now, warn, maxAgeMs: 600_000 },
});

async function until(isTrue: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await isTrue())) await sleep(everyMs);
}

/** Begins slots up to a new one and changes every account in it. */
async function burst({ skipped = 0, isReplaced = false } = {}): Promise<void> {
  const from = slot + 1 + skipped;
  slot = from + 4;
  value += 1;
  const before = source.counts().notices;
  const writes = await ask({ slot, from, value, isReplaced });
  await until(() => source.counts().notices >= before + writes);
}

const isStreamed = () => source.counts().streamed === ACCOUNTS;
const phases: Record<string, readonly Turn[]> = {};
async function watch(name: string, phase: () => Promise<void>): Promise<void> {
  const stop = watchTurns();
  await phase();
  phases[name] = stop();
}

for (let at = 0; at < PAIRS; at += 100)
  await Promise.all(Array.from({ length: 100 }, (_, i) => markets.marketsOf(pairOf(at + i))));
await markets.warm(Array.from({ length: SINGLES }, (_, i) => addressOf(4, i)));
await until(async () => (await ask("count")) === ACCOUNTS, 200);
// The first one covers the accounts and warms the code up.
await burst();
await until(isStreamed);
await watch("burst", async () => {
  for (let i = 0; i < 2; i++) await burst();
  await ask({ root: slot });
  await sleep(500);
});
// On a busy machine the last of them take longer than that.
for (let waits = 0; waits < PRUNED_WAITS && source.spareVersions() > 0; waits++) await sleep(100);
const spare = source.spareVersions();
const answer = await markets.marketsOf(pairOf(PAIRS - 1));
const states = answer.markets.map(({ state }) => state);
// Longer than the sweep's period, so that one falls into it.
await watch("rest", () => sleep(2_500));
await watch("fork", async () => {
  for (let i = 0; i < 2; i++) await burst({ isReplaced: true });
});
const refilled = async () => {
  await until(isStreamed);
  await sleep(500);
};
await watch("gap", async () => {
  await burst({ skipped: 3 });
  await refilled();
});
await watch("cut", async () => {
  await ask("cut");
  await until(async () => (await ask("count")) === ACCOUNTS, 200);
  await burst();
  await refilled();
});
await watch("release", async () => {
  markets.close();
  await sleep(500);
});
source.close();
process.send?.({ phases, states, spare, marketsPerPair: MARKETS_PER_PAIR, warnings } satisfies LiveStateReport);
server.disconnect();
