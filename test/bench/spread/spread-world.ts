import { createStateSource } from "../../../src/chain/state/state-source.ts";
import { createMarkets, type LiveMarkets } from "../../../src/market/markets.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import type { ChainClock } from "../../../src/solana/account.ts";
import { associatedTokenAccount } from "../../../src/solana/derived-address.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { BuildPorts } from "../../../src/trade/build/build-trade.ts";
import { venues } from "../../../src/venues/registry.ts";
import type { MintPair, Venue } from "../../../src/venues/venue.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { readSampleMarkets, type SampleMarket, type SampleMarkets } from "../../support/sample-markets.ts";
import { type AccountPlace, BenchChain } from "./bench-chain.ts";
import { cloneMarket } from "./cloned-market.ts";

/** How much traffic is spread. */
export interface SpreadSizes {
  readonly wallets: number;
  readonly mints: number;
  /** Mints that each wallet trades. */
  readonly mintsPerWallet: number;
  /** Markets of each mint. */
  readonly marketsPerMint: number;
}

export const FULL_SPREAD: SpreadSizes = { wallets: 10_000, mints: 1_000, mintsPerWallet: 3, marketsPerMint: 1 };

/** A wallet and a mint that it trades. */
export interface TradedPair {
  readonly wallet: Address;
  readonly mint: Address;
  /** Places among the wallets and the mints. */
  readonly walletIndex: number;
  readonly mintIndex: number;
}

/** Wallets, mints and markets, held live by the market layer as in the service, on accounts in memory in place of a node. */
export interface SpreadWorld {
  readonly chain: BenchChain;
  readonly markets: LiveMarkets;
  readonly ports: BuildPorts;
  readonly wallets: readonly Address[];
  readonly mints: readonly Address[];
  /** Market accounts of each mint. */
  readonly marketsOf: ReadonlyMap<Address, readonly AccountPlace[]>;
  readonly pairs: readonly TradedPair[];
  readonly random: Random;
  close(): void;
}

/** The smallest and the largest trade. Lamports. */
export const LEAST_LAMPORTS = 1_000_000n;
export const MOST_LAMPORTS = 50_000_000n;

const ACCOUNTS_PER_READ = 5_000;
/** Of the pairs of a wallet and a mint, one in so many has its token account already. */
const OPEN_ACCOUNTS = 3;

/** Makes the world of a seed and reads all of it into memory. */
export async function openSpreadWorld(sizes: SpreadSizes, seed: number): Promise<SpreadWorld> {
  const random = createRandom(seed);
  const samples = readSampleMarkets();
  const { mint: sampleMint, clock } = samples;
  const chain = new BenchChain(clock.slot);
  const pools = putMarkets(chain, sizes, samples, random);
  const mints = [...pools.keys()];
  const wallets = Array.from({ length: sizes.wallets }, () => Address.from(random.bytes(32)));
  const pairs = wallets.flatMap((wallet, walletIndex) =>
    Array.from({ length: sizes.mintsPerWallet }, (): TradedPair => {
      const mintIndex = random.u32() % mints.length;
      return { wallet, mint: mints[mintIndex]!, walletIndex, mintIndex };
    }),
  );
  putWallets(chain, wallets, pairs);
  const warn = console.warn;
  const source = createStateSource({
    reader: chain.reader,
    feed: chain.feed,
    now: Date.now,
    warn,
    refreshMs: 3_600_000,
  });
  const base = memoryPorts({ mint: sampleMint, clock, wallet: wallets[0]!, markets: [] });
  const markets = createMarkets({
    reader: chain.reader,
    source,
    head: { slotAgeMs: () => chain.slotAgeMs(), clock: base.head.clock },
    venues: venues.map((venue) => withSearch(venue, pools)),
    searchBudget: { perKey: 0, perAddress: 0, perSecond: 0, burstSeconds: 1, atOnce: 64, waitMs: 600_000 },
    now: Date.now,
    warn,
    researchMs: 3_600_000,
    // However long a busy machine keeps the process waiting.
    maxAgeMs: 60_000,
  });
  chain.start();
  await warm(markets, mints, pairs);
  return {
    chain,
    markets,
    ports: { ...base, ...constantsOf(base), markets },
    wallets,
    mints,
    marketsOf: new Map(Array.from(pools, ([mint, found]) => [mint, found.map(({ market }) => chain.placeOf(market))])),
    pairs,
    random,
    close() {
      chain.close();
      markets.close();
      source.close();
    },
  };
}

interface Pool {
  readonly venue: string;
  readonly market: Address;
}

/** Puts copies of the samples on the chain, venue by venue in turn. @returns by mint */
function putMarkets(
  chain: BenchChain,
  { mints, marketsPerMint }: SpreadSizes,
  { mint: sampleMint, clock, markets: samples }: SampleMarkets,
  random: Random,
): ReadonlyMap<Address, readonly Pool[]> {
  // Left out: pools that name a vault which the program derives from the pool's address, and samples without liquidity.
  const usable = samples.filter((sample) => sample.venue.id !== "meteora_dbc" && makesAll(sample, sampleMint, clock));
  putIfThere(chain, usable[0]!.accounts.get(SOL_MINT));
  const pools = new Map<Address, Pool[]>();
  for (let index = 0; index < mints; index++) {
    let mint: Address | undefined;
    const found: Pool[] = [];
    for (let market = 0; market < marketsPerMint; market++) {
      const sample = usable[(index + market * 7) % usable.length]!;
      const copy = cloneMarket(sample, { sampleMint, mint, random });
      mint ??= copy.mint;
      for (const account of copy.accounts.values()) putIfThere(chain, account);
      found.push({ venue: sample.venue.id, market: copy.market });
    }
    pools.set(mint!, found);
  }
  return pools;
}

/** True if the market makes every trade that the traffic asks for. */
function makesAll({ venue, hot }: SampleMarket, outMint: Address, clock: ChainClock): boolean {
  try {
    for (const amount of [LEAST_LAMPORTS, MOST_LAMPORTS])
      venue.quote(hot.state, { mode: "exactIn", inMint: SOL_MINT, outMint, amount, clock });
    return true;
  } catch {
    return false;
  }
}

function putIfThere(chain: BenchChain, account: Parameters<BenchChain["put"]>[0] | null | undefined): void {
  if (account != null) chain.put(account);
}

function putWallets(chain: BenchChain, wallets: readonly Address[], pairs: readonly TradedPair[]): void {
  const none = new Uint8Array(0);
  for (const address of wallets) chain.put({ address, owner: SYSTEM_PROGRAM, lamports: 1n << 50n, data: none });
  for (const [index, { wallet, mint }] of pairs.entries()) {
    const program = chain.placeOf(mint).account.owner;
    if (index % OPEN_ACCOUNTS !== 0 || program !== TOKEN_PROGRAM) continue;
    const data = new Uint8Array(165);
    data.set(mint.bytes, 0);
    data.set(wallet.bytes, 32);
    new DataView(data.buffer).setBigUint64(64, 1n << 40n, true);
    data[108] = 1;
    chain.put({
      address: associatedTokenAccount(wallet, mint, program).address,
      owner: program,
      lamports: 2_039_280n,
      data,
    });
  }
}

/** The venue as it is, but for the search: finding markets is not what is measured. */
function withSearch(venue: Venue, pools: ReadonlyMap<Address, readonly Pool[]>): Venue {
  const { searchMint: _, ...rest } = venue;
  return {
    ...rest,
    search: ({ a, b }: MintPair) => {
      const found = pools.get(a === SOL_MINT ? b : a) ?? [];
      const addresses =
        a !== SOL_MINT && b !== SOL_MINT ? [] : found.flatMap((pool) => (pool.venue === venue.id ? [pool.market] : []));
      return addresses.length === 0 ? [] : [{ kind: "probe", addresses }];
    },
  };
}

/** Reads every market and every wallet's accounts once, as their first callers do. */
async function warm(markets: LiveMarkets, mints: readonly Address[], pairs: readonly TradedPair[]): Promise<void> {
  for (const mint of mints) {
    const known = await markets.mint(mint);
    if (known === null) throw new Error(`${mint} is no mint`);
    await markets.marketsOf({ a: SOL_MINT, b: mint });
  }
  await markets.mint(SOL_MINT);
  const wanted = new Set<Address>();
  for (const { wallet, mint } of pairs) {
    const known = markets.mint(mint);
    if (known === null || known instanceof Promise) throw new Error(`${mint} is not in memory`);
    wanted.add(wallet).add(associatedTokenAccount(wallet, mint, known.program).address);
  }
  const all = [...wanted];
  for (let at = 0; at < all.length; at += ACCOUNTS_PER_READ) await markets.warm(all.slice(at, at + ACCOUNTS_PER_READ));
}

/** The head and the senders as in the service, which make nothing anew for a build. */
function constantsOf({ head, senders }: BuildPorts): Pick<BuildPorts, "head" | "senders"> {
  const lifetime = head.lifetime();
  const choice = senders.choose("fast", 0);
  const rents = new Map<number, bigint>();
  const rentExemption = (space: number): bigint => {
    let rent = rents.get(space);
    if (rent === undefined) {
      rent = head.rentExemption(space);
      rents.set(space, rent);
    }
    return rent;
  };
  return { head: { ...head, lifetime: () => lifetime, rentExemption }, senders: { choose: () => choice } };
}
