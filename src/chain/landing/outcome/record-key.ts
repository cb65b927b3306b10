import type { TokenBalanceRecord, TransactionRecord } from "../../port.ts";

/** The lines of a log that say which program failed and why. */
const FAILURE_LINE = /^Program \w+ failed|Error Code: /;
/** What a node writes in place of the lines that exceed its limit. */
const CUT_LINE = "Log truncated";

/** True if the node has cut the record's logs. */
export function isCut({ logs }: TransactionRecord): boolean {
  return logs.includes(CUT_LINE);
}

/**
 * A text that is equal for records that agree on the transaction's effects: slot, error, fee, balances and, if it failed, the failing
 * program. Other lines of the logs and the compute units are left out.
 *
 * @param withLogs false: compares no logs, for records some of which are cut
 */
export function recordKey(record: TransactionRecord, withLogs: boolean): string {
  const { slot, error, feeLamports, accounts, preBalances, postBalances } = record;
  const [before, after] = [tokensOf(record.preTokenBalances), tokensOf(record.postTokenBalances)];
  const failure = error === null || !withLogs ? [] : record.logs.filter((line) => FAILURE_LINE.test(line));
  // Numbers and addresses contain no separators; free text from the node comes last.
  return `${slot};${feeLamports};${accounts};${preBalances};${postBalances};${before};${after};${JSON.stringify([error, failure])}`;
}

/** Token balances in a canonical order: nodes may list them differently. */
function tokensOf(balances: readonly TokenBalanceRecord[]): string {
  const texts = balances.map(
    ({ accountIndex, mint, owner, amount }) => `${accountIndex} ${mint} ${owner ?? ""} ${amount}`,
  );
  return `${texts.sort()}`;
}
