import { readFileSync } from "node:fs";
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
  const scripts = [reads, transactions, subscriptions, frozen];
  const called = new Set(scripts.flatMap(({ methods }) => [...methods]));
  const left = documentedMethods().filter((method) => !called.has(method));
  const whole = { name: "every method that the service uses is called", fault: left.join(", ") || undefined };
  return [...scripts.flatMap(({ results }) => results), whole];
}

/** What docs/mainnet.md says a provider must offer. */
function documentedMethods(): readonly string[] {
  const page = readFileSync(new URL("../../../docs/mainnet.md", import.meta.url), "utf8");
  const table = /## What a provider must offer\n\n((?:\|.*\n)+)/.exec(page)![1]!;
  return [...table.matchAll(/`((?:get|send|is)[A-Z]\w+|\w+Subscribe)`/g)].map(([, method]) => method!);
}
