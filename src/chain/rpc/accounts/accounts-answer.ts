import { AccountText, type WrittenAccount } from "../account-text.ts";

/** An answer about accounts as `JSON.parse` returns it, without the fields that nobody reads. */
export interface WrittenAnswer {
  readonly id: number;
  readonly result: {
    readonly context: { readonly slot: number };
    readonly value: readonly (WrittenAccount | null)[];
  };
  readonly [field: string]: unknown;
}

const HEAD = '{"jsonrpc":"2.0",';
/** Most accounts of an answer: nodes are asked for at most a hundred. */
const MOST_ACCOUNTS = 100;

/**
 * Reads what a node answers to `getMultipleAccounts` straight from its text.
 *
 * @returns undefined for any other form, which the caller must parse: an error, other fields, spaces, escapes, more accounts
 */
export function accountsAnswerOf(text: string): WrittenAnswer | undefined {
  if (!text.startsWith(HEAD) || text.includes("\\")) return undefined;
  const from = new AccountText(text);
  from.take(HEAD);
  // The id comes before the result or after it.
  let id = takeId(from);
  if (id !== undefined && !from.take(",")) return undefined;
  const slot = from.take('"result":{"context":{') ? takeSlot(from) : undefined;
  const value = slot !== undefined && from.take('},"value":[') ? takeAccounts(from) : undefined;
  if (slot === undefined || value === undefined || !from.take("}")) return undefined;
  if (id === undefined && from.take(",")) id = takeId(from);
  const isWhole = id !== undefined && from.take("}") && (from.isAtEnd || (from.take("\n") && from.isAtEnd));
  return isWhole ? { id: id!, result: { context: { slot }, value } } : undefined;
}

function takeId(from: AccountText): number | undefined {
  return from.take('"id":') && from.takeNumber() ? from.number : undefined;
}

/** The slot, after the version of the node's software if that comes first, as it does by name. */
function takeSlot(from: AccountText): number | undefined {
  if (from.take('"apiVersion":"')) {
    from.takeToQuote();
    if (!from.take('",')) return undefined;
  }
  return from.take('"slot":') && from.takeNumber() ? from.number : undefined;
}

/** The accounts up to the end of the list; null for a missing one. */
function takeAccounts(from: AccountText): (WrittenAccount | null)[] | undefined {
  const accounts: (WrittenAccount | null)[] = [];
  if (from.take("]")) return accounts;
  while (accounts.length < MOST_ACCOUNTS) {
    const account = from.take("null") ? null : from.takeAccount();
    if (account === undefined) return undefined;
    accounts.push(account);
    if (from.take("]")) return accounts;
    if (!from.take(",")) return undefined;
  }
  return undefined;
}
