import { ceilDiv, maxOf, minOf, squareRoot, U64_MAX } from "../../primitives/integer.ts";
import { Q64_ONE, q64Power } from "./q64-power.ts";

/**
 * The trading fee of Meteora's DAMM v2 and DBC: a base fee that follows time, market cap or the size of a buy, plus a
 * part that follows volatility. All fees are parts per billion.
 *
 * @see @meteora-ag/cp-amm-sdk 1.5.0 `math/feeMath.ts`, `math/poolFees/`
 */
export const FEE_DENOMINATOR = 1_000_000_000n;
const ONE_IN_BPS = 10_000n;

/** Scale of volatility × bin step, squared, times control. */
const DYNAMIC_FEE_SCALE = 100_000_000_000n;

/** A fee that falls step by step from `cliff`. */
interface Steps {
  readonly cliff: bigint;
  /** True: each step takes `reduction` bps of what is left; false: `reduction` parts per billion. */
  readonly exponential: boolean;
  readonly reduction: bigint;
  /** Steps after which it stays constant. */
  readonly periods: bigint;
}

/** Falls with time since activation. A frequency of 0 means it never falls. */
interface TimeSchedule extends Steps {
  readonly kind: "timeSchedule";
  /** Slots or seconds per step, as the pool counts time. */
  readonly frequency: bigint;
}

/** Falls as the price rises above the pool's first price, and to its end when it expires. */
interface MarketCapSchedule extends Steps {
  readonly kind: "marketCapSchedule";
  /** Rise of the square-root price per step. */
  readonly stepBps: bigint;
  /** Slots or seconds after activation from which the last step holds. */
  readonly duration: bigint;
}

/** Rises with the size of a buy: each further `reference` of input pays `increment` more, for `duration` after activation. */
interface RateLimiter {
  readonly kind: "rateLimiter";
  readonly cliff: bigint;
  readonly increment: bigint;
  readonly maximum: bigint;
  readonly reference: bigint;
  readonly duration: bigint;
}

export type BaseFee = TimeSchedule | MarketCapSchedule | RateLimiter;

/** What a fee depends on besides the amount. */
export interface FeeMoment {
  /** Slot or seconds, as the pool counts time. */
  readonly point: bigint;
  readonly activationPoint: bigint;
  /** True if the second token (the quote token) goes in: the only direction a rate limiter watches. */
  readonly buying: boolean;
  readonly sqrtPrice: bigint;
  readonly firstSqrtPrice: bigint;
}

/** False for a fee that no program stores: it would divide by zero or take everything. */
export function isPriceableFee(fee: BaseFee): boolean {
  if (fee.cliff >= FEE_DENOMINATOR) return false;
  switch (fee.kind) {
    case "timeSchedule":
      return fee.frequency === 0n || fee.exponential || fee.periods * fee.reduction <= fee.cliff;
    case "marketCapSchedule":
      return fee.stepBps > 0n && (fee.exponential || fee.periods * fee.reduction <= fee.cliff);
    case "rateLimiter": {
      const { reference, duration, increment } = fee;
      const isOff = reference === 0n && duration === 0n && increment === 0n;
      return isOff || (reference > 0n && increment > 0n && fee.maximum >= fee.cliff && fee.maximum < FEE_DENOMINATOR);
    }
  }
}

/** Basis points as parts per billion. */
export function partsOfBps(bps: number): bigint {
  return (BigInt(bps) * FEE_DENOMINATOR) / ONE_IN_BPS;
}

/** True while a rate limiter applies to trades in this direction. */
export function isLimiting(fee: BaseFee, moment: FeeMoment): boolean {
  return (
    fee.kind === "rateLimiter" &&
    moment.buying &&
    (fee.reference !== 0n || fee.duration !== 0n || fee.increment !== 0n) &&
    moment.point >= moment.activationPoint &&
    moment.point <= moment.activationPoint + fee.duration
  );
}

/** The base fee on an amount that includes it. */
export function baseFeeOnGross(fee: BaseFee, gross: bigint, moment: FeeMoment): bigint {
  if (fee.kind !== "rateLimiter") return scheduledFee(fee, moment);
  return isLimiting(fee, moment) ? limitedFeeOnGross(fee, gross) : fee.cliff;
}

/** The base fee that leaves `net` of a larger amount. Undefined if no 64-bit amount does. */
export function baseFeeOnNet(fee: BaseFee, net: bigint, moment: FeeMoment): bigint | undefined {
  if (fee.kind !== "rateLimiter") return scheduledFee(fee, moment);
  return isLimiting(fee, moment) ? limitedFeeOnNet(fee, net) : fee.cliff;
}

/** The part of the fee that follows volatility: ceil((volatility × binStep)² × control / 1e11). */
export function volatilityFee(volatility: bigint, binStep: bigint, control: bigint): bigint {
  const move = volatility * binStep;
  return ceilDiv(move * move * control, DYNAMIC_FEE_SCALE);
}

/** Which of the costlier steps a program takes to find a base fee: for bounds of compute units. */
interface BaseFeeWork {
  /** Steps of price or of a rate limiter are counted. */
  readonly counts: boolean;
  /** Steps of price would be counted if the price rose before the trade lands. */
  readonly mayCount?: boolean;
  /** A power is taken. */
  readonly powers: boolean;
  /** A square root is taken. */
  readonly roots: boolean;
}

/** The steps taken for an amount that includes the fee (`net` false) or is without it (`net` true). */
export function baseFeeWork(fee: BaseFee, amount: bigint, net: boolean, moment: FeeMoment): BaseFeeWork {
  if (fee.kind !== "rateLimiter") {
    const isByPrice = fee.kind === "marketCapSchedule" && moment.point <= moment.activationPoint + fee.duration;
    const counts = isByPrice && moment.sqrtPrice > moment.firstSqrtPrice;
    // The first step may fall, or the schedule end, between the build and the landing.
    const falls = fee.periods > 0n && (fee.kind === "marketCapSchedule" || fee.frequency > 0n);
    return { counts, mayCount: isByPrice && !counts, powers: fee.exponential && falls, roots: false };
  }
  if (!isLimiting(fee, moment)) return NO_WORK;
  if (!net) return amount > fee.reference ? COUNTING : NO_WORK;
  const [above, below] = rootedNets(fee);
  if (amount <= above) return NO_WORK;
  return amount < below ? ROOTING : COUNTING;
}

/** Amounts without the fee between which a rate limiter's takes a square root, both exclusive. */
const rootedNets = (fee: RateLimiter): readonly [above: bigint, below: bigint] => [
  limitedNet(fee, fee.reference),
  limitedNet(fee, lastSteppedGross(fee)),
];

/**
 * The square root that an exact-out buy may take when it lands, another price having moved its input without the fee (`net` now)
 * over a border of the rate limiter. Undefined if there is none, or it is taken already.
 */
export function laterRoot(fee: BaseFee, net: bigint, moment: FeeMoment): LaterRoot | undefined {
  if (fee.kind !== "rateLimiter" || !isLimiting(fee, moment)) return undefined;
  const [above, below] = rootedNets(fee);
  if (net > above && net < below) return undefined;
  return { fee, net, above, below, counts: net <= above };
}

/** A square root that a fee may take. */
export interface LaterRoot {
  readonly fee: RateLimiter;
  /** The input without the fee now, and the amounts between which it takes a root. */
  readonly net: bigint;
  readonly above: bigint;
  readonly below: bigint;
  /** True if the steps of the limiter are counted then too, and are not now. */
  readonly counts: boolean;
}

/** True if a price that raises the input from `quoted` to at most `most`, or lowers it by the same share, leads to the root. */
export function isRootInReach({ net, above, below }: LaterRoot, quoted: bigint, most: bigint): boolean {
  return net * most > above * quoted && net * quoted < below * most;
}

/** References of so many bits are short. */
const SHORT_REFERENCE_BITS = 30;

/** Bits of a rate limiter's reference amount beyond 30: with each, programs take longer for the square root of its fee. */
export function longReferenceBits(fee: BaseFee): number {
  if (fee.kind !== "rateLimiter") return 0;
  return Math.max(0, Math.floor(Math.log2(Number(fee.reference))) + 1 - SHORT_REFERENCE_BITS);
}

const NO_WORK: BaseFeeWork = { counts: false, powers: false, roots: false };
const COUNTING: BaseFeeWork = { counts: true, powers: false, roots: false };
const ROOTING: BaseFeeWork = { counts: true, powers: false, roots: true };

/** The rest of `gross` after the fee, which is rounded up. */
export function takeFee(gross: bigint, fee: bigint): bigint {
  return gross - ceilDiv(gross * fee, FEE_DENOMINATOR);
}

/** The amount that leaves `net` after the fee, rounded up. */
export function addFee(net: bigint, fee: bigint): bigint {
  return ceilDiv(net * FEE_DENOMINATOR, FEE_DENOMINATOR - fee);
}

function scheduledFee(fee: TimeSchedule | MarketCapSchedule, moment: FeeMoment): bigint {
  const steps = fee.kind === "timeSchedule" ? stepsOfTime(fee, moment) : stepsOfPrice(fee, moment);
  if (!fee.exponential) return fee.cliff - steps * fee.reduction;
  if (steps === 0n) return fee.cliff;
  const kept = q64Power(Q64_ONE - (fee.reduction << 64n) / ONE_IN_BPS, Number(steps));
  return (fee.cliff * kept) >> 64n;
}

function stepsOfTime(fee: TimeSchedule, { point, activationPoint }: FeeMoment): bigint {
  if (fee.frequency === 0n) return 0n;
  if (point < activationPoint) return fee.periods;
  return minOf((point - activationPoint) / fee.frequency, fee.periods);
}

function stepsOfPrice(fee: MarketCapSchedule, moment: FeeMoment): bigint {
  const { point, activationPoint, sqrtPrice, firstSqrtPrice } = moment;
  if (point < activationPoint || point > activationPoint + fee.duration) return fee.periods;
  const rise = maxOf(sqrtPrice - firstSqrtPrice, 0n);
  return minOf((rise * ONE_IN_BPS) / firstSqrtPrice / fee.stepBps, fee.periods);
}

/** How many whole increments fit below the maximum. */
const incrementsOf = (fee: RateLimiter): bigint => (fee.maximum - fee.cliff) / fee.increment;

/**
 * Of `gross`, the first reference amount pays the cliff, each further one an increment more, up to the maximum. The sum,
 * rounded up, is written as one rate on the whole, rounded up again.
 */
function limitedFeeOnGross(fee: RateLimiter, gross: bigint): bigint {
  const { cliff, increment, reference } = fee;
  if (gross <= reference) return cliff;
  const whole = (gross - reference) / reference;
  const steps = minOf(whole, incrementsOf(fee));
  const stepped = cliff + cliff * steps + (increment * steps * (steps + 1n)) / 2n;
  const rest = gross - reference - steps * reference;
  const restRate = steps < incrementsOf(fee) ? cliff + increment * (steps + 1n) : fee.maximum;
  const paid = ceilDiv(reference * stepped + rest * restRate, FEE_DENOMINATOR);
  return ceilDiv(paid * FEE_DENOMINATOR, gross);
}

/** The amount from which each further unit pays the maximum. */
const lastSteppedGross = (fee: RateLimiter): bigint => minOf((incrementsOf(fee) + 1n) * fee.reference, U64_MAX);

const limitedNet = (fee: RateLimiter, gross: bigint): bigint => takeFee(gross, limitedFeeOnGross(fee, gross));

/** The inverse of `limitedFeeOnGross`, by the root of the sum it makes, the way the programs take it. */
function limitedFeeOnNet(fee: RateLimiter, net: bigint): bigint | undefined {
  const { cliff, increment, reference } = fee;
  if (net <= limitedNet(fee, reference)) return cliff;
  const lastGross = lastSteppedGross(fee);
  const lastNet = limitedNet(fee, lastGross);
  if (net === lastNet) return limitedFeeOnGross(fee, lastGross);
  let gross: bigint;
  if (net < lastNet) {
    const linear = (2n * FEE_DENOMINATOR + increment - 2n * cliff) * reference;
    const constant = 2n * net * FEE_DENOMINATOR * reference;
    const stepped = (linear - squareRoot(linear * linear - 4n * increment * constant)) / (2n * increment);
    const rate = cliff + increment * (stepped / reference);
    gross = stepped + addFee(net - limitedNet(fee, stepped), rate);
  } else {
    if (lastGross === U64_MAX) return undefined;
    gross = lastGross + addFee(net - lastNet, fee.maximum);
  }
  return ceilDiv((gross - net) * FEE_DENOMINATOR, gross);
}
