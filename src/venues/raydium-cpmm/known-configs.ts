/**
 * Fee configurations of Raydium CPMM under which pools are probed. A configuration's address follows from its index, so only
 * indices are listed; one that does not exist only costs one address in a read.
 *
 * @see https://docs.raydium.io (CPMM fee configurations): low indices are in use, the list is not closed
 */
export const CPMM_CONFIG_INDICES: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
