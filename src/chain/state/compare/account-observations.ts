import type { Account } from "../../../solana/account.ts";
import { hasSameContent } from "../../../solana/account-content.ts";
import { type AccountVersion, versionAt, versionsOf } from "../account-versions.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { SlotTree } from "../slots/slot-tree.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import { StreamRecord } from "./stream-record.ts";

/** One node's statement about an account. */
export interface Statement {
  readonly node: number;
  readonly slot: bigint;
  readonly account: Account | null;
  /** When it was asked (epoch milliseconds). */
  readonly sentAtMs: number;
  /** When it answered, in the running time of this process. Milliseconds. */
  readonly receivedAtMs: number;
}

/**
 * How a statement relates to the known state: equal, certainly different, undecided until more is known, or from a slot so old that it says
 * nothing.
 */
export type Relation = "same" | "differs" | "open" | "old";

interface RelationContext {
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly atMs: number;
}

/** Time the stream has to deliver a change that a node has already reported. Milliseconds. */
const STREAM_PATIENCE_MS = 700;
/** Slots by which the known state may be ahead of a node; if it is further ahead, one of the two is wrong about its slot. */
const MAX_LEAD_SLOTS = 10n;

/** Statements kept per node: more than it makes in `STATEMENT_MS`. */
const MAX_STATEMENTS = 12;
/** A statement older than this says nothing about the present. Milliseconds. */
const STATEMENT_MS = 3_000;
/**
 * What a node says of one slot may be of a later one, or what the others have missed.
 *
 * @see https://github.com/anza-xyz/agave/issues/4807
 */
const OUTVOTED_SLOTS = 2;
/** Two nodes agree if each has said the same within this time. Milliseconds. */
const AGREEING_MS = 1_000;

/** The nodes' recent statements about one account. */
export class AccountObservations {
  readonly entry: FollowedAccount;
  /** When the nodes were last asked, and when a trade was last built on it, in the running time of this process. Milliseconds. */
  askedAtMs = Number.NEGATIVE_INFINITY;
  usedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when the nodes and the known state have disagreed, and for how many rounds of questions. */
  openSinceMs: number | undefined;
  openRounds = 0;
  readonly streamRecord: StreamRecord;
  /** By node, oldest first. */
  readonly #statements: Statement[][] = [];

  /** @param isComplete true if the stream reports every change */
  constructor(entry: FollowedAccount, isComplete: boolean) {
    this.entry = entry;
    this.streamRecord = new StreamRecord(isComplete);
    for (const { slot, account, isStreamed } of [...versionsOf(entry)].reverse())
      if (isStreamed === true) this.streamRecord.note(slot, account, false);
  }

  add(statement: Statement): void {
    this.#statements[statement.node] ??= [];
    const list = this.#statements[statement.node]!;
    list.push(statement);
    if (list.length > MAX_STATEMENTS) list.shift();
  }

  /** The last statement of each node, unless it is too old to say anything about the present. */
  latest(atMs: number): readonly Statement[] {
    return this.#statements.flatMap((list) => {
      const last = list.at(-1);
      return last !== undefined && last.receivedAtMs >= atMs - STATEMENT_MS ? [last] : [];
    });
  }

  /** True if two of the nodes have recently said the same. */
  isShared(nodes: readonly number[], atMs: number): boolean {
    const lists = nodes.map((node) =>
      (this.#statements[node] ?? []).filter(({ receivedAtMs }) => receivedAtMs >= atMs - AGREEING_MS),
    );
    return lists.some((list, i) =>
      lists.some(
        (other, j) => i < j && list.some(({ account }) => other.some((one) => hasSameContent(one.account, account))),
      ),
    );
  }

  /** Equal statements of nodes about the same slot, each made at its own time. */
  agreeingOn({ slot, account }: Pick<Statement, "slot" | "account">): readonly Statement[] {
    return this.#statements.flatMap(
      (list) => list.find((one) => one.slot === slot && hasSameContent(one.account, account)) ?? [],
    );
  }

  /**
   * True if one of two nodes said the same before and after the other's different statement, all in slots of the chain: on another branch
   * an account may hold anything.
   */
  isContradicted(last: Statement, other: Statement, tree: SlotTree): boolean {
    if (hasSameContent(last.account, other.account)) return false;
    return this.#brackets(other.node, last, tree) || this.#brackets(last.node, other, tree);
  }

  /**
   * True if the node has lately said of two slots what as many of the others as needed deny, and none of them bears out. That the known
   * state differs proves nothing: a stream may be wrong or late, and reads miss what an account held for a slot.
   *
   * @param isElsewhere true if the stream is another node's: what it has reported too, the node has not made up
   */
  isOutvoted(
    node: number,
    others: readonly number[],
    needed: number,
    { tree, atMs }: RelationContext,
    isElsewhere: boolean,
  ): boolean {
    const slots = new Set<bigint>();
    for (const one of this.#statements[node] ?? []) {
      if (one.receivedAtMs < atMs - STATEMENT_MS || !this.#isDenied(one, others, needed, tree)) continue;
      if (!isElsewhere || !this.streamRecord.hasReported(one.slot, one.account)) slots.add(one.slot);
    }
    return slots.size >= OUTVOTED_SLOTS;
  }

  #isDenied(one: Statement, others: readonly number[], needed: number, tree: SlotTree): boolean {
    if (others.some((other) => this.#isBorneOut(one, other))) return false;
    const said = others.map((other) => this.#saidAround(one, other, tree)).filter((held) => held !== undefined);
    return said.some(({ account }) => said.filter((other) => hasSameContent(other.account, account)).length >= needed);
  }

  /**
   * What the node has said of the slot itself, or both before and after it: in slots that are known to be of one chain, and if it has never
   * said what the statement does. Undefined if it has said nothing like that, or different things.
   */
  #saidAround({ slot, account }: Statement, node: number, tree: SlotTree): Statement | undefined {
    const list = this.#statements[node] ?? [];
    const before = list.findLast((one) => one.slot <= slot);
    const after = list.find((one) => one.slot >= slot);
    if (before === undefined || after === undefined || !hasSameContent(before.account, after.account)) return undefined;
    if (before.slot === slot && after.slot === slot) return before;
    const isOfOneChain = [before.slot, slot, after.slot].every((at) => at <= tree.head && isCertain(at, tree));
    return isOfOneChain && !list.some((one) => hasSameContent(one.account, account)) ? before : undefined;
  }

  /** True if the node has said the same, of that slot or a later one. */
  #isBorneOut({ slot, account }: Statement, node: number): boolean {
    const list = this.#statements[node] ?? [];
    return list.some((one) => one.slot >= slot && hasSameContent(one.account, account));
  }

  /** True if the node said the same thing, and not that of the statement, at slots before and after it. */
  #brackets(node: number, { slot, account }: Statement, tree: SlotTree): boolean {
    if (!isCertain(slot, tree)) return false;
    const list = (this.#statements[node] ?? []).filter((one) => tree.isOnChain(one.slot));
    const before = list.findLast((one) => one.slot <= slot);
    const after = list.find((one) => one.slot > slot);
    if (before === undefined || after === undefined) return false;
    return hasSameContent(before.account, after.account) && !hasSameContent(before.account, account);
  }

  settle(): void {
    this.openSinceMs = undefined;
    this.openRounds = 0;
  }

  /** How a node's statements relate to the known state: an earlier one may decide what the last leaves open. */
  relationOf(last: Statement, context: RelationContext): Relation {
    const relation = this.#relationOf(last, context);
    if (relation !== "open") return relation;
    const earlier = (this.#statements[last.node] ?? []).filter(
      ({ receivedAtMs }) => receivedAtMs >= context.atMs - STATEMENT_MS,
    );
    return earlier.some((one) => this.#relationOf(one, context) === "differs") ? "differs" : "open";
  }

  #relationOf({ slot, account, receivedAtMs }: Statement, { tree, stream, atMs }: RelationContext): Relation {
    const { entry } = this;
    const known = entry.delivered;
    if (known === undefined) return "open";
    if (hasSameContent(known.account, account)) return "same";
    if (known.slot > slot + MAX_LEAD_SLOTS) return "open";
    const then = versionAt(entry, slot, tree);
    if (then === undefined) return tree.isOnChain(slot) ? "old" : "open";
    if (hasSameContent(then.account, account)) return "same";
    // It may be of another branch: the stream will tell, unless it is quiet.
    if (slot > tree.head && !stream.isQuiet()) return "open";
    // Within a slot, a node may answer from before a change or after it.
    if (then.slot === slot) {
      const before = versionAt(entry, slot - 1n, tree);
      if (before === undefined) return "open";
      if (hasSameContent(before.account, account)) return "same";
      const isChanged = then.isStreamed === true || !hasSameContent(before.account, then.account);
      return !isChanged && isCertain(slot, tree) && isUnchangedSince(then, slot, entry, tree) ? "differs" : "open";
    }
    if (!isCertain(slot, tree)) return "open";
    if (isUnchangedSince(then, slot, entry, tree)) return "differs";
    const isPassed = stream.slot > slot && atMs - receivedAtMs >= STREAM_PATIENCE_MS;
    // Of what was before it reported every change, the stream says nothing.
    const isCovered = entry.streamed && entry.coveredFrom !== undefined && slot >= entry.coveredFrom;
    return isCovered && isPassed ? "differs" : "open";
  }
}

/** False of a slot that may be of another branch: one on none, or in a gap. Of those to come nothing is known yet. */
const isCertain = (slot: bigint, tree: SlotTree): boolean =>
  tree.isOnChain(slot) && (slot > tree.head || tree.has(slot));

/** True if a version from after the slot, of the same branch, is the same as the one before it. */
function isUnchangedSince(then: AccountVersion, slot: bigint, entry: FollowedAccount, tree: SlotTree): boolean {
  const next = [...versionsOf(entry)].findLast((version) => version.slot > slot && tree.isOnChain(version.slot));
  return next !== undefined && hasSameContent(next.account, then.account);
}

/** The statements that as many nodes as needed agree on, the one of the newest slot first; undefined if too few do. */
export function agreedBy(statements: readonly Statement[], needed: number): readonly Statement[] | undefined {
  for (const { account } of statements) {
    const agreeing = statements.filter((other) => hasSameContent(other.account, account));
    if (agreeing.length >= needed) return agreeing.sort((x, y) => (x.slot < y.slot ? 1 : -1));
  }
  return undefined;
}
