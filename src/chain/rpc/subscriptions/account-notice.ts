import { AccountText, type WrittenAccount } from "../account-text.ts";

/** A notice of an account as `JSON.parse` returns it, without the fields that nobody reads. */
export interface WrittenNotice {
  /** The node's number for the subscription. */
  readonly subscription: number;
  readonly result: { readonly context: { readonly slot: number }; readonly value: WrittenAccount };
}

const HEAD = '{"jsonrpc":"2.0","method":"accountNotification","params":{"result":{"context":{"slot":';

/**
 * Reads the notice of an account straight from its text: followed accounts change with every trade on them.
 *
 * @returns undefined for any other form, which the caller must parse: with other fields, spaces, escapes or larger numbers
 */
export function accountNoticeOf(text: string): WrittenNotice | undefined {
  if (!text.startsWith(HEAD) || text.includes("\\")) return undefined;
  const from = new AccountText(text);
  if (!from.take(HEAD) || !from.takeNumber()) return undefined;
  const slot = from.number;
  const value = from.take('},"value":') ? from.takeAccount() : undefined;
  if (value === undefined || !from.take('},"subscription":') || !from.takeNumber()) return undefined;
  const subscription = from.number;
  return from.take("}}") && from.isAtEnd ? { subscription, result: { context: { slot }, value } } : undefined;
}
