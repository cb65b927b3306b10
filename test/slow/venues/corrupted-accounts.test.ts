import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { concatBytes, hex, viewOf } from "../../../src/primitives/bytes.ts";
import type { Account } from "../../../src/solana/account.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { readSampleMarkets } from "../../support/sample-markets.ts";
import { accountsRead, type Corruptible, nothingFound, tryCorrupted } from "./support/corruption.ts";

/** Corruptions of each market, from `CORRUPTION_SEED` on: a seed that was reported is tried alone. */
const COUNT = Number(process.env.CORRUPTIONS ?? 1_500);
const FIRST = Number(process.env.CORRUPTION_SEED ?? 1);
/** Processor time that one call may take, garbage collection included: a hundred times what the slowest honest one takes. Milliseconds. */
const MOST_MS = 250;

/** Where a CLMM pool has its fee that follows volatility. */
const VOLATILITY_OFFSET = 1_096;

const { markets, mint, clock } = readSampleMarkets();
const pair = { a: mint, b: SOL_MINT };

const samples = [...new Map(markets.map((one) => [one.venue.id, one])).values()].map(({ venue, hot, accounts }) =>
  subjectOf(venue.id, venue, hot.market.address, accounts.get(hot.market.address)!, accounts),
);
const whirlpool = samples.find(({ name }) => name === "orca_whirlpool")!;
const clmm = samples.find(({ name }) => name === "raydium_clmm")!;

/** Fees in groups of one tick that never reach their maximum: as many steps as a trade can have. */
const SMALLEST_GROUPS = { maximum: 2 ** 32 - 1, size: 1 };

const subjects = [...samples, volatileWhirlpool(), volatileClmm()];

describe("accounts corrupted at random", () => {
  it.each(subjects)("$name: every call ends soon, in a quote that can be or a refusal", (subject) => {
    const found = nothingFound();
    for (let seed = FIRST; seed < FIRST + COUNT; seed++) tryCorrupted(subject, seed, found);
    console.log(
      `${subject.name}: ${COUNT} corruptions, ${found.quoted} quotes, ${found.refused} refusals, ${found.faults.length} faults; slowest ${found.slowestMs.toFixed(1)} ms (${found.slowest})`,
    );
    expect(found.faults).toEqual([]);
    expect(found.slowestMs).toBeLessThan(MOST_MS);
    expect(found.quoted).toBeGreaterThan(COUNT / 10);
  });
});

function subjectOf(
  name: string,
  venue: Venue,
  address: Address,
  own: Account,
  accounts: Corruptible["accounts"],
): Corruptible & { readonly name: string } {
  const market = venue.decode(own, pair)!;
  return { name, venue, address, pair, clock, accounts, read: accountsRead(venue, market, accounts) };
}

/** The Whirlpool sample as a pool of an adaptive fee tier. */
function volatileWhirlpool() {
  const { venue, address, accounts } = whirlpool;
  const before = accounts.get(address)!;
  const pool = { ...before, data: before.data.slice() };
  viewOf(pool.data).setUint16(43, 1_024, true);
  const { oracle } = venue.decode(pool, pair) as unknown as { readonly oracle: Address };
  const data = concatBytes(hex("8bc283b38cb3e5f4"), address.bytes, new Uint8Array(214));
  const view = viewOf(data);
  view.setUint16(48, 30, true);
  view.setUint16(50, 600, true);
  view.setUint16(52, 5_000, true);
  view.setUint32(54, 4_000, true);
  view.setUint32(58, SMALLEST_GROUPS.maximum, true);
  view.setUint16(62, SMALLEST_GROUPS.size, true);
  const changed = new Map([
    [address, pool],
    [oracle, { ...before, address: oracle, data }],
  ]);
  return subjectOf("orca_whirlpool, adaptive", venue, address, pool, {
    get: (one) => changed.get(one) ?? accounts.get(one),
  });
}

/** The CLMM sample with a fee that follows volatility. */
function volatileClmm() {
  const { venue, address, accounts } = clmm;
  const before = accounts.get(address)!;
  const pool = { ...before, data: before.data.slice() };
  const view = viewOf(pool.data);
  view.setUint16(VOLATILITY_OFFSET, 30, true);
  view.setUint16(VOLATILITY_OFFSET + 2, 600, true);
  view.setUint16(VOLATILITY_OFFSET + 4, 5_000, true);
  view.setUint32(VOLATILITY_OFFSET + 6, 4_000, true);
  view.setUint32(VOLATILITY_OFFSET + 10, SMALLEST_GROUPS.maximum, true);
  return subjectOf("raydium_clmm, volatile", venue, address, pool, {
    get: (one) => (one === address ? pool : accounts.get(one)),
  });
}
