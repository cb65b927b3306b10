/** What of the state of a curve or pool tells the fee recipients. */
interface Paying<R> {
  readonly accounts: { readonly feeRecipients: readonly R[] };
}

/** Places among which trades choose: at these, both of Pump's programs list the same recipients. */
const COMMON_PLACES = 5;

/** The same state with its fee recipients turned so that a trade with this salt pays the one at place `salt` of all, as the SDK does. */
export function payingAtSalt<R, S extends Paying<R>>(state: S, salt: number): S {
  const { accounts } = state;
  const { feeRecipients } = accounts;
  const { length } = feeRecipients;
  const shift = (salt % length) - (salt % Math.min(length, COMMON_PLACES));
  const turned = feeRecipients.map((_, place) => feeRecipients[(place + shift + length) % length]!);
  return { ...state, accounts: { ...accounts, feeRecipients: turned } };
}
