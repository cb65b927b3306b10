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
import type { DbcConfig, DbcPool } from "./layout.ts";
import type { DbcFill } from "./math.ts";

/** The parts of a curve's state that its costs depend on. */
interface Priced {
  readonly pool: DbcPool;
  readonly config: DbcConfig;
  readonly mints: readonly [Mint, Mint];
  /** Extensions each mint carries. */
  readonly extensions: readonly [number, number];
}

/**
 * Compute units, measured on the program for every fee kind, mint kind and mode: an upper bound for the trade. The terms
 * are the costlier steps of the program.
 */
export function unitsOf(
  { pool, config, mints, extensions }: Priced,
  selling: boolean,
  exactIn: boolean,
  fill: DbcFill,
  moment: FeeMoment,
): number {
  const work = baseFeeWork(config.baseFee, exactIn ? fill.input : fill.netIn, !exactIn, moment);
  const limited = config.baseFee.kind === "rateLimiter" && !selling;
  const completes = !selling && pool.quoteReserve + fill.netIn >= config.migrationThreshold;
  return (
    OLDER_BUILD_UNITS +
    (selling ? sellUnits(exactIn, fill) : buyUnits(exactIn, fill)) +
    (completes ? COMPLETION_UNITS : 0) +
    30 * config.segments.length +
    (config.eagerFirstSwap ? (pool.hasSwapped ? 500 : 3_500) : 0) +
    (config.volatility === undefined ? 0 : 3_300) +
    (work.powers ? 2_600 : 0) +
    (limited ? (exactIn ? 2_950 : 3_450) : 0) +
    (work.counts && limited ? (exactIn ? 2_050 : COUNT_OUT_UNITS) : 0) +
    (work.roots ? rootUnits(config.baseFee) : 0) +
    mintUnits(mints[0], extensions[0]) +
    mintUnits(mints[1], extensions[1])
  );
}

/** What a rate limiter adds to an exact-out buy above its reference amount. */
const COUNT_OUT_UNITS = 3_900;
/** A root of a rate limiter, which takes longer the more bits its reference has. */
const rootUnits = (fee: BaseFee): number => 20_600 + 230 * longReferenceBits(fee);

/** What the fee of an exact-out trade takes beyond that of now if the price moves within what is signed, and back by as much. */
export function laterRootUnits(laterRoot: LaterRoot | undefined, quoted: bigint, most: bigint): number {
  if (laterRoot === undefined || !isRootInReach(laterRoot, quoted, most)) return 0;
  return rootUnits(laterRoot.fee) + (laterRoot.counts ? COUNT_OUT_UNITS : 0);
}

/** What builds before March 2026 use beyond it: their swap2 goes through the program's older entry. */
const OLDER_BUILD_UNITS = 6_000;

/** The buy that completes the curve marks the pool and reports it in an event. */
const COMPLETION_UNITS = 8_000;

/** A stretch costs more the more bits its liquidity and its prices have. */
function buyUnits(exactIn: boolean, { crossed }: DbcFill): number {
  return exactIn ? 37_500 + 4_900 * crossed : 38_400 + 5_100 * crossed;
}

function sellUnits(exactIn: boolean, { crossed, endsLow }: DbcFill): number {
  return exactIn ? 35_000 + (endsLow ? 0 : 2_150) + 3_900 * crossed : 36_550 + 3_900 * crossed;
}

/** Addition for the transfer of a token. The program creates its coins with two extensions. */
function mintUnits(mint: Mint, extensions: number): number {
  return mint.program === TOKEN_PROGRAM ? 0 : 2_900 + 300 * Math.max(0, extensions - 2);
}
