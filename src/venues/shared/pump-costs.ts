/** Compute units and sizes that Pump's curve and pool programs share. */

/** Compute units of one step in a program's search for a derived address. */
export const BUMP_STEP_UNITS = 1_500;

/** Compute units of creating a quote token account, without the search for its address. Measured on both programs. */
export const QUOTE_CREATION_UNITS = 18_900;

/** Bytes both programs allocate for a wallet's volume account. */
export const USER_VOLUME_SIZE = 137;

/** Fee tiers, of both schedules together, of the configuration that compute units were measured with. */
const MEASURED_TIERS = 7;
/** Compute units of each further one: every trade has the fee program decode them all. Measured on both programs, with up to 100. */
const FEE_TIER_UNITS = 120;

/** Addition for a configuration with more fee tiers than the measured one. */
export function feeTierUnits(config: {
  readonly tiers: readonly unknown[];
  readonly stableTiers: readonly unknown[];
}): number {
  return FEE_TIER_UNITS * Math.max(0, config.tiers.length + config.stableTiers.length - MEASURED_TIERS);
}
