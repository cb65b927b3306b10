import { FrozenReadScript } from "./frozen-read-script.ts";
import type { CheckResult, NodeUrls } from "./node-calls.ts";
import { ReadScript } from "./read-script.ts";
import { SubscriptionScript } from "./subscription-script.ts";
import { TransactionScript } from "./transaction-script.ts";

/** The same calls and subscriptions for every node, over every method the service uses: shapes and meaning, not values. */
export async function runNodeScript(node: NodeUrls): Promise<readonly CheckResult[]> {
  const reads = new ReadScript(node);
  await reads.checkChain();
  await reads.checkAccounts();
  await reads.checkRefusals();
  const transactions = new TransactionScript(node);
  await transactions.checkTransactions();
  const subscriptions = new SubscriptionScript(node);
  await subscriptions.checkSubscriptions();
  const frozen = new FrozenReadScript(node);
  await frozen.checkFrozenReads();
  return [reads, transactions, subscriptions, frozen].flatMap(({ results }) => results);
}
