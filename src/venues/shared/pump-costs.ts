/** What the curve and pool programs of Pump have in common in compute units and sizes. */

/** Compute units one step of a program's search for a derived address costs. */
export const BUMP_STEP_UNITS = 1_500;

/** Compute units the creation of a quote token account adds, without the search for its address: measured on both programs. */
export const QUOTE_CREATION_UNITS = 18_900;

/** Bytes both programs allocate for a wallet's volume account. */
export const USER_VOLUME_SIZE = 137;
