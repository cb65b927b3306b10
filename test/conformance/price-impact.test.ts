import { describe, expect, it } from "vitest";
import { readVenueFolders } from "../../scripts/venue-folders.ts";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { HotMarket } from "../../src/market/port.ts";
import type { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import type { Intent } from "../../src/trade/intent.ts";
import type { Quote, SwapMode, VenueId } from "../../src/venues/venue.ts";
import { chooseRoutes } from "../support/choose-routes.ts";
import { readSampleMarkets, type SampleMarket } from "../support/sample-markets.ts";
import { Svm } from "../support/svm.ts";

const { mint, clock, markets } = readSampleMarkets();

/** Small against every sample (10^13 base units a side), large against the rounding of a base unit. */
const TINY = 10_000_000n;
const AMOUNTS = [10_000_000_000n, 100_000_000_000n, 1_000_000_000_000n, 3_000_000_000_000n];

/** Walks the venues' folders: each names the curve of its sample. All samples charge the same share of fees at every size. */
const folders = await readVenueFolders();

/** The largest sample of every venue. */
const samples = markets.filter(({ name }) => name.endsWith(" 0"));

function ask({ venue, hot }: SampleMarket, mode: SwapMode, inMint: Address, amount: bigint): Quote | undefined {
  try {
    return venue.quote(hot.state, { mode, inMint, outMint: inMint === mint ? SOL_MINT : mint, amount, clock });
  } catch (error) {
    if (error instanceof TradewireError && error.code === "INSUFFICIENT_LIQUIDITY") return undefined;
    throw error;
  }
}

/** Base units out per base unit in, as the wallet sees them. */
const rate = ({ inAmount, outAmount }: Quote): number => Number(outAmount) / Number(inAmount);

describe.each(samples)("the price impact of $venue.id", (sample) => {
  const curve = folders.find(({ venue }) => venue.id === sample.venue.id)!.facts.curve;

  it(`is of ${curve}, and close to zero for a tiny trade: fees are excluded`, () => {
    for (const inMint of [mint, SOL_MINT]) {
      const quote = ask(sample, "exactIn", inMint, TINY)!;
      expect(quote.priceImpact).toBeGreaterThanOrEqual(0);
      expect(quote.priceImpact).toBeLessThan(5e-5);
    }
  });

  it.each(["exactIn", "exactOut"] as const)("equals the loss of rate against a tiny trade, %s", (mode) => {
    if (mode === "exactOut" && !sample.venue.supports.exactOut) return;
    let compared = 0;
    for (const inMint of [mint, SOL_MINT]) {
      const tiny = ask(sample, "exactIn", inMint, TINY)!;
      let last = -1;
      for (const amount of AMOUNTS) {
        const quote = ask(sample, mode, inMint, amount);
        if (quote === undefined) continue;
        const expected = 1 - (rate(quote) / rate(tiny)) * (1 - tiny.priceImpact);
        expect(Math.abs(quote.priceImpact - expected)).toBeLessThan(1e-4);
        expect(quote.priceImpact).toBeGreaterThanOrEqual(last);
        expect(quote.priceImpact).toBeLessThanOrEqual(1);
        last = quote.priceImpact;
        compared++;
      }
    }
    expect(compared).toBeGreaterThanOrEqual(4);
  });
});

describe("by the curve's own formula", () => {
  const of = (id: VenueId): SampleMarket => samples.find(({ venue }) => venue.id === id)!;
  const depth = 10_000_000_000_000;

  it("constant product: net input over the sum of reserve and net input", () => {
    const quote = ask(of("raydium_cpmm"), "exactIn", SOL_MINT, 1_000_000_000_000n)!;
    const net = 1e12 * (1 - 0.0025);
    expect(quote.priceImpact).toBeCloseTo(net / (depth + net), 9);
  });

  it("bonding curve: the same, over virtual reserves", () => {
    const quote = ask(of("pump_fun"), "exactIn", mint, 1_000_000_000_000n)!;
    expect(quote.priceImpact).toBeCloseTo(1e12 / (2 * depth + 1e12), 9);
  });

  it("constant liquidity: the ratio of the square-root prices after and before", () => {
    const sample = of("meteora_damm_v2");
    const inMint = sample.hot.market.mints[0];
    const quote = ask(sample, "exactIn", inMint, 1_000_000_000_000n)!;
    // From a square root of 1, putting in x moves it to L / (L + x). Fees are on output here.
    expect(quote.priceImpact).toBeCloseTo(1 - depth / (depth + 1e12), 9);
  });

  it("bins: zero within the active bin, then by the average of the bins' prices", () => {
    const sample = of("meteora_dlmm");
    const [x, y] = sample.hot.market.mints;
    for (const inMint of [x, y]) expect(ask(sample, "exactIn", inMint, 1_000_000_000n)!.priceImpact).toBeLessThan(1e-8);
    // Around the active bin a quarter of the depth lies in 25 bins a side; ten of them, a quarter of a percent
    // apart, are as much worse as the middle one.
    const ten = Math.floor((depth / 4 / 25.5) * 10);
    const quote = ask(sample, "exactIn", x, BigInt(ten))!;
    expect(quote.priceImpact).toBeGreaterThan(0.0025 * 4);
    expect(quote.priceImpact).toBeLessThan(0.0025 * 6);
  });
});

describe("the price impact of a route", () => {
  it("combines the impacts of its legs: 1 − (1 − a)(1 − b)", () => {
    const svm = new Svm();
    const other = svm.newMint({ decimals: 6 });
    const mints = new Map(
      [svm.newMint({ decimals: 6, address: mint }), other].map((at) => [at, decodeMint(svm.get(at)!)]),
    );
    const first = samples.find(({ venue }) => venue.id === "raydium_cpmm")!.hot;
    const second = relabelled(samples.find(({ venue }) => venue.id === "pump_swap")!.hot, other);
    const random = createRandom(4);
    for (const mode of ["exactIn", "exactOut"] as const) {
      for (let round = 0; round < 20; round++) {
        const intent: Intent = {
          mode,
          inMint: mints.get(mint)!,
          outMint: mints.get(other)!,
          amount: random.between(TINY, 1_000_000_000_000n),
          slippagePpb: 0n,
          emptied: undefined,
        };
        const none = { markets: [], faults: [], searched: [] };
        const hub = {
          hub: SOL_MINT,
          toHub: { markets: [first], faults: [], searched: [] },
          fromHub: { markets: [second], faults: [], searched: [] },
        };
        const [route] = chooseRoutes(intent, none, [hub], clock);
        const [a, b] = route!.steps.map(({ quote }) => quote.priceImpact) as [number, number];
        expect(route!.priceImpact).toBeCloseTo(a + b - a * b, 12);
        expect(route!.priceImpact).toBeGreaterThanOrEqual(Math.max(a, b));
      }
    }
  });
});

/** The market with another token in place of the samples' own. */
function relabelled(hot: HotMarket, token: Address): HotMarket {
  const own = (address: Address): Address => (address === mint ? token : address === token ? mint : address);
  return {
    ...hot,
    market: { ...hot.market, mints: [own(hot.market.mints[0]), own(hot.market.mints[1])] },
    venue: {
      ...hot.venue,
      quote(state, given) {
        const quote = hot.venue.quote(state, { ...given, inMint: own(given.inMint), outMint: own(given.outMint) });
        return { ...quote, inMint: given.inMint, outMint: given.outMint };
      },
    },
  };
}
