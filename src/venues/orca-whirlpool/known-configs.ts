/**
 * Fee tiers of Orca's configuration under which pools are probed, by their index: for ordinary tiers the tick spacing, 32,896
 * being the one that trades over the full range only. Tiers whose fee follows volatility have indices of their own; none
 * is published. A tier that does not exist only costs one address in a read.
 *
 * @see https://docs.orca.so (fee tiers)
 */
export const WHIRLPOOL_FEE_TIERS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 32896];
