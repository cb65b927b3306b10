import { numberU64, productBound, type SpotBounds, vaultAmount } from "../spot-bound.ts";
import type { AmmV4Market, AmmV4Pool } from "./layout.ts";

/** What the bound takes from a state. */
interface Bounded {
  readonly market: AmmV4Market;
  readonly pool: AmmV4Pool;
}

/** What is owed this close to all that a vault holds leaves too few digits. Fraction. */
const MOST_OWED = 0.999;

/** The fee comes from the state, reserves from the accounts. */
export const ammV4Spot: SpotBounds<AmmV4Market, Bounded> = {
  reads: ({ market: { address, vaults } }) => [address, ...vaults],
  of({ pool }, [account, vault0, vault1]) {
    const { data } = account!;
    const [held0, held1] = [vaultAmount(vault0!), vaultAmount(vault1!)];
    const [owed0, owed1] = [numberU64(data, 192), numberU64(data, 200)];
    if (owed0 > held0 * MOST_OWED || owed1 > held1 * MOST_OWED) return undefined;
    const kept = Math.max(0, 1 - Number(pool.feeNumerator) / Number(pool.feeDenominator));
    return productBound(held0 - owed0, held1 - owed1, { in0: kept, out0: 1, in1: kept, out1: 1, roundsUp: true });
  },
  follows: {
    fixed: [
      [0, 8],
      [176, 192],
    ],
    accounts: ({ mints }) => mints,
  },
};
