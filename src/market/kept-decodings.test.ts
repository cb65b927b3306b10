import { expect, test } from "vitest";
import { NO_OWNER } from "../../test/support/no-owner.ts";
import { readSampleMarkets, type SampleMarket } from "../../test/support/sample-markets.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import { createRandom } from "../primitives/random.ts";
import type { Account } from "../solana/account.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../solana/programs.ts";
import { venues } from "../venues/registry.ts";
import { spotBoundOf } from "../venues/spot-bound.ts";
import { LiveAccounts } from "./live-accounts.ts";
import { NO_JUDGE } from "./market-judge.ts";
import { MarketWatch } from "./market-watch.ts";

const random = createRandom(1_729);
const { mint, clock, markets } = readSampleMarkets();
const CHANGES = 120;
/** Bytes of an array of bins, and where those end that say what it is. */
const BIN_ARRAY_SIZE = 10_136;
const BIN_ARRAY_PLACE_END = 24;
const samples = venues.map(({ id }) => [id, markets.find(({ venue }) => venue.id === id)!] as const);

type Accounts = Map<Address, Account | null>;

const textOf = (value: unknown) => JSON.stringify(value, (_, held) => (typeof held === "bigint" ? `${held}n` : held));

/**
 * The account with other bytes, near its beginning more often, or of the other token program. An array of bins stays where it is: no
 * program moves one, and what is bounded by it need not notice.
 */
function changed(account: Account): Account {
  const data = account.data.slice();
  if (random.chance(0.15) && account.owner === TOKEN_PROGRAM) return { ...account, data, owner: TOKEN_2022_PROGRAM };
  const within = Math.min(data.length, random.pick([60, 400, 2_000, 20_000]));
  for (let change = random.pick([0, 1, 1, 4]); change > 0; change--) {
    const at = random.u32() % within;
    const byte = random.pick([0, 1, 2, 255, random.u32() & 255]);
    if (data.length !== BIN_ARRAY_SIZE || at >= BIN_ARRAY_PLACE_END) data[at] = byte;
  }
  return { ...account, data };
}

/** The state, and what it answers to some asks. */
function answersOf({ venue }: SampleMarket, state: unknown): string {
  const asks = [SOL_MINT, mint].flatMap((inMint) => [1_000n, 50_000_000n].map((amount) => ({ inMint, amount })));
  const quotes = asks.map(({ inMint, amount }) => {
    const outMint = inMint === mint ? SOL_MINT : mint;
    try {
      return venue.quote(state, { mode: "exactIn", inMint, outMint, amount, clock });
    } catch (error) {
      return String(error);
    }
  });
  return textOf([state, quotes]);
}

/** What accounts say that nothing has seen before. */
function freshAnswer(sample: SampleMarket, now: Accounts): string {
  const copies = new Map(Array.from(now, ([at, one]) => [at, one && { ...one, data: one.data.slice() }] as const));
  const have = { get: (one: Address) => copies.get(one) };
  const [a, b] = sample.hot.market.mints;
  try {
    const market = sample.venue.decode(have.get(sample.hot.market.address)!, { a, b });
    if (market === undefined) return "closed";
    const lacking = sample.venue.needs(market, have);
    return lacking.length > 0 ? lacking.join() : answersOf(sample, sample.venue.read(market, have));
  } catch {
    return "fault";
  }
}

/** What a watch says, looked at in one way or the other; what cannot be read after all is a fault or lacks accounts the next time. */
function watchedAnswer(sample: SampleMarket, watch: MarketWatch, now: Accounts): string {
  const reading = random.chance(0.6) ? watch.glance() : watch.read();
  if (reading.kind === "hot") {
    const { spot } = reading.hot;
    try {
      const { state } = reading.hot;
      expect(spot).toEqual(spotBoundOf(sample.venue, state, { get: (one) => now.get(one) }));
      return answersOf(sample, state);
    } catch (error) {
      if (!(error instanceof TradewireError)) throw error;
      return watchedAnswer(sample, watch, now);
    }
  }
  if (reading.kind === "lacking") return reading.addresses.join();
  return reading.closed ? "closed" : "fault";
}

/** Where two answers part, shortened: a diff of whole states takes minutes. */
function parting(answer: string, expected: string): string | undefined {
  if (answer === expected) return undefined;
  let at = 0;
  while (answer[at] === expected[at]) at++;
  return `${answer.slice(at, at + 80)} in place of ${expected.slice(at, at + 80)}`;
}

/** A watch of a sample's market, whose accounts `set` changes. */
async function watched(sample: SampleMarket) {
  const own = sample.hot.market.address;
  const original: Accounts = new Map(sample.addresses.map((one) => [one, sample.accounts.get(one) ?? null]));
  const now: Accounts = new Map(original);
  let report: (address: Address, account: Account | null) => void = () => {};
  const live = new LiveAccounts({
    onAccount: (listener: typeof report) => {
      report = listener;
    },
    follow: async (addresses: readonly Address[]) => {
      for (const one of addresses) report(one, now.get(one) ?? null);
    },
  } as never);
  const found = { venue: sample.venue, account: original.get(own)!, market: sample.hot.market } as never;
  const watch = new MarketWatch({ found, live, judge: NO_JUDGE, owner: NO_OWNER, warn() {} });
  await watch.hold(sample.addresses);
  const set = (address: Address, account: Account | null) => {
    now.set(address, account);
    report(address, account);
  };
  return { own, original, now, watch, set };
}

test.each(samples)("%s: a watched market answers as one decoded from scratch, whatever changes", async (_, sample) => {
  const { own, original, now, watch, set } = await watched(sample);
  let hot = 0;
  for (let change = 0; change < CHANGES; change++) {
    const address = random.chance(0.4)
      ? own
      : random.pick(sample.addresses.filter((one) => original.get(one) !== null));
    const before = (random.chance(0.5) ? now : original).get(address) ?? original.get(address)!;
    set(address, address !== own && random.chance(0.05) ? null : changed(before));
    expect(parting(watchedAnswer(sample, watch, now), freshAnswer(sample, now))).toBeUndefined();
    if (watch.read().kind === "hot") hot++;
    else if (random.chance(0.7)) for (const [one, account] of original) set(one, account);
  }
  expect(hot).toBeGreaterThan(CHANGES / 4);
});

test.each(samples)("%s: a bound counts an account from the moment it exists", async (_, sample) => {
  const { own, original, now, watch, set } = await watched(sample);
  let hot = 0;
  for (const [address, account] of original) {
    if (address === own || account === null) continue;
    set(address, null);
    watch.glance();
    set(address, account);
    const reading = watch.glance();
    if (reading.kind !== "hot") throw new Error(`${address} is not read again`);
    const { spot, state } = reading.hot;
    expect(spot).toEqual(spotBoundOf(sample.venue, state, { get: (one) => now.get(one) }));
    hot++;
  }
  expect(hot).toBeGreaterThan(1);
});
