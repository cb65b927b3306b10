import { numberU64, productBound, type SpotBounds, vaultAmount } from "../spot-bound.ts";
import type { CpmmMarket } from "./layout.ts";
import type { CpmmDirection } from "./math.ts";

/** What the bound takes from a state. */
interface Bounded {
  readonly market: CpmmMarket;
  readonly sides: readonly [CpmmDirection, CpmmDirection];
}

/** Fees that are owed this close to all that a vault holds leave too few digits. Fraction. */
const MOST_OWED = 0.999;

/** Fees of the configuration and the flags of the creator's fee come from the state, reserves from the accounts. */
export const cpmmSpot: SpotBounds<CpmmMarket, Bounded> = {
  reads: ({ market: { address, vaults } }) => [address, ...vaults],
  of({ sides: [side0, side1] }, [pool, vault0, vault1]) {
    const { data } = pool!;
    const [held0, held1] = [vaultAmount(vault0!), vaultAmount(vault1!)];
    const [owed0, owed1] = [owedAt(data, 341), owedAt(data, 349)];
    if (owed0 > held0 * MOST_OWED || owed1 > held1 * MOST_OWED) return undefined;
    const trade = Number(side0.tradeFeeRate);
    const creator = Number(side0.creatorFeeRate);
    return productBound(held0 - owed0, held1 - owed1, {
      in0: kept(side0.creatorFeeOnInput ? trade + creator : trade),
      out0: kept(side0.creatorFeeOnInput ? 0 : creator),
      in1: kept(side1.creatorFeeOnInput ? trade + creator : trade),
      out1: kept(side1.creatorFeeOnInput ? 0 : creator),
      roundsUp: true,
    });
  },
  follows: {
    fixed: [
      [0, 8],
      [389, 391],
    ],
    accounts: ({ config, mints }) => [config, ...mints],
  },
};

/** What the vault of one mint owes, as `decodeCpmmPool` adds it up. @param at where its protocol fee is */
const owedAt = (data: Uint8Array, at: number): number =>
  numberU64(data, at) + numberU64(data, at + 16) + numberU64(data, at + 56) + numberU64(data, at + 72);

/** @param rate in millionths */
const kept = (rate: number): number => Math.max(0, 1 - rate / 1e6);
