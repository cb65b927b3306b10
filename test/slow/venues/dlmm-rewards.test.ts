import { describe, expect, it } from "vitest";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { judge, runTrades } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf } from "./support/builds.ts";
import { fundPlenty, installPrograms, missingFor, PLAIN_MARKETS } from "./support/open-markets.ts";

/** A swap shares the rewards of a pair's providers among the bins it passes: that costs units for each reward and bin. */
const kind = PLAIN_MARKETS.find(({ name }) => name === "meteora_dlmm")!;
const HELD = 10n ** 18n;
const DEPTH = 10n ** 13n;
const REWARDS_OFFSET = 264;
const REWARD_SIZE = 144;
/** Q64 rates, per second. */
const RATES = [0n, 1n << 40n, 1n << 94n, 1n << 126n];

describe.runIf(missingFor(kind).length === 0).each(buildsOf(kind.name))(
  "meteora_dlmm with rewards ($path)",
  ({ path }) => {
    it.each([1, 2])("trades within its limit beside %d", (rewards) => {
      const random = createRandom(rewards);
      const svm = new Svm();
      installPrograms(svm, kind);
      const wallet = svm.newWallet(10n ** 15n);
      const mints = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })] as const;
      fundPlenty(svm, wallet, mints);
      const market = kind.open(svm, wallet, mints, DEPTH);
      svm.addProgram(kind.program, path);
      let { slot, epoch, unixTimestamp } = svm.clock();
      const outcomes = runTrades({
        svm,
        venue: kind.venue,
        market,
        pair: { a: mints[0], b: mints[1] },
        wallet,
        random,
        count: 60,
        limit: () => DEPTH,
        before: () => {
          const seconds = BigInt(random.pick([0, 1, 60, 4_000]));
          unixTimestamp += seconds;
          slot += 3n * seconds;
          svm.setClock({ slot, epoch, unixTimestamp });
          for (let index = 0; index < rewards; index++) {
            const rate = random.pick(RATES) + 12_345n;
            writeReward(svm, market, index, rate, unixTimestamp + random.pick([-10n, 800_000n]), unixTimestamp - 50n);
          }
          fundPlenty(svm, wallet, mints);
        },
      });
      const { faults, trades, worstUnitRatio } = judge(outcomes);
      console.log(
        `meteora_dlmm | ${path} | ${rewards} rewards: ${trades} trades, bound/used at most ${worstUnitRatio}`,
      );
      expect(faults).toEqual([]);
      expect(trades).toBeGreaterThan(40);
      expect(worstUnitRatio).toBeLessThanOrEqual(1.3);
    });
  },
);

/** Writes a reward into the pair's account: mint, vault and funder, then its times and its rate. */
function writeReward(
  svm: Svm,
  pair: Parameters<Svm["get"]>[0],
  index: number,
  rate: bigint,
  until: bigint,
  updatedAt: bigint,
): void {
  const account = svm.get(pair)!;
  const at = REWARDS_OFFSET + REWARD_SIZE * index;
  account.data.fill(9 + index, at, at + 96);
  writeU64(account.data, at + 96, 864_000n);
  writeU64(account.data, at + 104, until);
  writeU64(account.data, at + 112, rate & ((1n << 64n) - 1n));
  writeU64(account.data, at + 120, rate >> 64n);
  writeU64(account.data, at + 128, updatedAt);
  svm.setAccount(account);
}
