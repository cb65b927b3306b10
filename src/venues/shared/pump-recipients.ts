import type { Address } from "../../primitives/address.ts";

/** Places at which the documents of both of Pump's programs list the same fee recipients: the first five of eight. */
const COMMON_PLACES = 5;
/** The bits of a salt that choose a fee recipient; those above choose who buys back. */
const FEE_BITS = 8;

/** An address that Pump's settings list, as an instruction names it. */
interface Recipient {
  readonly wallet: { readonly address: Address };
}

/**
 * The fee recipient of a trade: one that both programs know, so that the swaps of a transaction over both name it once. All swaps of
 * a transaction have the same salt.
 *
 * @param recipients as the program's settings list them, one at least
 * @param trader never its own recipient if there is another: it would get back what the quote counts as paid
 */
export function feeRecipientOf<T extends Recipient>(recipients: readonly T[], salt: number, trader: Address): T {
  return recipientAt(recipients, Math.min(recipients.length, COMMON_PLACES), salt, trader);
}

/** The one who buys back with a part of the fee. Parameters as `feeRecipientOf`. */
export function buybackRecipientOf<T extends Recipient>(recipients: readonly T[], salt: number, trader: Address): T {
  return recipientAt(recipients, recipients.length, salt >>> FEE_BITS, trader);
}

function recipientAt<T extends Recipient>(recipients: readonly T[], places: number, salt: number, trader: Address): T {
  const chosen = recipients[salt % places]!;
  return chosen.wallet.address === trader ? recipients[(salt + 1) % places]! : chosen;
}
