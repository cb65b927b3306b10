import { expect, test } from "vitest";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { type SpotBound, spotBoundOf } from "../../venues/spot-bound.ts";
import type { Venue } from "../../venues/venue.ts";
import { LiveAccounts } from "../live-accounts.ts";
import { NO_JUDGE } from "../market-judge.ts";
import { MarketWatch } from "../market-watch.ts";
import type { HotMarket } from "../port.ts";

const sample = readSampleMarkets().markets.find(({ venue }) => venue.id === "raydium_cpmm")!;
const { accounts, hot, addresses } = sample;
const { vaults } = hot.market as never as { readonly vaults: readonly [Address, Address] };
/** Where a token account has its amount. */
const AMOUNT = 64;

/** The sample, watched as one of many; counts how often its bound is found, and how often it is read. */
async function watched() {
  let report: (address: Address, account: Account | null | undefined) => void = () => {};
  const counts = { bounds: 0, reads: 0, fails: false };
  const warnings: string[] = [];
  const spot: Venue["spot"] = {
    ...sample.venue.spot!,
    of(state, held) {
      if (counts.fails) throw new RangeError("outside the bytes");
      counts.bounds += 1;
      return sample.venue.spot!.of(state as never, held);
    },
  };
  const venue: Venue = {
    ...sample.venue,
    spot,
    read(market, have) {
      counts.reads += 1;
      return sample.venue.read(market, have);
    },
  };
  const live = new LiveAccounts({
    onAccount: (listener: typeof report) => {
      report = listener;
    },
    follow: async (wanted: readonly Address[]) => {
      for (const one of wanted) report(one, accounts.get(one) ?? null);
    },
    unfollow() {},
  } as never);
  const found = { venue, account: accounts.get(hot.market.address)!, market: hot.market } as never;
  const warn = (message: string) => void warnings.push(message);
  const owner = { answers: 0, told: [] as HotMarket[], invalidate() {}, followed: tell };
  function tell(_: unknown, now: HotMarket, bound: SpotBound): void {
    expect(bound).toBe(now.spot);
    owner.told.push(now);
  }
  const watch = new MarketWatch({ found, live, judge: NO_JUDGE, owner, warn });
  await watch.hold(addresses);
  const ask = () => {
    const reading = watch.glance();
    if (reading.kind !== "hot") throw new Error(reading.kind);
    return reading.hot;
  };
  ask();
  Object.assign(counts, { bounds: 0, reads: 0 });
  return {
    counts,
    warnings,
    watch,
    owner,
    ask,
    report: (one: Address, account: Account | undefined) => report(one, account),
  };
}

/** A vault that holds another amount. */
function vaultWith(place: 0 | 1, byte: number): Account {
  const account = accounts.get(vaults[place])!;
  const data = account.data.slice();
  data[AMOUNT] = byte;
  return { ...account, data };
}

test("the changes of one turn are followed once, by its end, and the next trade finds the bound of them all", async () => {
  const { counts, owner, ask, report } = await watched();
  const [one, two] = [vaultWith(0, 17), vaultWith(1, 91)];
  report(vaults[0], one);
  report(vaults[1], two);
  expect(counts.bounds).toBe(0);
  await Promise.resolve();
  expect(counts).toMatchObject({ bounds: 1, reads: 0 });
  const now = ask();
  expect(owner.told).toEqual([now]);
  const have = { get: (at: Address) => (at === vaults[0] ? one : at === vaults[1] ? two : accounts.get(at)) };
  expect(now.spot).toEqual(spotBoundOf(sample.venue, hot.state, have));
  expect(now.state).toEqual(sample.venue.read(hot.market, have));
  expect(counts).toMatchObject({ bounds: 1, reads: 1 });
});

test("a trade between a change and the end of its turn follows it itself, and nothing is done twice", async () => {
  const { counts, ask, report } = await watched();
  report(vaults[0], vaultWith(0, 17));
  const now = ask();
  await Promise.resolve();
  expect(counts.bounds).toBe(1);
  expect(ask()).toBe(now);
});

test("changes that no trade asks about are soon followed no more, until one does", async () => {
  const { counts, owner, ask, report } = await watched();
  const change = async (byte: number) => {
    report(vaults[0], vaultWith(0, byte));
    await Promise.resolve();
  };
  for (let byte = 1; byte <= 40; byte++) await change(byte);
  expect(counts.bounds).toBe(8);
  ask();
  expect(counts.bounds).toBe(9);
  await change(200);
  expect(counts.bounds).toBe(10);
  // An answer that found it followed did not ask.
  for (let byte = 1; byte <= 40; byte++) await change(byte);
  expect(counts.bounds).toBe(17);
  owner.answers += 1;
  for (let byte = 1; byte <= 40; byte++) await change(byte);
  expect(counts.bounds).toBe(25);
});

test("a market that is unknown, or released, is not followed", async () => {
  const { counts, watch, report } = await watched();
  report(vaults[0], undefined);
  await Promise.resolve();
  report(vaults[0], vaultWith(0, 5));
  watch.release();
  await Promise.resolve();
  expect(counts.bounds).toBe(0);
});

test("code that fails on a change fails nothing else: the market is read when a trade asks", async () => {
  const { counts, warnings, ask, report } = await watched();
  counts.fails = true;
  report(vaults[0], vaultWith(0, 17));
  await Promise.resolve();
  expect(warnings).toHaveLength(1);
  expect(ask().state).toBeDefined();
  expect(counts.reads).toBe(1);
});
