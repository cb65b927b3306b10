import { expect, test } from "vitest";
import { readSampleMarkets, type SampleMarket } from "../../test/support/sample-markets.ts";
import type { Address } from "../primitives/address.ts";
import { venues } from "./registry.ts";

const { markets } = readSampleMarkets();
const samples = venues.map(({ id }) => [id, markets.filter(({ venue }) => venue.id === id)] as const);

/** The accounts of a sample, one of which is not known; another may not exist. Says whether the unknown one was asked for. */
function viewOf({ accounts }: SampleMarket, unknown: Address, gone: Address | undefined) {
  const asked = { unknown: false };
  const have = {
    get(one: Address) {
      if (one === unknown) asked.unknown = true;
      return one === unknown ? undefined : one === gone ? null : (accounts.get(one) ?? null);
    },
  };
  return { asked, have };
}

/** True if `read` asks for the account, or throws. */
function asks({ venue, hot }: SampleMarket, { asked, have }: ReturnType<typeof viewOf>): boolean {
  try {
    venue.read(hot.market, have);
    return asked.unknown;
  } catch {
    return true;
  }
}

test.each(samples)("%s: read asks for every account that needs names, whichever other does not exist", (_, ofVenue) => {
  let needed = 0;
  for (const sample of ofVenue) {
    const { venue, hot, addresses } = sample;
    for (const unknown of addresses) {
      for (const gone of [undefined, ...addresses]) {
        const { have } = viewOf(sample, unknown, gone);
        if (!venue.needs(hot.market, have).includes(unknown)) continue;
        needed++;
        if (!asks(sample, viewOf(sample, unknown, gone))) expect.fail(`${unknown} is not asked for without ${gone}`);
      }
    }
  }
  expect(needed).toBeGreaterThan(2);
});

/** The accounts that the market needs, each known once it was named. */
function neededBy({ venue, hot, accounts }: SampleMarket): ReadonlySet<Address> {
  const known = new Set<Address>();
  const have = { get: (one: Address) => (known.has(one) ? (accounts.get(one) ?? null) : undefined) };
  for (;;) {
    const lacking = venue.needs(hot.market, have);
    if (lacking.length === 0) return known;
    for (const one of lacking) known.add(one);
  }
}

test.each(venues.map(({ id }) => id))("%s: read asks for no account that needs does not name", (id) => {
  const ofVenue = markets.filter(({ venue }) => venue.id === id);
  expect(ofVenue.length).toBeGreaterThan(0);
  for (const sample of ofVenue) {
    const { venue, hot, accounts } = sample;
    const known = neededBy(sample);
    const unnamed: string[] = [];
    const get = (one: Address) => {
      if (!known.has(one)) unnamed.push(one.toString());
      return known.has(one) ? (accounts.get(one) ?? null) : undefined;
    };
    venue.read(hot.market, { get });
    expect(unnamed, sample.name).toEqual([]);
  }
});
