import type { Now } from "../../../primitives/clock.ts";
import { beginWithAccountsOf } from "../../../solana/message/message-accounts.ts";
import { wireLayout } from "../../../solana/message.ts";
import type { TransactionRecord } from "../../port.ts";
import { isRefusal, isWithoutHistory } from "../../rpc/node-error.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import { fetchRecord } from "../../rpc/transaction-reader.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";
import type { LandingHead } from "../landing-head.ts";
import type { PendingTransaction } from "../pending-transaction.ts";
import type { ProvenRecord, RecordAnswer } from "./record-votes.ts";
import { reportDispute } from "./report-dispute.ts";
import { fetchStatusAt } from "./status-looks.ts";

interface RecordReadsOptions {
  readonly witnesses: Witnesses;
  readonly head: LandingHead;
  /** Time in which this process could receive answers: a stalled process does not make a node silent. */
  readonly runningMs: Now;
  readonly warn: (message: string) => void;
  readonly onProven: (transaction: PendingTransaction, proven: ProvenRecord) => void;
}

/** Shortest pause between two reads of a record from the same node. Milliseconds. */
const MIN_PERIOD_MS = 100;
/** Longest wait of a verdict by one node for the answer of a node that has been silent. Milliseconds. */
const GRACE_MS = 250;
/** Rounds without a verdict after which callers and the log are given the reason. */
const ROUNDS_UNTIL_DISPUTE = 8;

/**
 * Reads the records of transactions that a node has reported as confirmed: from as many nodes as must agree at first, then
 * from all, until they do.
 */
export class RecordReads {
  readonly #options: RecordReadsOptions;
  #turn = 0;

  constructor(options: RecordReadsOptions) {
    this.#options = options;
  }

  /** Reads the record from the nodes that are due, and decides if what is known is enough. */
  read(transaction: PendingTransaction): void {
    const { runningMs, head } = this.#options;
    const atMs = runningMs();
    const periodMs = Math.max(MIN_PERIOD_MS, head.slotMs());
    const due = this.#choose(transaction.recordRounds).filter((endpoint) => {
      const askedAtMs = transaction.recordAskedAtMs.get(endpoint);
      return askedAtMs === undefined || (!transaction.unansweredReads.has(endpoint) && atMs - askedAtMs >= periodMs);
    });
    if (due.length > 0) transaction.recordRounds += 1;
    for (const endpoint of due) void this.#ask(transaction, endpoint);
    this.#decide(transaction);
    if (transaction.recordRounds >= ROUNDS_UNTIL_DISPUTE)
      reportDispute(transaction, transaction.votes.dispute(), this.#options);
  }

  /** The nodes to ask: at first only as many as must agree, in turns; silent ones are asked in addition. */
  #choose(rounds: number): readonly RpcEndpoint[] {
    const { witnesses } = this.#options;
    const { endpoints } = witnesses;
    if (rounds > 0 || endpoints.length <= 2) return endpoints;
    const start = this.#turn++ % endpoints.length;
    const turned = [...endpoints.slice(start), ...endpoints.slice(0, start)];
    const ready = turned.filter((endpoint) => !endpoint.isCooling() && !witnesses.isSilent(endpoint));
    return ready.length < 2 ? endpoints : ready.slice(0, 2);
  }

  async #ask(transaction: PendingTransaction, endpoint: RpcEndpoint): Promise<void> {
    const { runningMs } = this.#options;
    transaction.recordAskedAtMs.set(endpoint, runningMs());
    transaction.unansweredReads.add(endpoint);
    let answer = await this.#fetch(transaction, endpoint);
    const isWithout = answer === "unserved" || answer === "unusable";
    if (isWithout && !(await this.#readStatus(transaction, endpoint)) && answer === "unserved") answer = "mute";
    transaction.unansweredReads.delete(endpoint);
    if (transaction.isSettled) return;
    transaction.votes.receiveRecord(endpoint, answer, runningMs());
    this.#decide(transaction);
  }

  async #fetch(transaction: PendingTransaction, endpoint: RpcEndpoint): Promise<RecordAnswer> {
    try {
      const { pool } = this.#options.witnesses;
      const record = await fetchRecord(pool, endpoint, transaction.signature, transaction.lastAnswer);
      if (record === null) return "absent";
      if (!transaction.votes.holds(record) && !isOf(record, transaction)) {
        this.#options.witnesses.setAside(endpoint, "its record of a transaction names other accounts than were signed");
        return "unusable";
      }
      return record;
    } catch (error) {
      return isWithoutHistory(error) ? "unserved" : "unusable";
    }
  }

  /**
   * A node without the record still votes by its status before another node's word alone decides.
   * @returns false if it serves no statuses
   */
  async #readStatus(transaction: PendingTransaction, endpoint: RpcEndpoint): Promise<boolean> {
    const { witnesses } = this.#options;
    try {
      const { slot, status } = await fetchStatusAt(witnesses.pool, endpoint, transaction.signature);
      if (status === null) transaction.votes.receiveMiss(endpoint, slot);
      else transaction.votes.receiveStatus(endpoint, status);
      return true;
    } catch (error) {
      return !isRefusal(error);
    }
  }

  #decide(transaction: PendingTransaction): void {
    const { witnesses, runningMs, onProven } = this.#options;
    if (transaction.isSettled) return;
    const proven = transaction.votes.proven(runningMs());
    if (proven === undefined) return;
    const isOneOfSeveral = proven.witnesses === 1 && witnesses.endpoints.length > 1;
    const atMs = runningMs();
    const mayStillAnswer = [...transaction.unansweredReads].some(
      (endpoint) => atMs - transaction.recordAskedAtMs.get(endpoint)! < GRACE_MS,
    );
    if (isOneOfSeveral && mayStillAnswer) return;
    onProven(transaction, proven);
  }
}

/** True if the record's accounts begin with those that the signed message names, and each has its balances. */
function isOf({ accounts, preBalances, postBalances }: TransactionRecord, { signed }: PendingTransaction): boolean {
  if (accounts.length !== preBalances.length || accounts.length !== postBalances.length) return false;
  return beginWithAccountsOf(wireLayout(signed).message, accounts);
}
