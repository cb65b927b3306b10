/** Compute units and sizes that Pump's curve and pool programs share. */

/** Compute units of one step in a program's search for a derived address. */
export const BUMP_STEP_UNITS = 1_500;

/** Compute units of creating a quote token account, without the search for its address. Measured on both programs. */
export const QUOTE_CREATION_UNITS = 18_900;

/** Bytes both programs allocate for a wallet's volume account. */
export const USER_VOLUME_SIZE = 137;
