import type { Witnesses } from "../../rpc/witnesses.ts";
import type { PendingTransaction } from "../pending-transaction.ts";

/** Tells callers and the log, once, why the nodes cannot agree how a transaction ended. */
export function reportDispute(
  transaction: PendingTransaction,
  reason: string,
  { witnesses, warn }: { readonly witnesses: Witnesses; readonly warn: (message: string) => void },
): void {
  if (transaction.isSettled || transaction.dispute !== undefined) return;
  transaction.reportDispute(reason);
  const names = witnesses.endpoints.map(({ name }) => name).join(", ");
  warn(`Cannot decide how ${transaction.signature} ended: ${reason} (${names}). It stays pending until they agree.`);
}
