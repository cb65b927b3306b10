import type { TransactionRecord } from "../../port.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { SignatureStatus } from "../../rpc/signature-status.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";
import { isCut, recordKey } from "./record-key.ts";

/**
 * What a node gave when asked for the record: the record; none yet; none ever, since it keeps none; the same of statuses too; or no
 * usable answer.
 */
export type RecordAnswer = TransactionRecord | "absent" | "unserved" | "mute" | "unusable";

/** Minimum number of slots for which a node without history remembers a status. @see agave MAX_CACHE_ENTRIES: those of 300 roots */
const STATUS_SLOTS = 290n;
/** Minimum distance between two noted misses of a node. Slots. */
const MISS_SPACING = 32n;
/** Misses noted per node: enough for a message's lifetime and the time in which its outcome is proven. */
const MOST_MISSES = 32;

/** Comparison keys of the records that had to be compared. */
const wholeKeys = new WeakMap<TransactionRecord, string>();
const keysWithoutLogs = new WeakMap<TransactionRecord, string>();

/** A record that enough nodes agree on. */
export interface ProvenRecord {
  readonly record: TransactionRecord;
  /** Nodes that agree on it. */
  readonly witnesses: number;
}

/** What the nodes say about one transaction: their records of it and their statuses. */
export class RecordVotes {
  readonly #witnesses: Witnesses;
  readonly #isCredible: (record: TransactionRecord) => boolean;
  /** Each node's last answer. */
  readonly #answers = new Map<RpcEndpoint, RecordAnswer>();
  /** Each node's last status. */
  readonly #statuses = new Map<RpcEndpoint, SignatureStatus>();
  /** Slots at which a node had not seen the transaction, oldest first, spaced out except for the newest; no entry once it has seen it. */
  readonly #misses = new Map<RpcEndpoint, bigint[]>();
  /** Since when a node has given no record (running milliseconds). */
  readonly #withoutSinceMs = new Map<RpcEndpoint, number>();
  #noticedError: { readonly error: unknown | null } | undefined;

  /** @param isCredible false for a slot that the message cannot be in, by the known heights: one node's word is then not enough */
  constructor(witnesses: Witnesses, isCredible: (record: TransactionRecord) => boolean) {
    this.#witnesses = witnesses;
    this.#isCredible = isCredible;
  }

  /** True once a node has reported the transaction as confirmed, by notice, status or record. */
  get isSeen(): boolean {
    return (
      this.#noticedError !== undefined ||
      this.#records().length > 0 ||
      [...this.#statuses.values()].some(({ commitment }) => commitment !== "processed")
    );
  }

  /** How many nodes beside these have shown the transaction in a confirmed block, by record or status, and have not taken it back. */
  shownBeside(endpoints: readonly RpcEndpoint[]): number {
    return this.#witnesses.endpoints.filter((other) => {
      if (endpoints.includes(other) || this.#misses.has(other)) return false;
      const status = this.#statuses.get(other);
      return this.#recordOf(other) !== undefined || (status !== undefined && isFirm(status));
    }).length;
  }

  /** Takes in the error of a notice that the transaction is confirmed; null if it succeeded. */
  receiveNotice(error: unknown | null): void {
    this.#noticedError = { error };
  }

  /** Takes in a node's status. A later one replaces it. */
  receiveStatus(endpoint: RpcEndpoint, status: SignatureStatus): void {
    this.#statuses.set(endpoint, status);
    this.#misses.delete(endpoint);
  }

  /** Notes that a node, at this slot, has the transaction in no block. */
  receiveMiss(endpoint: RpcEndpoint, slot: bigint): void {
    const slots = this.#misses.get(endpoint);
    if (slots === undefined) this.#misses.set(endpoint, [slot]);
    else if (slot > slots.at(-1)!) {
      // The newest always counts: a node that lies could name a slot just after the last one noted.
      if (slots.length > 1 && slot < slots.at(-2)! + MISS_SPACING) slots.pop();
      slots.push(slot);
      if (slots.length > MOST_MISSES) slots.shift();
    }
  }

  /** Takes in what a node gave when asked for the record. A later answer replaces it. */
  receiveRecord(endpoint: RpcEndpoint, answer: RecordAnswer, atMs: number): void {
    this.#answers.set(endpoint, answer);
    if (typeof answer === "object") this.#withoutSinceMs.delete(endpoint);
    else if (!this.#withoutSinceMs.has(endpoint)) this.#withoutSinceMs.set(endpoint, atMs);
  }

  /** True if a node gave this very record. */
  holds(record: TransactionRecord): boolean {
    for (const answer of this.#answers.values()) if (answer === record) return true;
    return false;
  }

  /**
   * The record that enough nodes agree on: two, and more than agree on any other. One node decides, with record and status in
   * agreement and a slot that the message can be in, if no other is configured, answers or serves records, or if it is the trusted one.
   */
  proven(atMs: number): ProvenRecord | undefined {
    const [best, second] = this.#groups();
    if (best === undefined) return undefined;
    if (best.length >= 2 && best.length > (second?.length ?? 0)) return this.#prove(best);
    const { trusted, endpoints } = this.#witnesses;
    if (trusted !== undefined && this.#isConsistent(trusted)) return this.#prove([trusted]);
    const only = best[0]!;
    const others = endpoints.filter((endpoint) => endpoint !== only);
    const record = this.#recordOf(only)!;
    const isAlone = second === undefined && others.every((other) => this.#hasNoSay(other, record, atMs));
    return isAlone && this.#isConsistent(only) && !this.#isContradicted(only) ? this.#prove([only]) : undefined;
  }

  /** Why no outcome is proven although a node has reported the transaction. */
  dispute(): string {
    const [best, second] = this.#groups();
    if (second !== undefined) return "the nodes' records of the transaction differ";
    if (best === undefined) return "a node reports the transaction as confirmed, and no node has its record";
    if (!this.#isCredible(this.#recordOf(best[0]!)!))
      return "only one node has the record, in a slot that the transaction cannot be in";
    if (best.some((endpoint) => this.#isContradicted(endpoint)))
      return "a node's status of the transaction differs from its record";
    return "only one node has the record of the transaction";
  }

  #recordOf(endpoint: RpcEndpoint): TransactionRecord | undefined {
    const answer = this.#answers.get(endpoint);
    return typeof answer === "object" ? answer : undefined;
  }

  #records(): readonly RpcEndpoint[] {
    return [...this.#answers.keys()].filter((endpoint) => this.#recordOf(endpoint) !== undefined);
  }

  /** Nodes by equal records, the largest group first. */
  #groups(): readonly RpcEndpoint[][] {
    const records = this.#records();
    if (records.length === 0) return [];
    const first = this.#recordOf(records[0]!);
    // Nodes that answered alike share one record.
    if (records.every((endpoint) => this.#recordOf(endpoint) === first)) return [[...records]];
    const withLogs = !this.#hasCut();
    const groups = Map.groupBy(records, (endpoint) => this.#keyOf(this.#recordOf(endpoint)!, withLogs));
    return [...groups.values()].sort((a, b) => b.length - a.length);
  }

  /** Computed once per record: records are grouped again with every answer. */
  #keyOf(record: TransactionRecord, withLogs: boolean): string {
    const keys = withLogs ? wholeKeys : keysWithoutLogs;
    const known = keys.get(record);
    if (known !== undefined) return known;
    const key = recordKey(record, withLogs);
    keys.set(record, key);
    return key;
  }

  #hasCut(): boolean {
    return this.#records().some((endpoint) => isCut(this.#recordOf(endpoint)!));
  }

  #prove(agreeing: readonly RpcEndpoint[]): ProvenRecord {
    const record = this.#recordOf(agreeing[0]!)!;
    for (const endpoint of this.#records())
      if (!agreeing.includes(endpoint)) this.#witnesses.setAside(endpoint, "its record of a transaction differs");
    for (const [endpoint, status] of this.#statuses)
      if (isFirm(status) && !isSameEnd(record, status))
        this.#witnesses.setAside(endpoint, "its status of a transaction differs");
    // Logs and transfers that could not be compared, or differ between nodes, do not count.
    const logs = agreeing.length > 1 && this.#hasCut() ? [] : record.logs;
    const isTold = agreeing.every((endpoint) => hasSameTransfers(this.#recordOf(endpoint)!, record));
    const transfers = isTold ? record.transfers : undefined;
    const isWhole = logs === record.logs && transfers === record.transfers;
    return { record: isWhole ? record : { ...record, logs, transfers }, witnesses: agreeing.length };
  }

  /**
   * True if the node's record is credible and its status agrees. Of a single node, its notice may stand for the status. No status is needed
   * of a node that was first asked for it when it may have forgotten it.
   */
  #isConsistent(endpoint: RpcEndpoint): boolean {
    const record = this.#recordOf(endpoint);
    if (record === undefined || !this.#isCredible(record)) return false;
    const status = this.#statuses.get(endpoint);
    if (status !== undefined) return isSameEnd(record, status);
    const notice = this.#witnesses.endpoints.length === 1 ? this.#noticedError : undefined;
    if (notice !== undefined) return isSameError(record.error, notice.error);
    const misses = this.#misses.get(endpoint) ?? [];
    return misses.length > 0 && misses.length < MOST_MISSES && misses[0]! > record.slot + STATUS_SLOTS;
  }

  /** True if any node's status contradicts this node's record. */
  #isContradicted(endpoint: RpcEndpoint): boolean {
    const record = this.#recordOf(endpoint)!;
    return [...this.#statuses.values()].some((status) => isFirm(status) && !isSameEnd(record, status));
  }

  /**
   * True for a node that cannot vouch for this record: silent, stuck, not serving records, or without a usable answer. A node that reached
   * the record's slot and had the transaction in no block contradicts it, whether it serves records or not, and though it is silent now,
   * unless it reached it so long ago that it may have forgotten. A node that has not reached the slot is waited for.
   */
  #hasNoSay(endpoint: RpcEndpoint, record: TransactionRecord, atMs: number): boolean {
    const { slot } = record;
    const misses = this.#misses.get(endpoint) ?? [];
    if (misses.some((missed) => missed >= slot && missed <= slot + STATUS_SLOTS)) return false;
    if (this.#witnesses.isSilent(endpoint)) return true;
    const answer = this.#answers.get(endpoint);
    const newest = misses.at(-1);
    const isStuck = this.#witnesses.isLeftBehind(endpoint);
    if (newest !== undefined && newest < slot && !isStuck) return false;
    if (answer === "mute" || (isStuck && this.#isLate(endpoint, atMs))) return true;
    const status = this.#statuses.get(endpoint);
    // A different processed block may be on another branch: the next status decides.
    if (status !== undefined && !isFirm(status) && !isSameEnd(record, status)) return false;
    // A status already counts; a node that saw nothing for so long may have forgotten.
    const hasSaidAll = answer === "unserved" && (status !== undefined || newest !== undefined);
    return hasSaidAll || (this.#isLate(endpoint, atMs) && (answer === "unusable" || answer === "unserved"));
  }

  /** True if the node has given no record for as long as nodes are waited for. */
  #isLate(endpoint: RpcEndpoint, atMs: number): boolean {
    const sinceMs = this.#withoutSinceMs.get(endpoint);
    return sinceMs !== undefined && atMs - sinceMs >= this.#witnesses.silentAfterMs;
  }
}

/** True for a status that no fork can undo. */
const isFirm = ({ commitment }: SignatureStatus) => commitment !== "processed";

const isSameError = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function isSameEnd(record: TransactionRecord, status: SignatureStatus): boolean {
  return record.slot === status.slot && isSameError(record.error, status.error);
}

/** True if both records list the same transfers, or neither lists any. */
function hasSameTransfers({ transfers: a }: TransactionRecord, { transfers: b }: TransactionRecord): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every(({ to, lamports }, i) => b[i]!.to === to && b[i]!.lamports === lamports);
}
