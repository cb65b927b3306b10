/**
 * Ten thousand hot markets and five thousand updates a second on one core: what builds still achieve, what a market costs in
 * memory. Updates pass through the stream's own decoding, the versions of the state source and the market layer; builds are
 * whole ones, of random tokens. `npm run bench:state`
 */
import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { AccountReader } from "../../src/chain/port.ts";
import type { AccountFeed, FeedListener } from "../../src/chain/state/account-feed.ts";
import { createStateSource } from "../../src/chain/state/state-source.ts";
import { decodeSubscribeUpdate } from "../../src/chain/yellowstone/yellowstone-wire.ts";
import { createMarkets } from "../../src/market/markets.ts";
import { Address, compareAddresses } from "../../src/primitives/address.ts";
import { createWorld } from "../../src/sandbox/world/world.ts";
import type { Account } from "../../src/solana/account.ts";
import { associatedTokenAccount } from "../../src/solana/derived-address.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { raydiumCpmm } from "../../src/venues/raydium-cpmm/venue.ts";
import type { MintPair, Venue } from "../../src/venues/venue.ts";
import { memoryPorts } from "../support/memory-ports.ts";
import { WORLD_CLOCK } from "../support/world.ts";

const MARKETS = 10_000;
const UPDATES_PER_SECOND = 5_000;
const SLOT_MS = 200;
const MEASURE_MS = 5_000;
const ROUNDS = 3;

/** Everything there is, as a node would answer. */
const chain = new Map<Address, Account>();
let slot = WORLD_CLOCK.slot;
let writeVersion = 0;
const put = (address: Address, owner: Address, data: Uint8Array, lamports = 1_000_000n): void => {
  chain.set(address, { address, owner, lamports, data, executable: false, slot });
};

const { pools, updated } = seedMarkets();
const wallet = Address.from(randomBytes(32));
put(wallet, SYSTEM_PROGRAM, new Uint8Array(0), 1n << 50n);

const reader: AccountReader = {
  fetchAccounts: async (addresses) => ({ slot, accounts: addresses.map(readAccount) }),
  fetchProgramAccounts: async () => "refused",
};
let listener!: FeedListener;
let liveAtMs = Date.now();
const feed: AccountFeed = {
  listen(given) {
    listener = given;
  },
  follow: (addresses) => listener.onCovered(addresses, slot),
  unfollow: () => {},
  liveAtMs: () => liveAtMs,
  reportsEveryChange: false,
  liveTimes: () => () => liveAtMs,
  leastLiveAtMs: () => liveAtMs,
  readStamp: () => ({ epoch: -1, order: 0 }),
  doubt: () => true,
  close: () => {},
};
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
const head = { slotAgeMs: () => Date.now() - liveAtMs, clock: ports.head.clock };
const markets = createMarkets({ reader, source, head, venues: [venue], now: Date.now, warn: console.warn });
const buildPorts = { ...ports, markets };

const before = memoryBytes();
beginSlot();
const slots = setInterval(beginSlot, SLOT_MS);
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

/** Ten thousand pools after the model of one of the embedded chain's: its own mint, vaults and address each. */
function seedMarkets(): { readonly pools: Map<Address, Address>; readonly updated: readonly Address[] } {
  const world = createWorld({ seed: 1, slot: WORLD_CLOCK.slot, unixTimestamp: WORLD_CLOCK.unixTimestamp });
  const byAddress = new Map(world.accounts.map((account) => [account.address, account]));
  const model = world.tokens.find((one) => one.venue === "raydium_cpmm" && one.quoteMint === SOL_MINT)!;
  const pool = byAddress.get(model.market)!;
  const keyAt = (index: number) => Address.from(pool.data, 8 + 32 * index);
  const [config, vault0, vault1, mint0] = [keyAt(0), keyAt(2), keyAt(3), keyAt(5)];
  const isSolFirst = mint0 === SOL_MINT;
  const [solVault, tokenVault] = isSolFirst ? [vault0, vault1] : [vault1, vault0];
  for (const address of [config, SOL_MINT]) {
    const account = byAddress.get(address);
    if (account !== undefined) put(address, account.owner, account.data);
  }
  if (!chain.has(SOL_MINT)) put(SOL_MINT, TOKEN_PROGRAM, solMintData());
  const made = new Map<Address, Address>();
  const changing: Address[] = [];
  while (made.size < MARKETS) {
    const [token, own, ownSolVault, ownTokenVault] = [0, 0, 0, 0].map(() => Address.from(randomBytes(32))) as [
      Address,
      Address,
      Address,
      Address,
    ];
    if (compareAddresses(SOL_MINT, token) < 0 !== isSolFirst) continue;
    const mint = byAddress.get(model.mint)!;
    put(token, mint.owner, mint.data.slice());
    const data = pool.data.slice();
    data.set(ownSolVault.bytes, 8 + 32 * (isSolFirst ? 2 : 3));
    data.set(ownTokenVault.bytes, 8 + 32 * (isSolFirst ? 3 : 2));
    data.set(token.bytes, 8 + 32 * (isSolFirst ? 6 : 5));
    put(own, pool.owner, data);
    put(ownSolVault, TOKEN_PROGRAM, byAddress.get(solVault)!.data.slice());
    const held = byAddress.get(tokenVault)!.data.slice();
    held.set(token.bytes, 0);
    put(ownTokenVault, TOKEN_PROGRAM, held);
    made.set(token, own);
    changing.push(own, ownSolVault, ownTokenVault);
  }
  return { pools: made, updated: changing };
}

function readAccount(address: Address): Account | null {
  const account = chain.get(address);
  return account === undefined ? null : { ...account, slot };
}

function solMintData(): Uint8Array {
  const data = new Uint8Array(82);
  data[44] = 9;
  data[45] = 1;
  return data;
}

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
  const address = updated[Math.floor(Math.random() * updated.length)]!;
  const known = chain.get(address)!;
  const account: Account = { ...known, lamports: known.lamports + 1n, slot };
  chain.set(address, account);
  const info = new BinaryWriter();
  info.tag(1, 2).bytes(address.bytes).tag(2, 0).uint64(account.lamports).tag(3, 2).bytes(account.owner.bytes);
  info.tag(6, 2).bytes(account.data).tag(7, 0).uint64(++writeVersion);
  const body = new BinaryWriter().tag(1, 2).bytes(info.finish()).tag(2, 0).uint64(slot).finish();
  const update = decodeSubscribeUpdate(new BinaryWriter().tag(1, 2).string("1").tag(2, 2).bytes(body).finish());
  if (update.kind === "account") listener.onAccount({ ...update, epoch: 1, order: update.writeVersion });
}

function beginSlot(): void {
  slot += 1n;
  liveAtMs = Date.now();
  listener.onSlot(slot, slot - 1n);
  listener.onRoot(slot - 32n);
}

function memoryBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
