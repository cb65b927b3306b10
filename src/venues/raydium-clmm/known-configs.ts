/**
 * Fee configurations of Raydium CLMM under which pools are probed. A configuration's address follows from its index; the list of
 * those in use is not closed, pools under others are found by filter.
 *
 * @see https://api-v3.raydium.io/main/clmm-config
 */
export const CLMM_CONFIG_INDICES: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
