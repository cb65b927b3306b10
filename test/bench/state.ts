/**
 * Ten thousand hot markets and five thousand updates a second on one core: what builds still achieve, what a market costs in
 * memory. Updates pass through the stream's own decoding, the versions of the state source and the market layer; builds are
 * whole ones, of random tokens. `npm run bench:state`
 */
import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { createStateSource } from "../../src/chain/state/state-source.ts";
import { decodeSubscribeUpdate } from "../../src/chain/yellowstone/yellowstone-wire.ts";
import { createMarkets } from "../../src/market/markets.ts";
import { Address } from "../../src/primitives/address.ts";
import type { Account } from "../../src/solana/account.ts";
import { associatedTokenAccount } from "../../src/solana/derived-address.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { raydiumCpmm } from "../../src/venues/raydium-cpmm/venue.ts";
import type { MintPair, Venue } from "../../src/venues/venue.ts";
import { memoryPorts } from "../support/memory-ports.ts";
import { WORLD_CLOCK } from "../support/world.ts";
import { LiveChain } from "./live/live-chain.ts";
import { UNLIMITED } from "./live/live-service.ts";

const MARKETS = 10_000;
const UPDATES_PER_SECOND = 5_000;
const SLOT_MS = 200;
const MEASURE_MS = 5_000;
const ROUNDS = 3;

const chain = new LiveChain(MARKETS);
const { pools, reader, feed } = chain;
const wallet = Address.from(randomBytes(32));
chain.put(wallet, SYSTEM_PROGRAM, new Uint8Array(0), 1n << 50n);
let writeVersion = 0;
const source = createStateSource({
  reader,
  feed,
  now: Date.now,
  warn: console.warn,
  refreshMs: 300_000,
});
/** The venue as it is, but for the search: deriving addresses is not what is measured. */
const venue: Venue = {
  ...(raydiumCpmm as Venue),
  search: ({ a, b }: MintPair) => {
    const pool = a === SOL_MINT ? pools.get(b) : b === SOL_MINT ? pools.get(a) : undefined;
    return pool === undefined ? [] : [{ kind: "probe", addresses: [pool] }];
  },
};
const tokens = [...pools.keys()];
const ports = memoryPorts({ mint: tokens[0]!, clock: WORLD_CLOCK, wallet, markets: [] });
const head = { slotAgeMs: () => Date.now() - chain.liveAtMs, clock: ports.head.clock };
const markets = createMarkets({
  ...{ reader, source, head, venues: [venue], searchBudget: UNLIMITED },
  ...{ now: Date.now, warn: console.warn },
});
const buildPorts = { ...ports, markets };

const before = memoryBytes();
chain.beginSlot();
const slots = setInterval(() => chain.beginSlot(), SLOT_MS);
await warmEverything();
await sleep(1_000);
const perMarket = (memoryBytes() - before) / MARKETS;

const rates: { readonly unloaded: number; readonly loaded: number; readonly applied: number }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const unloaded = await measureBuilds();
  const noticesBefore = source.counts().notices;
  const startedAt = coreMs();
  const stop = startUpdates();
  const loaded = await measureBuilds();
  stop();
  const applied = ((source.counts().notices - noticesBefore) * 1_000) / (coreMs() - startedAt);
  rates.push({ unloaded, loaded, applied });
}
/** The middle round by its ratio. */
const typical = rates.toSorted((x, y) => x.loaded / x.unloaded - y.loaded / y.unloaded)[ROUNDS >> 1]!;
const withVersions = (memoryBytes() - before) / MARKETS;
const { pairs, accounts } = markets.size();
const ratio = typical.loaded / typical.unloaded;
const rows: readonly (readonly [string, string, string])[] = [
  ["hot markets", `${MARKETS}`, "10000"],
  ["accounts kept live", `${accounts}`, "≈ 60000"],
  ["pairs, with those of hubs", `${pairs}`, ""],
  ["memory per market, quiet", `${(perMarket / 1024).toFixed(1)} KiB`, ""],
  ["memory per market, after updates", `${(withVersions / 1024).toFixed(1)} KiB`, ""],
  ["versions held beside the newest", `${source.spareVersions()}`, ""],
  ["warm builds a second of one core, no updates", typical.unloaded.toFixed(0), ""],
  ["warm builds a second of one core, under updates", typical.loaded.toFixed(0), ""],
  ["updates applied a second of one core", typical.applied.toFixed(0), `${UPDATES_PER_SECOND}`],
  ["rate under updates to rate without", ratio.toFixed(2), "≥ 0.5"],
  ["audit: compared, different", `${source.counts().audited}, ${source.counts().auditDifferences}`, "different: 0"],
];
const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
for (const [name, value, goal] of rows)
  process.stdout.write(`${name.padEnd(widths[0]!)}  ${value.padStart(widths[1]!)}  ${goal}\n`);
clearInterval(slots);
markets.close();
source.close();
const isMet = ratio >= 0.5 && typical.applied >= 0.95 * UPDATES_PER_SECOND && source.counts().auditDifferences === 0;
process.exitCode = isMet ? 0 : 1;

/** Builds on every token once, as its first caller does, and follows a second wallet's account of each. */
async function warmEverything(): Promise<void> {
  const other = Address.from(randomBytes(32));
  for (let at = 0; at < tokens.length; at += 50) {
    const some = tokens.slice(at, at + 50);
    await Promise.all(some.map((token) => buildTrade(buildPorts, request(token))));
    await markets.warm(some.map((token) => associatedTokenAccount(other, token, TOKEN_PROGRAM).address));
  }
}

function request(mint: Address): TradeRequest {
  return {
    principal: { accountId: "bench", keyId: "bench", wallet },
    inMint: SOL_MINT,
    outMint: mint,
    mode: "exactIn",
    amount: 0.1,
    slippage: 0.05,
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
  };
}

/** Milliseconds of one core this process has used: what others on the machine take is not measured. */
function coreMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Builds as fast as can be, letting everything else have its turn every few milliseconds. Builds a second of one core. */
async function measureBuilds(): Promise<number> {
  const startedAt = coreMs();
  let builds = 0;
  while (coreMs() - startedAt < MEASURE_MS) {
    for (let i = 0; i < 20; i++) {
      const token = tokens[Math.floor(Math.random() * tokens.length)]!;
      const built = buildTrade(buildPorts, request(token));
      if (built instanceof Promise) await built;
      builds += 1;
    }
    await nextTurn();
  }
  return (builds * 1_000) / (coreMs() - startedAt);
}

/** Updates at an even pace, made up for when the thread was busy. @returns how to stop */
function startUpdates(): () => void {
  const startedAt = coreMs();
  let done = 0;
  const timer = setInterval(() => {
    const due = ((coreMs() - startedAt) * UPDATES_PER_SECOND) / 1_000;
    for (; done < due; done++) update();
  }, 5);
  return () => clearInterval(timer);
}

/** One account changes on the chain, and the stream reports it. */
function update(): void {
  const { changing, accounts, slot, listener } = chain;
  const address = changing[Math.floor(Math.random() * changing.length)]!;
  const known = accounts.get(address)!;
  const account: Account = { ...known, lamports: known.lamports + 1n, slot };
  accounts.set(address, account);
  const info = new BinaryWriter();
  info.tag(1, 2).bytes(address.bytes).tag(2, 0).uint64(account.lamports).tag(3, 2).bytes(account.owner.bytes);
  info.tag(6, 2).bytes(account.data).tag(7, 0).uint64(++writeVersion);
  const body = new BinaryWriter().tag(1, 2).bytes(info.finish()).tag(2, 0).uint64(slot).finish();
  const update = decodeSubscribeUpdate(new BinaryWriter().tag(1, 2).string("1").tag(2, 2).bytes(body).finish());
  if (update.kind === "account") listener.onAccount({ ...update, epoch: 1, order: update.writeVersion });
}

function memoryBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
