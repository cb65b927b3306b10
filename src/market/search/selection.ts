import { setImmediate as nextTurn } from "node:timers/promises";
import type { AccountReader, KnownAccount } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { maxOf } from "../../primitives/integer.ts";
import type { AccountView, ChainClock } from "../../solana/account.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { Market, MintPair, Venue } from "../../venues/venue.ts";
import { type FoundMarket, ROUNDS_AFTER_SEARCH } from "./discovery.ts";

/** A market with its state, one among many of a pair. */
interface Contender {
  readonly venue: Venue;
  readonly market: Market;
  readonly state: unknown;
}

/** A market that was read but is not kept live. */
export interface Examined extends Contender {
  readonly found: FoundMarket;
}

interface Examination {
  readonly examined: readonly Examined[];
  /** Every account that was read. */
  readonly known: ReadonlyMap<Address, KnownAccount>;
}

interface ExaminationOptions {
  readonly reader: AccountReader;
  readonly now: Now;
}

/** Markets read or priced before others get a turn. */
const MARKETS_PER_TURN = 32;
/** The sizes markets of SOL are compared at: a large trade and a small one. Lamports. */
const SOL_SIZES = [20_000_000_000n, 100_000_000n] as const;
/** The impact up to which a trade counts for a market's depth. */
const DEPTH_IMPACT = 0.1;
/** Depths are compared in steps of four; the last step is within 64 bits. */
const DEPTH_STEP_BITS = 2;
const DEPTH_STEPS = 31;
/** Parts of the deepest market's depth that markets are compared at, as powers of two: a large trade, a common one, a small one. */
const DEPTH_SHARES = [0n, 7n, 14n] as const;

/**
 * Reads what each market needs, all markets together in each round. Leaves out markets that cannot be read or need more rounds.
 *
 * @throws TradewireError UPSTREAM_ERROR
 */
export async function examineMarkets(
  found: readonly FoundMarket[],
  { reader, now }: ExaminationOptions,
): Promise<Examination> {
  const known = new Map<Address, KnownAccount>();
  for (const { account, readAtMs } of found) known.set(account.address, { account, slot: account.slot, readAtMs });
  const view: AccountView = { get: (address) => known.get(address)?.account };
  const examined: Examined[] = [];
  let waiting = found;
  for (let round = 0; waiting.length > 0 && round <= ROUNDS_AFTER_SEARCH; round++) {
    const lacking = new Set<Address>();
    const next: FoundMarket[] = [];
    for (let index = 0; index < waiting.length; index++) {
      if (index % MARKETS_PER_TURN === MARKETS_PER_TURN - 1) await nextTurn();
      const one = waiting[index]!;
      try {
        const needs = one.venue.needs(one.market, view);
        if (needs.length === 0)
          examined.push({ found: one, venue: one.venue, market: one.market, state: one.venue.read(one.market, view) });
        else {
          next.push(one);
          for (const address of needs) lacking.add(address);
        }
      } catch {
        // A market that cannot be read now is not among the best; the next search examines it again.
      }
    }
    waiting = next;
    if (lacking.size === 0 || round === ROUNDS_AFTER_SEARCH) break;
    const addresses = [...lacking];
    const readAtMs = now();
    const { slot, accounts } = await reader.fetchAccounts(addresses);
    addresses.forEach((address, i) => {
      const account = accounts[i] ?? null;
      known.set(address, { account, slot: account?.slot ?? slot, readAtMs });
    });
  }
  return { examined, known };
}

/** The accounts a market's state was read from, found round by round as a first read would. */
export function neededBy({ venue, market }: Examined, known: ReadonlyMap<Address, KnownAccount>): readonly Address[] {
  const have = new Set<Address>([market.address]);
  const view: AccountView = { get: (address) => (have.has(address) ? known.get(address)?.account : undefined) };
  for (let round = 0; round < ROUNDS_AFTER_SEARCH; round++) for (const one of venue.needs(market, view)) have.add(one);
  have.delete(market.address);
  return [...have];
}

/**
 * The best `limit` markets of a pair, ranked by what they give for large and small amounts in both directions. The amounts
 * follow the deepest market's depth, whatever its mint is worth. The rankings take turns in naming their best market that is
 * not chosen yet, the largest amount first; a market that refuses an ask is not in its ranking.
 */
export async function chooseBest<T extends Contender>(
  contenders: readonly T[],
  { pair, limit, clock }: { pair: MintPair; limit: number; clock: ChainClock },
): Promise<ReadonlySet<T>> {
  if (contenders.length <= limit) return new Set(contenders);
  const [base, quote] = pair.b === SOL_MINT ? [pair.b, pair.a] : [pair.a, pair.b];
  const rankings: (readonly T[])[] = [];
  for (const size of await sizesOf(contenders, base, quote, clock)) {
    const there = await rank(contenders, base, quote, size, clock);
    rankings.push(there.ranked);
    // The reverse direction trades the best market's output of the first.
    if (there.best > 0n) rankings.push((await rank(contenders, quote, base, there.best, clock)).ranked);
  }
  const chosen = new Set<T>();
  for (let place = 0; chosen.size < limit && place < contenders.length; place++) {
    for (const ranked of rankings) {
      const next = ranked[place];
      if (next !== undefined && chosen.size < limit) chosen.add(next);
    }
  }
  return chosen;
}

async function sizesOf(
  contenders: readonly Contender[],
  base: Address,
  quote: Address,
  clock: ChainClock,
): Promise<readonly bigint[]> {
  let deepest = 0n;
  for (let index = 0; index < contenders.length; index++) {
    if (index % MARKETS_PER_TURN === MARKETS_PER_TURN - 1) await nextTurn();
    deepest = maxOf(deepest, depthOf(contenders[index]!, base, quote, clock));
  }
  const sizes = DEPTH_SHARES.map((share) => deepest >> share).filter((size) => size > 0n);
  return base === SOL_MINT ? [...sizes, ...SOL_SIZES] : sizes;
}

/** The most of the input, in steps, that a market takes at a moderate price impact; 0 if none. Base units. */
function depthOf({ venue, state }: Contender, inMint: Address, outMint: Address, clock: ChainClock): bigint {
  const takes = (step: number): boolean => {
    const amount = 1n << BigInt(step * DEPTH_STEP_BITS);
    try {
      return venue.quote(state, { mode: "exactIn", inMint, outMint, amount, clock }).priceImpact <= DEPTH_IMPACT;
    } catch (error) {
      // An amount that is too small does not rule out larger ones.
      return error instanceof TradewireError && error.code === "VALIDATION_ERROR";
    }
  };
  let low = -1;
  for (let high = DEPTH_STEPS; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if (takes(middle)) low = middle;
    else high = middle - 1;
  }
  return low < 0 || low === DEPTH_STEPS ? 0n : 1n << BigInt(low * DEPTH_STEP_BITS);
}

async function rank<T extends Contender>(
  contenders: readonly T[],
  inMint: Address,
  outMint: Address,
  amount: bigint,
  clock: ChainClock,
): Promise<{ readonly ranked: readonly T[]; readonly best: bigint }> {
  const offers: { readonly contender: T; readonly out: bigint }[] = [];
  for (let index = 0; index < contenders.length; index++) {
    if (index % MARKETS_PER_TURN === MARKETS_PER_TURN - 1) await nextTurn();
    const contender = contenders[index]!;
    try {
      const { outAmount } = contender.venue.quote(contender.state, { mode: "exactIn", inMint, outMint, amount, clock });
      if (outAmount > 0n) offers.push({ contender, out: outAmount });
    } catch {
      // This market cannot make the trade.
    }
  }
  offers.sort((x, y) => (x.out === y.out ? 0 : x.out > y.out ? -1 : 1));
  return { ranked: offers.map(({ contender }) => contender), best: offers[0]?.out ?? 0n };
}
