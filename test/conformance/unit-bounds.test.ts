import { expect, test } from "vitest";
import type { TradewireError } from "../../src/errors/tradewire-error.ts";
import { concatBytes } from "../../src/primitives/bytes.ts";
import type { Account, AccountView } from "../../src/solana/account.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../src/solana/programs.ts";
import { readSampleMarkets, type SampleMarket } from "../support/sample-markets.ts";

/** What limits follow beside amounts. That they follow it far enough is measured on the programs: `test/slow/venues`. */
const { mint, clock, markets } = readSampleMarkets();
const AMOUNT = 1_000_000n;
/** A Token-2022 extension that leaves transfers as they are: a metadata pointer. */
const EXTENSION = Uint8Array.from({ length: 68 }, (_, at) => [18, 0, 64, 0][at] ?? 0);
const EXTENSIONS = 6;

const boundOf = ({ venue, hot, accounts }: SampleMarket, changed?: Account, amount = AMOUNT): number => {
  const view: AccountView = { get: (address) => (address === changed?.address ? changed : accounts.get(address)) };
  const state = venue.read(hot.market, view);
  const quote = venue.quote(state, { mode: "exactIn", inMint: SOL_MINT, outMint: mint, amount, clock });
  const parties = { wallet: mint, source: mint, destination: mint };
  return venue.swap(state, quote, { ...parties, threshold: 1n, salt: 0, exists: () => true }).computeUnits;
};

const sampleOf = (venue: string): SampleMarket => markets.find(({ hot }) => hot.market.venue === venue)!;

test.each(["raydium_cpmm", "raydium_clmm", "orca_whirlpool", "meteora_dlmm", "meteora_damm_v2", "meteora_dbc"])(
  "the limit of %s follows how many extensions a mint carries",
  (venue) => {
    const sample = sampleOf(venue);
    const { data, ...account } = sample.accounts.get(mint)!;
    const head = concatBytes(data.subarray(0, 82), new Uint8Array(83), Uint8Array.of(1));
    const bounds = [1, EXTENSIONS].map((count) => {
      const extended = concatBytes(head, ...Array.from({ length: count }, () => EXTENSION));
      return boundOf(sample, { ...account, owner: TOKEN_2022_PROGRAM, data: extended });
    });
    expect(bounds[1]! - bounds[0]!).toBeGreaterThanOrEqual(200 * (EXTENSIONS - 1));
  },
);

test("the limit of meteora_dlmm follows rewards of providers", () => {
  const sample = sampleOf("meteora_dlmm");
  const pair = sample.accounts.get(sample.hot.market.address)!;
  const withRewards = (count: number): Account => {
    const data = pair.data.slice();
    for (let index = 0; index < 2; index++) data.fill(index < count ? 9 : 0, 264 + 144 * index, 264 + 144 * index + 32);
    return { ...pair, data };
  };
  const [none, one, two] = [0, 1, 2].map((count) => boundOf(sample, withRewards(count))) as [number, number, number];
  expect(one - none).toBeGreaterThan(1_500);
  expect(two - one).toBeGreaterThan(900);
});

test("the limit of meteora_dbc counts the completion of a curve", () => {
  const sample = sampleOf("meteora_dbc");
  const most = mostIn(() => boundOf(sample, undefined, 1n << 60n));
  expect(boundOf(sample, undefined, most) - boundOf(sample, undefined, (most * 99n) / 100n)).toBeGreaterThan(6_400);
});

/** The most that the curve takes, as its refusal says. */
function mostIn(boundOfTooMuch: () => number): bigint {
  try {
    boundOfTooMuch();
  } catch (error) {
    return BigInt(String((error as TradewireError).facts.details!.mostIn));
  }
  throw new Error("the curve takes anything");
}
