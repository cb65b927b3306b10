import { expect, test } from "vitest";
import { readSampleMarkets, type SampleMarket } from "../../test/support/sample-markets.ts";
import { createRandom } from "../primitives/random.ts";
import type { Account } from "../solana/account.ts";
import { hasSameParts } from "../solana/account-content.ts";
import { SOL_MINT } from "../solana/programs.ts";
import { venues } from "./registry.ts";
import type { ByteRange } from "./venue.ts";

const random = createRandom(1_717);
const { mint, markets } = readSampleMarkets();
const pair = { a: mint, b: SOL_MINT };
const samples = venues.map((venue) => [venue.id, markets.find((market) => market.venue.id === venue.id)!] as const);
/** Changes of many bytes at once. */
const ROUNDS = 40;

function accountOf({ hot, accounts }: SampleMarket): Account {
  return accounts.get(hot.market.address)!;
}

const covers = (ranges: readonly ByteRange[], at: number) => ranges.some(([first, end]) => at >= first && at < end);

/** What a venue decodes of an account, as text. */
function decodedText({ venue }: SampleMarket, account: Account): string {
  return JSON.stringify(venue.decode(account, pair) ?? "none");
}

test.each(samples)("%s decodes the same market whatever bytes it does not name hold", (_, sample) => {
  const account = accountOf(sample);
  const ranges = sample.venue.decoded!;
  const before = decodedText(sample, account);
  const free = Array.from(account.data.keys()).filter((at) => !covers(ranges, at));
  expect(free.length).toBeGreaterThan(0);
  for (const at of free) {
    const data = account.data.slice();
    data[at]! ^= 0xff;
    expect(decodedText(sample, { ...account, data }), `byte ${at}`).toBe(before);
  }
  for (let round = 0; round < ROUNDS; round++) {
    const data = random.bytes(account.data.length);
    for (const [first, end] of ranges) data.set(account.data.subarray(first, end), first);
    const changed = { ...account, data };
    expect(hasSameParts(account, changed, ranges)).toBe(true);
    expect(decodedText(sample, changed)).toBe(before);
  }
});

test.each(samples)("%s: another owner, length or named byte is another account to decode", (_, sample) => {
  const account = accountOf(sample);
  const ranges = sample.venue.decoded!;
  expect(hasSameParts(account, { ...account, owner: mint }, ranges)).toBe(false);
  for (const length of [account.data.length - 1, 8, 0]) {
    expect(hasSameParts(account, { ...account, data: account.data.slice(0, length) }, ranges)).toBe(false);
  }
  for (const [first, end] of ranges) {
    for (let at = first; at < Math.min(end, account.data.length); at++) {
      const data = account.data.slice();
      data[at]! ^= 1 << (random.u32() & 7);
      expect(hasSameParts(account, { ...account, data }, ranges), `byte ${at}`).toBe(false);
    }
  }
});
