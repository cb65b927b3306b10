import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import type { AccountReader } from "../../../src/chain/port.ts";
import { createYellowstoneStateSource } from "../../../src/chain/yellowstone/yellowstone-state-source.ts";
import { createMarkets } from "../../../src/market/markets.ts";
import { Address } from "../../../src/primitives/address.ts";
import type { Account } from "../../../src/solana/account.ts";
import { SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import { programErrors } from "../../../src/venues/shared/program-errors.ts";
import type { Market, Venue } from "../../../src/venues/venue.ts";
import type { BurstOrder } from "./burst-process.ts";
import { usedMs } from "./core-times.ts";
import { ms, percentile, report } from "./table.ts";

const PAIRS = 4_000;
const MARKETS_PER_PAIR = 25;
const SINGLES = 25_000;
const ACCOUNTS = PAIRS * MARKETS_PER_PAIR + SINGLES;
const START_SLOT = 1_000;
/** A window longer than the sweep's period, so that one falls into it. Milliseconds. */
const SWEEP_MS = 2_500;

const addressOf = (kind: number, index: number) => {
  const bytes = new Uint8Array(32).fill(kind);
  new DataView(bytes.buffer).setUint32(0, index);
  return Address.from(bytes);
};
const accountAt = (address: Address, slot: bigint): Account => ({
  ...{ address, slot, owner: SYSTEM_PROGRAM, lamports: 1n, data: new Uint8Array(165), executable: false },
});

let server: ChildProcess | undefined;
afterAll(() => server?.disconnect());

async function ask(order: BurstOrder): Promise<number> {
  server!.send(order);
  const [writes] = (await once(server!, "message")) as [number];
  return writes;
}

/** Pauses of the garbage collector so far: they follow the heap and the machine's load, not what a turn does. */
const pauses: PerformanceEntry[] = [];
new PerformanceObserver((list) => void pauses.push(...list.getEntries())).observe({ entryTypes: ["gc"] });

/** Processor time of each turn of the loop until it is stopped, without the garbage collector's pauses. Milliseconds. */
function watchTurns(): () => Promise<number[]> {
  const turns: { readonly fromMs: number; readonly toMs: number; readonly usedMs: number }[] = [];
  let before = { atMs: performance.now(), usedMs: usedMs() };
  let next = setImmediate(function turn() {
    const now = { atMs: performance.now(), usedMs: usedMs() };
    turns.push({ fromMs: before.atMs, toMs: now.atMs, usedMs: now.usedMs - before.usedMs });
    before = now;
    next = setImmediate(turn);
  });
  return async () => {
    clearImmediate(next);
    // The last pauses are reported a little later.
    await sleep(100);
    return turns
      .filter((turn) => turn.usedMs > 1)
      .map((turn) => {
        const within = pauses.filter(({ startTime }) => startTime >= turn.fromMs && startTime < turn.toMs);
        return turn.usedMs - within.reduce((sum, { duration }) => sum + duration, 0);
      });
  };
}

/** A venue whose pairs have markets at known addresses; the pair's number is in its second mint. */
const venue: Venue = {
  id: "raydium_cpmm",
  programs: [addressOf(9, 0)],
  supports: { exactOut: true, token2022: true },
  search({ a, b }) {
    const pair = new DataView((a.bytes[31] === 2 ? a : b).bytes.buffer.slice(0)).getUint32(0);
    const addresses = Array.from({ length: MARKETS_PER_PAIR }, (_, i) => addressOf(3, pair * MARKETS_PER_PAIR + i));
    return [{ kind: "probe", addresses }];
  },
  decode: ({ address }, { a, b }): Market => ({ venue: "raydium_cpmm", address, mints: [a, b], nativeSol: false }),
  needs: () => [],
  read: (market, have) => have.get(market.address)!.data[0],
  quote: () => {
    throw new Error("not asked");
  },
  swap: () => {
    throw new Error("not asked");
  },
  errors: programErrors([]),
};

it("50: a burst of changes and a hundred thousand markets stall nothing", async () => {
  server = fork(fileURLToPath(new URL("./burst-process.ts", import.meta.url)), { execArgv: process.execArgv });
  const [port] = (await once(server, "message")) as [number];
  let slot = START_SLOT;
  const reader: AccountReader = {
    async fetchAccounts(addresses) {
      await nextTurn();
      return { slot: BigInt(slot), accounts: addresses.map((address) => accountAt(address, BigInt(slot))) };
    },
    fetchProgramAccounts: async () => "refused",
  };
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const source = createYellowstoneStateSource({
    ...{ url: `http://127.0.0.1:${port}`, token: undefined, reader, now: Date.now, random: () => 0.5, warn },
    // The server reports slots only in bursts.
    ...{ silentMs: 600_000, quietMs: 600_000 },
  });
  const head = { slotAgeMs: () => 0, clock: () => ({ slot: BigInt(slot), epoch: 0n, unixTimestamp: 0n }) };
  const markets = createMarkets({ reader, source, head, venues: [venue], now: Date.now, warn, maxAgeMs: 600_000 });
  try {
    const pairOf = (i: number) => ({ a: addressOf(1, 0), b: addressOf(2, i) });
    for (let at = 0; at < PAIRS; at += 100)
      await Promise.all(Array.from({ length: 100 }, (_, i) => markets.marketsOf(pairOf(at + i))));
    await markets.warm(Array.from({ length: SINGLES }, (_, i) => addressOf(4, i)));
    expect(markets.size()).toEqual({ pairs: PAIRS, accounts: ACCOUNTS });
    while ((await ask("count")) !== ACCOUNTS) await sleep(200);
    const burst = async (value: number) => {
      const from = slot + 1;
      slot += 5;
      const writes = await ask({ slot, from, value });
      await expect.poll(() => source.counts().notices, { timeout: 60_000 }).toBeGreaterThanOrEqual(writes * value);
      return writes;
    };
    // The first one covers the accounts and warms the code up.
    expect(await burst(1)).toBe(ACCOUNTS);
    const stop = watchTurns();
    for (const value of [2, 3]) await burst(value);
    await ask({ root: slot });
    await expect.poll(() => source.spareVersions(), { timeout: 60_000 }).toBe(0);
    const burstTurns = await stop();
    const stopSweep = watchTurns();
    await sleep(SWEEP_MS);
    const sweepTurns = await stopSweep();
    const answer = await markets.marketsOf(pairOf(PAIRS - 1));
    const states = answer.markets.map(({ state }) => state);
    expect(states).toEqual(Array(MARKETS_PER_PAIR).fill(3));
    expect(warnings).toEqual([]);
    const [burstMs, sweepMs] = [percentile(burstTurns, 1), percentile(sweepTurns, 1)];
    const pausedMs = Math.max(0, ...pauses.map(({ duration }) => duration));
    report(
      50,
      `${ACCOUNTS} account changes in one slot, twice, over Yellowstone; ${PAIRS * MARKETS_PER_PAIR} live markets`,
      "no throw, no turn of the loop above 20 ms of its thread's processor time; 5 ms at rest, sweeps and polls included",
      `slowest turn ${ms(burstMs)}, at rest ${ms(sweepMs)}, without the garbage collector's pauses (slowest ${ms(pausedMs)} by the clock); every older version gone at the root`,
      burstMs <= 20 && sweepMs <= 5,
    );
  } finally {
    markets.close();
    source.close();
  }
});
