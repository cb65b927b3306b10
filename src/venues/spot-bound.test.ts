import { describe, expect, test } from "vitest";
import { readSampleMarkets, type SampleMarket } from "../../test/support/sample-markets.ts";
import type { Address } from "../primitives/address.ts";
import { readU64, writeU64 } from "../primitives/bytes.ts";
import { U64_MAX } from "../primitives/integer.ts";
import { createRandom } from "../primitives/random.ts";
import type { Account, AccountView } from "../solana/account.ts";
import { hasSameParts } from "../solana/account-content.ts";
import { SOL_MINT } from "../solana/programs.ts";
import { venues } from "./registry.ts";
import { LINE_SIZE, leastIn, mostOut, type SpotBound, spotBoundOf, writeLine } from "./spot-bound.ts";
import type { Ask } from "./venue.ts";

const random = createRandom(1_764);
const { mint, clock, markets: samples } = readSampleMarkets();
const ASKS = 6;
/** Changes drawn for each sample. */
const CHANGES = 60;
const table = new Float64Array(LINE_SIZE);

/** A trade of any size, either way, now or later. */
function anyAsk(): Ask {
  const [inMint, outMint] = random.chance(0.5) ? [SOL_MINT, mint] : [mint, SOL_MINT];
  const [slots, seconds] = random.chance(0.5) ? [0n, 0n] : [random.magnitude(10n ** 7n), random.magnitude(10n ** 7n)];
  const later = { ...clock, slot: clock.slot + slots, unixTimestamp: clock.unixTimestamp + seconds };
  const mode = random.chance(0.7) ? "exactIn" : "exactOut";
  return { mode, inMint, outMint, amount: random.magnitude(10n ** 14n) + 1n, clock: later };
}

/** Checks trades on a state against a bound. @returns how many there were */
function checkTrades({ venue, hot }: SampleMarket, state: unknown, bound: SpotBound, what: string): number {
  let made = 0;
  for (let round = 0; round < ASKS; round++) {
    const ask = anyAsk();
    if (ask.mode === "exactOut" && !venue.supports.exactOut) continue;
    let quote: ReturnType<typeof venue.quote>;
    try {
      quote = venue.quote(state, ask);
    } catch {
      continue;
    }
    made++;
    const isFirst = ask.inMint === hot.market.mints[0];
    const line = isFirst ? bound.from0 : bound.from1;
    writeLine(table, 0, line, bound.rounding);
    const [input, output] = [Number(quote.inAmount), Number(quote.outAmount)];
    const told = `${what}: ${ask.mode} of ${ask.amount}, ${input} for ${output}, ${JSON.stringify(line)}`;
    if (ask.mode === "exactIn" && venue.spot!.takesLess !== true) expect(quote.inAmount, told).toBe(ask.amount);
    if (ask.mode === "exactIn") expect(mostOut(table, 0, Number(ask.amount)), told).toBeGreaterThanOrEqual(output);
    else expect(leastIn(table, 0, Number(ask.amount)), told).toBeLessThanOrEqual(input);
  }
  return made;
}

const viewOf = ({ accounts }: SampleMarket, changed: ReadonlyMap<Address, Account>): AccountView => ({
  get: (address) => changed.get(address) ?? accounts.get(address),
});

describe.each(samples.map((sample) => [sample.name, sample] as const))("%s", (_, sample) => {
  const { venue, hot, accounts, addresses } = sample;
  const spot = venue.spot!;
  const { market } = hot;

  test("no trade beats the bound, now or later, with fees of transfers or without", () => {
    const bound = spotBoundOf(venue, hot.state, accounts);
    if (bound === undefined) return;
    let made = 0;
    for (let round = 0; round < 30; round++) {
      made += checkTrades(sample, round % 2 === 0 ? hot.state : taxed(hot.state), bound, "as it is");
    }
    if (bound.from0.rate > 0) expect(made).toBeGreaterThan(0);
  });

  test("nor after any change of its accounts", () => {
    let made = 0;
    for (let round = 0; round < CHANGES; round++) {
      const changed = changedAccounts(() => true);
      const have = viewOf(sample, changed);
      const read = readAgain(have);
      if (read === undefined) continue;
      const bound = spotBoundOf(venue, read.state, have);
      if (bound !== undefined) made += checkTrades(sample, read.state, bound, `change ${round}`);
    }
    expect(made >= 0).toBe(true);
  });

  test("nor after one that it follows without a read, which lacks no account then", () => {
    const { follows } = spot;
    if (follows === undefined) return;
    const fixed = new Set<Address>(follows.accounts(market));
    const own = accounts.get(market.address)!;
    let made = 0;
    for (let round = 0; round < CHANGES; round++) {
      const changed = changedAccounts((address) => !fixed.has(address));
      const now = changed.get(market.address);
      const parts = [...follows.fixed, ...venue.decoded!];
      if (now !== undefined && !hasSameParts(now, own, parts)) continue;
      const have = viewOf(sample, changed);
      const bound = spotBoundOf(venue, hot.state, have);
      if (bound === undefined) continue;
      expect(venue.needs(market, have)).toEqual([]);
      const read = readAgain(have);
      if (read !== undefined) made += checkTrades(sample, read.state, bound, `followed change ${round}`);
    }
    expect(made).toBeGreaterThan(CHANGES / 4);
  });

  /** The accounts with one or two of them changed; those of bins stay: what they say of prices is not theirs to say. */
  function changedAccounts(isFree: (address: Address) => boolean): ReadonlyMap<Address, Account> {
    const changed = new Map<Address, Account>();
    const free = addresses.filter((address) => isFree(address) && accounts.get(address)! && !isBins(address));
    for (let change = 0; change < 1 + (random.u32() % 2); change++) {
      const address = random.chance(0.5) ? market.address : random.pick(free);
      const account = changed.get(address) ?? accounts.get(address)!;
      changed.set(address, { ...account, data: changedBytes(account.data) });
    }
    return changed;
  }

  function isBins(address: Address): boolean {
    return venue.id === "meteora_dlmm" && accounts.get(address)!.data.length > 5_000;
  }

  function readAgain(have: AccountView): { readonly state: unknown } | undefined {
    try {
      return { state: venue.read(market, have) };
    } catch {
      return undefined;
    }
  }
});

test("every venue has bounds, and most follow changes without a read", () => {
  expect(venues.every(({ spot }) => spot !== undefined)).toBe(true);
  expect(venues.filter(({ spot }) => spot!.follows !== undefined).length).toBeGreaterThanOrEqual(8);
});

/** One number of the bytes, or one byte, is another. */
function changedBytes(before: Uint8Array): Uint8Array {
  const data = before.slice();
  const at = random.u32() % Math.max(1, data.length - 16);
  if (random.chance(0.1)) {
    data[at] = random.u32() & 0xff;
    return data;
  }
  // Numbers that mean something are rarely zero.
  for (let next = at; next < data.length - 8; next++) {
    const value = readU64(data, next);
    if (value === 0n) continue;
    const parts = random.chance(0.7) ? random.between(990_000n, 1_010_000n) : random.between(100_000n, 10_000_000n);
    writeU64(data, next, ((value * parts) / 1_000_000n) & U64_MAX);
    break;
  }
  return data;
}

/** The state with fees on transfers of every mint that it names. */
function taxed(state: unknown): unknown {
  const fee = { epoch: 0n, bps: 137n, maximumFee: 5_000_000n };
  const { mints } = state as { readonly mints?: readonly object[] };
  return { ...(state as object), mints: mints?.map((one) => ({ ...one, transferFees: { older: fee, newer: fee } })) };
}
