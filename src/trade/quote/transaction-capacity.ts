import type { LookupTable } from "../../solana/message.ts";
import type { TradeRequest } from "../trade.ts";

/** What decides how much a transaction can hold, apart from its wallet. */
export interface CapacityPorts {
  readonly lookupTables: () => readonly LookupTable[];
  readonly settings: { readonly transactionV1: boolean };
}

/** The capacity of version 1: its limit is accounts, whatever the bytes. */
export const VERSION_1_CAPACITY = "version 1";

/**
 * Names the capacity of a trade's transaction, apart from its wallet: trades with the same name share what was found to fit. Tables only
 * grow, so their number and entries identify them. Tips differ by priority and are not counted.
 */
export function capacityOf(
  { settings, lookupTables }: CapacityPorts,
  { maxTransactionVersion }: Pick<TradeRequest, "maxTransactionVersion">,
): string {
  if (settings.transactionV1 && maxTransactionVersion === 1) return VERSION_1_CAPACITY;
  const tables = lookupTables();
  return `${tables.length} tables, ${tables.reduce((sum, { entries }) => sum + entries.length, 0)} entries`;
}
