import { type BaseFee, FEE_DENOMINATOR } from "./scheduled-fee.ts";

const ONE_IN_BPS = 10_000;
/** What the powers of schedules and of doubles may differ by. Fraction. */
const SLACK = 1e-6;
/** Programs round a fee down to whole parts. */
const PART = 1 / Number(FEE_DENOMINATOR);

/** The part of a trade that the least fee leaves which a pool may ever take: the base fee at its end, capped. Fraction. */
export function mostKept(fee: BaseFee, feeCap: bigint): number {
  const least = Math.min(leastBaseFee(fee), Number(feeCap) / Number(FEE_DENOMINATOR));
  return Math.max(0, 1 - least);
}

function leastBaseFee(fee: BaseFee): number {
  const cliff = Number(fee.cliff) / Number(FEE_DENOMINATOR);
  if (fee.kind === "rateLimiter") return cliff;
  if (fee.kind === "timeSchedule" && fee.frequency === 0n) return cliff;
  const [periods, reduction] = [Number(fee.periods), Number(fee.reduction)];
  if (!fee.exponential) return Math.max(0, cliff - (periods * reduction) / Number(FEE_DENOMINATOR));
  return Math.max(0, cliff * Math.max(0, 1 - reduction / ONE_IN_BPS) ** periods * (1 - SLACK) - PART);
}
