import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import {
  type BaseFee,
  baseFeeWork,
  type FeeMoment,
  isRootInReach,
  type LaterRoot,
  longReferenceBits,
} from "../curves/scheduled-fee.ts";
import type { Ask } from "../venue.ts";
import type { DammV2Pool } from "./layout.ts";
import type { DammV2Fill } from "./math.ts";

/** The parts of a pool's state that its costs depend on. */
interface Priced {
  readonly pool: DammV2Pool;
  readonly mints: readonly [Mint, Mint];
  /** Extensions each mint carries. */
  readonly extensions: readonly [number, number];
}

/**
 * Compute units, measured on the program for every fee kind, mint kind and mode: an upper bound for the trade. The terms
 * are the costlier steps of the program.
 */
export function unitsOf(
  { pool, mints, extensions }: Priced,
  aToB: boolean,
  ask: Ask,
  fill: DammV2Fill,
  moment: FeeMoment,
): number {
  const exactIn = ask.mode === "exactIn";
  const work = baseFeeWork(pool.baseFee, exactIn ? fill.input : fill.netIn, !exactIn, moment);
  return (
    (exactIn ? (aToB ? 14_650 : 15_950) : 16_150) +
    (aToB === exactIn && !pool.compounding ? priceUnits(pool, aToB, fill) : 0) +
    (pool.migrated ? 0 : MIGRATION_UNITS) +
    (pool.compounding ? compoundingUnits(pool.reserves, aToB, fill) : 0) +
    (pool.volatility === undefined ? 0 : VOLATILITY_UNITS - (pool.migrated ? 0 : NOT_BOTH_UNITS)) +
    (work.powers ? powerUnits(pool.baseFee.kind, work.counts) : 0) +
    (work.counts ? countUnits(pool.baseFee.kind, exactIn) : 0) +
    (work.mayCount ? (work.powers ? laterCountUnits(pool) : countUnits("marketCapSchedule", exactIn)) : 0) +
    (work.roots ? rootUnits(pool.baseFee) : 0) +
    mintUnits(mints[0], extensions[0], exactIn) +
    mintUnits(mints[1], extensions[1], exactIn)
  );
}

/**
 * What a compounding pool takes more, by the price of A in B: measured over reserves of 4 to 61 bits, a bit of it takes 100 units. The
 * price is the higher one of before and after the trade.
 */
function compoundingUnits([a, b]: readonly [bigint, bigint], aToB: boolean, { input, output }: DammV2Fill): number {
  const [lastA, lastB] = aToB ? [a, b] : [a - output, b + input];
  return 15_000 + Math.ceil(100 * (Math.log2(Number(lastB) + 1) - Math.log2(Number(lastA) + 1)));
}

/**
 * What a trade that fixes an amount of A takes more where A is worth more than one unit of B, and again where it is worth 2^40: products
 * have a word more. Measured over prices of 2^-62 to 2^64, `slow:units`. Bounds hold for prices a quarter as high, too.
 */
function priceUnits({ sqrtPrice, liquidity }: DammV2Pool, aToB: boolean, { netIn }: DammV2Fill): number {
  const highest = Number(sqrtPrice) + (aToB ? 0 : (Number(netIn) / Number(liquidity)) * 2 ** 128);
  return highest < 2 ** 63 ? 0 : highest < 2 ** 83 ? 450 : 650;
}

const VOLATILITY_UNITS = 4_700;

/**
 * Less, for both volatility and a migration: older builds use less for the one, and those of March 2026 up to 4,983 for the other, whether or
 * not the fee follows volatility.
 */
const NOT_BOTH_UNITS = 400;

/**
 * Reducing a base fee by a power: a schedule took up to 2,984 on the builds of March 2026. One by price has more to spare while none of
 * its steps is taken.
 */
const powerUnits = (kind: BaseFee["kind"], counts: boolean): number =>
  kind === "timeSchedule" || counts ? 3_200 : 2_500;

/** A root of a rate limiter: measured over references of 2 to 54 bits. */
const rootUnits = (fee: BaseFee): number => 20_300 + 230 * longReferenceBits(fee);

/**
 * For a step of price that another's trade may lead to, beside a power that is charged for and not taken before it: measured over steps
 * and reductions, `test/slow/venues/market-cap-steps.test.ts`. Where it counts volatility too, no program uses the most of both.
 */
const laterCountUnits = ({ volatility }: DammV2Pool): number => (volatility === undefined ? 1_700 : 1_200);

/** What the fee of an exact-out trade takes beyond that of now if the price moves within what is signed, and back by as much. */
export function laterRootUnits(laterRoot: LaterRoot | undefined, quoted: bigint, most: bigint): number {
  if (laterRoot === undefined || !isRootInReach(laterRoot, quoted, most)) return 0;
  return rootUnits(laterRoot.fee) + (laterRoot.counts ? countUnits("rateLimiter", false) : 0);
}

/** Counting the steps of a base fee: of the price, or of a buy's size. */
function countUnits(kind: BaseFee["kind"], exactIn: boolean): number {
  if (kind === "marketCapSchedule") return 1_800;
  return exactIn ? 2_350 : 4_300;
}

/** The first trade's migration of a pool. Builds before it, which leave pools unmigrated, use up to 4,200 more than later ones. */
const MIGRATION_UNITS = 5_400;

/** Addition for the transfer of a token; an exact-out trade computes its fee twice. */
function mintUnits(mint: Mint, extensions: number, exactIn: boolean): number {
  if (mint.program === TOKEN_PROGRAM) return 0;
  if (mint.transferFees !== undefined) return (exactIn ? 3_800 : 4_400) + 300 * (extensions - 1);
  return 2_300 + (extensions > 0 ? 200 : 0) + 300 * extensions;
}
