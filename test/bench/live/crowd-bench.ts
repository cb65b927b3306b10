/**
 * Many constant-product markets live at once: what one costs in memory, the longest stall of the loop while slots begin, sweeps,
 * polls and audits run and a thousand accounts a second change. Prints its rows as JSON.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { raydiumCpmm } from "../../../src/venues/raydium-cpmm/venue.ts";
import type { MintPair, Venue } from "../../../src/venues/venue.ts";
import { median } from "../measure.ts";
import { LiveChain } from "./live-chain.ts";
import { LiveService } from "./live-service.ts";

const MARKETS = Number(process.argv[2] ?? 12_500);
/** How long turns of the loop are timed, in spans whose longest turns are compared. Milliseconds. */
const SPAN_MS = 2_500;
const SPANS = 5;
const CHANGES_PER_SECOND = 1_000;
const BUILDS = 1_000;

const chain = new LiveChain(MARKETS);
const tokens = [...chain.pools.keys()];
const before = memoryBytes();
const service = new LiveService(chain, [probed(raydiumCpmm as Venue)]);
await service.hold(tokens);
const perMarket = (memoryBytes() - before) / MARKETS;
const { pairs, accounts } = service.markets.size();
let order = 0;
let built = 0;
for (let i = 0; i < BUILDS; i++) {
  const trade = await service.build(tokens[Math.floor((i * MARKETS) / BUILDS)]!);
  if (trade.unsignedTransaction.length > 0) built += 1;
}
const longest: number[] = [];
for (let span = 0; span < SPANS; span++) longest.push(await longestTurnMs());
const rows = [
  [
    `${MARKETS} markets live, ${accounts} accounts, ${pairs} pairs`,
    `${(perMarket / 1024).toFixed(1)} KiB a market`,
    `${built} of ${BUILDS} builds`,
    "holds, ≤ 12 KiB",
  ],
  [
    `longest stall of the loop, ${accounts} accounts live`,
    `${median(longest).toFixed(1)} ms`,
    `processor time; in spans of ${SPAN_MS / 1_000} s ${longest.map((ms) => ms.toFixed(1)).join(", ")}`,
    "≤ 5 ms",
  ],
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit();

/** The venue as it is, but for the search: deriving addresses is not what is measured. */
function probed(venue: Venue): Venue {
  const search = ({ a, b }: MintPair) => {
    const pool = a === SOL_MINT ? chain.pools.get(b) : b === SOL_MINT ? chain.pools.get(a) : undefined;
    return pool === undefined ? [] : [{ kind: "probe", addresses: [pool] } as const];
  };
  return { ...venue, search, searchMint: () => [] };
}

/** The longest turn of the loop within a span, in processor time of this thread: what others take of the machine is no stall of it. */
async function longestTurnMs(): Promise<number> {
  const endMs = performance.now() + SPAN_MS;
  let longestMs = 0;
  let changed = 0;
  for (;;) {
    const startMs = performance.now();
    if (startMs >= endMs) return longestMs;
    const from = threadMs();
    await nextTurn();
    longestMs = Math.max(longestMs, threadMs() - from);
    const due = ((SPAN_MS - (endMs - startMs)) * CHANGES_PER_SECOND) / 1_000;
    for (; changed < due && changed % 50 < 49; changed++) change();
    changed += 1;
  }
}

function change(): void {
  const address = chain.changing[Math.floor(Math.random() * chain.changing.length)]!;
  const known = chain.accounts.get(address)!;
  const account = { ...known, lamports: known.lamports + 1n, data: known.data.slice(), slot: chain.slot };
  chain.accounts.set(address, account);
  chain.listener.onAccount({ address, account, slot: chain.slot, epoch: 1, order: ++order });
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function memoryBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
