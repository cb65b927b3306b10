import type { Account } from "../../solana/account.ts";
import { stableSpot } from "../curves/stable-spot.ts";
import { numberU64, productBound, type SpotBounds, vaultAmount, wholeLine } from "../spot-bound.ts";
import type { DammV1Market, DammV1Pool } from "./layout.ts";
import type { VaultShare } from "./math.ts";

/** What the bound takes from a state. */
interface Bounded {
  readonly market: DammV1Market;
  readonly pool: DammV1Pool;
  readonly shares: readonly [VaultShare, VaultShare];
}

/** Places in a vault's account: all its tokens, the accounts that it names, and the profit that is still locked. */
const TOTAL_OFFSET = 11;
const TOKEN_VAULT_OFFSET = 19;
const SHARE_MINT_OFFSET = 115;
const LOCKED_OFFSET = 1_203;
const LOCKED_END = 1_211;
/** The supply in a mint's account. */
const SUPPLY_OFFSET = 36;
const SUPPLY_END = 44;
/** Fees, stakes and the curve are rounded one after the other, some of them down to the trader's gain. Base units. */
const ROUNDING = 8;
/** Fees round down by up to a unit. If they leave less than this fraction of a trade, that unit is worth too much for the bound. */
const LEAST_KEPT = 0.5;
/** Profit locked to this part of a vault leaves too few digits. */
const MOST_LOCKED = 0.999;

/**
 * The fee and the curve come from the state, the pool's shares of its vaults from the accounts. Locked profit unlocks with time: the
 * input's vault counts without it, that of the output with all of it. Stable pools of staked SOL, whose worth is remembered for a
 * while, have no bound.
 */
export const dammV1Spot: SpotBounds<DammV1Market, Bounded> = {
  reads: ({ market: { address, vaults, shares: held }, shares }) => [
    address,
    ...vaults,
    ...held,
    shares[0].vault.shareMint,
    shares[1].vault.shareMint,
  ],
  of({ pool: { tradeFee, stable }, shares }, [, vault0, vault1, held0, held1, mint0, mint1]) {
    if (stable !== undefined && stable.depeg !== "none") return undefined;
    const zero = stakeIn(shares[0], vault0!, held0!, mint0!);
    const one = stakeIn(shares[1], vault1!, held1!, mint1!);
    if (zero === undefined || one === undefined) return undefined;
    const kept = 1 - Number(tradeFee.numerator) / Number(tradeFee.denominator);
    if (kept < LEAST_KEPT) return undefined;
    if (stable !== undefined) {
      const { amplification, multipliers } = stable;
      const [a, b] = [Number(multipliers[0]), Number(multipliers[1])];
      const price0 = stableSpot(Number(amplification), zero.least * a, one.most * b);
      const price1 = stableSpot(Number(amplification), one.least * b, zero.most * a);
      if (price0 === undefined || price1 === undefined) return undefined;
      const from0 = wholeLine((price0 * kept * a) / b, 0);
      return { from0, from1: wholeLine((price1 * kept * b) / a, 0), rounding: ROUNDING };
    }
    const fees = { in0: kept, out0: 1, in1: kept, out1: 1 };
    const { from0 } = productBound(zero.least, one.most, fees);
    const { from1 } = productBound(zero.most, one.least, fees);
    return { from0, from1, rounding: ROUNDING };
  },
  follows: {
    fixed: [
      [0, 8],
      [330, 346],
      [874, 917],
    ],
    accounts: ({ mints }) => mints,
  },
};

/** The pool's tokens in a vault, at least and at most while its profit unlocks. */
function stakeIn(
  { vault: { tokenVault, shareMint } }: VaultShare,
  { data: vault }: Account,
  held: Account,
  { data: mint }: Account,
) {
  if (vault.length < LOCKED_END || mint.length < SUPPLY_END) return undefined;
  if (!tokenVault.isAt(vault, TOKEN_VAULT_OFFSET)) return undefined;
  if (!shareMint.isAt(vault, SHARE_MINT_OFFSET)) return undefined;
  const total = numberU64(vault, TOTAL_OFFSET);
  const locked = numberU64(vault, LOCKED_OFFSET);
  const supply = numberU64(mint, SUPPLY_OFFSET);
  if (supply === 0 || locked > total * MOST_LOCKED) return undefined;
  const shares = vaultAmount(held);
  // The programs round both down.
  return { least: Math.max(0, (shares * (total - locked)) / supply - 1), most: (shares * total) / supply };
}
