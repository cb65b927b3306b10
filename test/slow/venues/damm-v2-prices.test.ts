import { describe, expect, it } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { DAMM_V2_PROGRAM } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { meteoraDammV2 } from "../../../src/venues/meteora-damm-v2/venue.ts";
import { judge, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf } from "./support/builds.ts";
import { newTradedMint } from "./support/metadata-mint.ts";
import { createDammV2Pool, marketCapFee, timeFee } from "./support/meteora-damm-v2.ts";

/** Builds since the layout that new pools have. */
const BUILDS = buildsOf("meteora_damm_v2").filter(
  ({ isMain, path }) => isMain || path >= ".venues/builds/meteora_damm_v2/20260301",
);
const CASES = [
  { name: "in time", baseFee: timeFee(900_000_000n, 120, 30n, 250n, true), mostRatio: 1.3 },
  // Steps that another's trade may lead to before ours lands are in the bound, and not in the use; the newest build uses less than others.
  { name: "by price", baseFee: marketCapFee(400_000_000n, 500, 1_000, 86_400, 100n, true), mostRatio: 1.43 },
];
const POOLS = 30;
const TRADES = 12;
const HELD = 1n << 62n;
/** The price's root is drawn from here to as many times that. */
const LEAST_ROOT = 1n << 34n;
/** What either side of a pool may hold at most. Base units. */
const MOST = 1n << 60n;
const TAXED = { decimals: 9, supply: HELD, program: TOKEN_2022_PROGRAM, transferFee: { bps: 1, maximum: 5n } };

describe.skipIf(BUILDS.length === 0).each(BUILDS)("exponential schedules of meteora_damm_v2 ($path)", ({ path }) => {
  it.each(CASES)("trade as quoted, within their units, at every price: $name", ({ name, baseFee, mostRatio }) => {
    const random = createRandom(16);
    const svm = new Svm();
    svm.addProgram(DAMM_V2_PROGRAM, path);
    const wallet = svm.newWallet();
    let { slot, epoch, unixTimestamp } = svm.clock();
    const outcomes: TradeOutcome[] = [];
    for (let drawn = 0; drawn < POOLS; drawn++) {
      const spl = () => svm.newMint({ decimals: 6, supply: HELD });
      const mints = [random.chance(0.5) ? spl() : newTradedMint(svm, TAXED), spl()] as const;
      const fund = () => {
        for (const mint of mints) svm.setTokens(wallet, mint, HELD);
      };
      fund();
      const sqrtPrice = LEAST_ROOT * random.magnitude(LEAST_ROOT << 25n);
      const [ofA, ofB] = [MOST * sqrtPrice, (MOST << 128n) / sqrtPrice];
      const market = createDammV2Pool(svm, wallet, {
        mintA: mints[0],
        mintB: mints[1],
        baseFee,
        sqrtPrice,
        liquidity: (ofA < ofB ? ofA : ofB) / random.magnitude(1n << 30n),
        countsSeconds: true,
        collectFeeMode: random.pick([0, 1]),
        volatility: random.chance(0.3),
      });
      const made = runTrades({
        svm,
        venue: meteoraDammV2,
        market,
        wallet,
        random,
        count: TRADES,
        limit: () => MOST,
        shadow: false,
        before: () => {
          const seconds = random.between(1n, 400n);
          unixTimestamp += seconds;
          slot += seconds * 4n;
          svm.setClock({ slot, epoch, unixTimestamp });
          fund();
        },
      });
      outcomes.push(...made);
    }
    const { faults, trades, worstUnitRatio } = judge(outcomes);
    console.log(`meteora_damm_v2 | ${path} | schedules ${name}: ${trades} trades, worst ${worstUnitRatio}`);
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan((POOLS * TRADES) / 4);
    expect(worstUnitRatio).toBeLessThanOrEqual(mostRatio);
  });
});
