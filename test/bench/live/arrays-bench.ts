/**
 * Markets with arrays of ticks or bins live at once: what one costs in memory, beside the bytes of its accounts. They are copies of
 * mainnet's under their own addresses. Prints its rows as JSON.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AccountReader } from "../../../src/chain/port.ts";
import { createStateSource } from "../../../src/chain/state/state-source.ts";
import { createMarkets } from "../../../src/market/markets.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { KeptAccount } from "../../../src/solana/account-content.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import type { MintPair, Venue } from "../../../src/venues/venue.ts";
import { readSampleMarkets, type SampleMarket, type SampleMarkets } from "../../support/sample-markets.ts";
import { BenchChain } from "../spread/bench-chain.ts";
import { cloneMarket } from "../spread/cloned-market.ts";
import { UNLIMITED } from "./live-service.ts";

const MARKETS = Number(process.argv[2] ?? 1_000);
const VENUES = ["meteora_dlmm", "raydium_clmm", "orca_whirlpool"] as const;
/** Until versions of slots that have been rooted meanwhile, and reads that were compared with the stream, are dropped. */
const SETTLING_MS = 9_000;
const HOUR_MS = 3_600_000;
const COLLECTIONS = 5;

const samples = readSampleMarkets();
const rows: (readonly string[])[] = [];
for (const id of VENUES) rows.push(await measure(samples.markets.find(({ venue }) => venue.id === id)!, samples));
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit();

async function measure(sample: SampleMarket, { mint, clock }: SampleMarkets): Promise<readonly string[]> {
  const chain = new BenchChain(clock.slot);
  const { pools, accounts, bytes } = putCopies(chain, sample, mint);
  const before = memoryBytes();
  const reader = readerOf(chain);
  const source = createStateSource({ reader, feed: chain.feed, now: Date.now, warn: console.warn, refreshMs: HOUR_MS });
  const markets = createMarkets({
    reader,
    source,
    head: { slotAgeMs: () => chain.slotAgeMs(), clock: () => clock },
    venues: [probed(sample.venue, pools)],
    searchBudget: UNLIMITED,
    now: Date.now,
    warn: console.warn,
    researchMs: HOUR_MS,
    maxAgeMs: HOUR_MS,
  });
  chain.start();
  for (const token of pools.keys()) {
    await markets.mint(token);
    const { markets: live } = await markets.marketsOf({ a: SOL_MINT, b: token });
    if (live.length !== 1) throw new Error(`${sample.venue.id}: a copy is not live`);
  }
  await sleep(SETTLING_MS);
  const held = memoryBytes() - before;
  chain.close();
  markets.close();
  source.close();
  const kib = (of: number) => (of / MARKETS / 1_024).toFixed(1);
  return [
    `${MARKETS} markets of ${sample.venue.id} live, ${accounts / MARKETS} accounts each`,
    `${kib(held)} KiB a market`,
    `${(held / bytes).toFixed(2)} × the ${kib(bytes)} of its accounts`,
    "≤ 1.1 ×",
  ];
}

/** Puts copies of the sample on the chain. @returns their markets by token, and how many accounts and bytes they have */
function putCopies(chain: BenchChain, sample: SampleMarket, sampleMint: Address) {
  const random = createRandom(7);
  const pools = new Map<Address, Address>();
  let accounts = 0;
  let bytes = 0;
  const sol = sample.accounts.get(SOL_MINT);
  if (sol != null) chain.put(sol);
  while (pools.size < MARKETS) {
    const copy = cloneMarket(sample, { sampleMint, mint: undefined, random });
    for (const account of copy.accounts.values()) {
      if (account === null || account.address === SOL_MINT) continue;
      chain.put(account);
      accounts += 1;
      bytes += account.data.length;
    }
    pools.set(copy.mint, copy.market);
  }
  return { pools, accounts, bytes };
}

/** Reads as from a node, whose answers have bytes of their own. */
function readerOf({ reader }: BenchChain): AccountReader {
  return {
    ...reader,
    async fetchAccounts(addresses, ...rest) {
      const { slot, accounts } = await reader.fetchAccounts(addresses, ...rest);
      return { slot, accounts: accounts.map((account) => account && KeptAccount.of(account, account.data)) };
    },
  };
}

/** The venue as it is, but for the search: finding markets is not what is measured. */
function probed(venue: Venue, pools: ReadonlyMap<Address, Address>): Venue {
  const { searchMint: _, ...rest } = venue;
  return {
    ...rest,
    search: ({ a, b }: MintPair) => {
      const pool = pools.get(a === SOL_MINT ? b : a);
      return pool === undefined ? [] : [{ kind: "probe", addresses: [pool] }];
    },
  };
}

function memoryBytes(): number {
  for (let i = 0; i < COLLECTIONS; i++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
