import type { HotMarket } from "../../../../market/port.ts";
import type { Address } from "../../../../primitives/address.ts";

/** A market of a plan, with its weight among those that trade the same mint: by input for exactIn, by output for exactOut. */
export interface PlannedStep {
  readonly hot: HotMarket;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly weight: number;
}

/** Parts that a weight is rounded to. */
const WEIGHTS = 1e12;

/** No part is known. */
export const NONE_FIXED: ReadonlyMap<PlannedStep, bigint> = new Map();

/**
 * Divides an amount by the weights of markets, to the base unit: the heaviest gets what rounding leaves over.
 *
 * @param fixed parts that are known; all but one at most
 */
export function divideParts(
  group: readonly PlannedStep[],
  amount: bigint,
  parts: Map<PlannedStep, bigint>,
  fixed: ReadonlyMap<PlannedStep, bigint>,
): void {
  const total = group.reduce((sum, { weight }) => sum + weight, 0);
  let heaviest: PlannedStep | undefined;
  let given = 0n;
  for (const planned of group) {
    const known = fixed.get(planned);
    if (known === undefined && (heaviest === undefined || planned.weight > heaviest.weight)) heaviest = planned;
    const part = known ?? (amount * BigInt(Math.round((planned.weight / total) * WEIGHTS))) / BigInt(WEIGHTS);
    parts.set(planned, part);
    given += part;
  }
  parts.set(heaviest!, parts.get(heaviest!)! + amount - given);
}
