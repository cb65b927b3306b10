import type { Address } from "../../primitives/address.ts";
import type { AccountView } from "../../solana/account.ts";
import { associatedTokenAccount } from "../../solana/derived-address.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";
import { isFrozen, isTokenAccount } from "../../solana/token/token-account.ts";

/** Places at which the documents of both of Pump's programs list the same fee recipients: the first five of eight. */
const COMMON_PLACES = 5;
/** The bits of a salt that choose a fee recipient; the bits above choose the buyback recipient. */
const FEE_BITS = 8;

/**
 * Quote tokens for which every recipient has an account.
 *
 * @see pump-public-docs `docs/instructions/PUMP_SWAP_TRADE_V2.md`, Buyback Fee Recipient
 */
const KEPT_QUOTES: readonly Address[] = [SOL_MINT, USDC_MINT];
const NO_ADDRESSES: readonly Address[] = [];

/** Why a market without recipients that can be paid does not trade, as the end of a sentence. */
export const UNPAYABLE = "takes no fees yet: nobody whom they go to has an account for its quote token";

/** An address that Pump's settings list. */
interface Recipient {
  readonly wallet: Address;
}

/** One with its token account for a quote mint. */
export interface PaidRecipient extends Recipient {
  readonly tokenAccount: Address;
  /** Steps that a search for the token account's address takes beyond the first. */
  readonly bumpSteps: number;
}

interface SharedRecipients {
  readonly quoteProgram: Address;
  readonly recipients: readonly PaidRecipient[];
}

/** Of a list of settings, by quote token: all markets of it share them, so that they stay in the processor's caches. */
const shared = new WeakMap<readonly Address[], Map<Address, SharedRecipients>>();

/** The recipients that settings list, with their accounts for a quote token. */
export function recipientsIn(
  wallets: readonly Address[],
  quoteMint: Address,
  quoteProgram: Address,
): readonly PaidRecipient[] {
  const known = shared.get(wallets)?.get(quoteMint);
  if (known !== undefined && known.quoteProgram === quoteProgram) return known.recipients;
  const recipients = wallets.map((wallet) => paidRecipient(wallet, quoteMint, quoteProgram));
  // Other quote tokens are too many to be kept, and each has few markets.
  if (!KEPT_QUOTES.includes(quoteMint)) return recipients;
  const byQuote = shared.get(wallets) ?? new Map<Address, SharedRecipients>();
  byQuote.set(quoteMint, { quoteProgram, recipients });
  shared.set(wallets, byQuote);
  return recipients;
}

function paidRecipient(wallet: Address, quoteMint: Address, quoteProgram: Address): PaidRecipient {
  const { address, bump } = associatedTokenAccount(wallet, quoteMint, quoteProgram);
  return { wallet, tokenAccount: address, bumpSteps: 255 - bump };
}

/** The token accounts of recipients that may not exist. */
export function uncertainAccounts(
  wallets: readonly Address[],
  quoteMint: Address,
  quoteProgram: Address,
): readonly Address[] {
  if (KEPT_QUOTES.includes(quoteMint)) return NO_ADDRESSES;
  return wallets.map((wallet) => associatedTokenAccount(wallet, quoteMint, quoteProgram).address);
}

/**
 * The recipients that take the quote token: one without an account for it makes a trade fail, or the wallet pay for the account. All, for
 * tokens that Pump itself trades.
 */
export function payableRecipients<T extends Pick<PaidRecipient, "tokenAccount">>(
  recipients: readonly T[],
  quoteMint: Address,
  have: AccountView,
): readonly T[] {
  if (KEPT_QUOTES.includes(quoteMint)) return recipients;
  return recipients.filter(({ tokenAccount }) => {
    const account = have.get(tokenAccount);
    return account != null && isTokenAccount(account) && !isFrozen(account);
  });
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

/** The buyback recipient, who gets a part of the fee. Parameters as `feeRecipientOf`. */
export function buybackRecipientOf<T extends Recipient>(recipients: readonly T[], salt: number, trader: Address): T {
  return recipientAt(recipients, recipients.length, salt >>> FEE_BITS, trader);
}

/** Steps of the programs' searches for the token accounts of both recipients, with the salt that takes most. */
export function mostRecipientSteps(
  feeRecipients: readonly { readonly bumpSteps: number }[],
  buybackRecipients: readonly { readonly bumpSteps: number }[],
): number {
  const most = (recipients: readonly { readonly bumpSteps: number }[]) =>
    recipients.reduce((steps, { bumpSteps }) => Math.max(steps, bumpSteps), 0);
  return most(feeRecipients.slice(0, COMMON_PLACES)) + most(buybackRecipients);
}

function recipientAt<T extends Recipient>(recipients: readonly T[], places: number, salt: number, trader: Address): T {
  const chosen = recipients[salt % places]!;
  return chosen.wallet === trader ? recipients[(salt + 1) % places]! : chosen;
}
