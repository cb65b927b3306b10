import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { DAMM_V2_AUTHORITY, DAMM_V2_PROGRAM, decodeDammV2Market } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { meteoraDammV2 } from "../../../src/venues/meteora-damm-v2/venue.ts";
import { judge, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf } from "./support/builds.ts";
import { createDammV2Pool, marketCapFee, timeFee } from "./support/meteora-damm-v2.ts";

/** Builds since the layout that compounding came with. */
const BUILDS = buildsOf("meteora_damm_v2").filter(
  ({ isMain, path }) => isMain || path >= ".venues/builds/meteora_damm_v2/20260301",
);
const RESERVES_OFFSET = 680;
const MOST = 1n << 60n;
const FEES = [
  timeFee(2_500_000n, 0, 0n, 0n, false),
  timeFee(500_000_000n, 100, 60n, 4_900_000n, false),
  timeFee(2_500_000n, 2, 30n, 250n, true),
  marketCapFee(400_000_000n, 80, 50, 86_400, 300n, true),
];

describe.skipIf(BUILDS.length === 0).each(BUILDS)("compounding pools of meteora_damm_v2 ($path)", ({ path }) => {
  it.each([0, 1, 2, 3])("trade as quoted, within their units, at every price: fee %i", (kind) => {
    const random = createRandom(680 + kind);
    const svm = new Svm();
    svm.addProgram(DAMM_V2_PROGRAM, path);
    const wallet = svm.newWallet();
    const [mintA, mintB] = [newMint(svm, wallet), newMint(svm, wallet)];
    const pool = createDammV2Pool(svm, wallet, {
      mintA,
      mintB,
      baseFee: FEES[kind]!,
      sqrtPrice: 1n << 64n,
      liquidity: (10n ** 12n) << 64n,
      countsSeconds: true,
      collectFeeMode: 2,
      compoundingBps: 5_000,
      volatility: kind % 2 === 1,
    });
    const { vaults } = decodeDammV2Market(svm.get(pool)!)!;
    const outcomes: TradeOutcome[] = [];
    for (let drawn = 0; drawn < 12; drawn++) {
      const reserves = [10n + random.magnitude(MOST), 10n + random.magnitude(MOST)] as const;
      const account = svm.get(pool)!;
      for (const [index, mint] of [mintA, mintB].entries()) {
        writeU64(account.data, RESERVES_OFFSET + 8 * index, reserves[index]!);
        svm.setTokens(DAMM_V2_AUTHORITY, mint, reserves[index]!, vaults[index]!);
        svm.setTokens(wallet, mint, MOST);
      }
      svm.setAccount(account);
      outcomes.push(
        ...runTrades({
          svm,
          venue: meteoraDammV2,
          market: pool,
          wallet,
          random,
          count: 4,
          limit: (mint) => reserves[mint === mintA ? 0 : 1],
          shadow: false,
        }),
      );
    }
    const { faults, trades, worstUnitRatio } = judge(outcomes);
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(outcomes.length / 2);
    expect(worstUnitRatio).toBeLessThan(1.5);
  });
});

function newMint(svm: Svm, wallet: Address): Address {
  const mint = svm.newMint({ decimals: 6, supply: 1n << 62n });
  svm.setTokens(wallet, mint, MOST);
  return mint;
}
