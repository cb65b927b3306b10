import type { TransactionRecord } from "../../port.ts";

/** The lines of a log that say which program failed and why. */
const FAILURE_LINE = /^Program \w+ failed|Error Code: /;
/** What a node writes in place of the lines that exceed its limit. */
const CUT_LINE = "Log truncated";

/** True if the node has cut the record's logs. */
export function isCut({ logs }: TransactionRecord): boolean {
  return logs.includes(CUT_LINE);
}

/**
 * A text that is equal for records that agree on what the transaction did: slot, error, fee, balances and, if it failed,
 * which program failed. Other lines of the logs and the compute units are left out.
 *
 * @param withLogs false: compares no logs, for records some of which are cut
 */
export function recordKey(record: TransactionRecord, withLogs: boolean): string {
  const { slot, error, feeLamports, accounts, preBalances, postBalances } = record;
  const tokens = [record.preTokenBalances, record.postTokenBalances].map((balances) =>
    balances
      .map(({ accountIndex, mint, owner, amount }) => `${accountIndex} ${mint} ${owner ?? ""} ${amount}`)
      .toSorted(),
  );
  const failure = error === null || !withLogs ? [] : record.logs.filter((line) => FAILURE_LINE.test(line));
  const compared = [slot, error, feeLamports, accounts, preBalances, postBalances, tokens, failure];
  return JSON.stringify(compared, (_key, value) => (typeof value === "bigint" ? `${value}n` : value));
}
