/** Places at which the documents of both of Pump's programs list the same fee recipients: the first five of eight. */
const COMMON_PLACES = 5;

/**
 * The fee recipient of a trade: one that both programs know, so that the swaps of a transaction over both name it once. All swaps of
 * a transaction have the same salt.
 *
 * @param recipients as the program's settings list them, one at least
 */
export function feeRecipientOf<T>(recipients: readonly T[], salt: number): T {
  return recipients[salt % Math.min(recipients.length, COMMON_PLACES)]!;
}
