import type { Now } from "../../../primitives/clock.ts";
import { minOf } from "../../../primitives/integer.ts";
import { type AccountVersion, versionAt } from "../account-versions.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { FollowedReads } from "../reads/followed-reads.ts";
import type { SlotTree } from "../slots/slot-tree.ts";
import type { StateCounters } from "../state-counts.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import type { AccountObservations, Statement } from "./account-observations.ts";
import type { DoubtedAccounts } from "./doubted-accounts.ts";
import type { Agreement, StreamView } from "./stream-record.ts";

interface StreamVerdictsOptions {
  readonly followed: FollowedAccounts;
  readonly reads: Pick<FollowedReads, "accept">;
  readonly doubted: DoubtedAccounts;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly counters: StateCounters;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** True if the stream reports every change, not only the state at the end of a slot. */
  readonly isComplete: boolean;
  /** True while nothing that the stream reports counts, because it was found wrong. */
  readonly isSuspended: () => boolean;
  /** Number of nodes among which at least one is honest. */
  readonly needed: () => number;
  /** The nodes agree on states that the stream has not reported. */
  readonly onWrongStream: () => void;
}

/**
 * Wrong slots, of the last few that were checked, after which the stream is not believed about an account, and about any. One that
 * reports a slot's state once is rarely checked: an agreement is read at once, and from then on nothing is held by its word.
 */
const DOUBTED_SLOTS = 2;
const DOUBTED_ENDS = 1;
const WRONG_SLOTS = 3;
/** If a stream is found wrong about this many accounts within this time (milliseconds), it counts as wrong about all. */
const WIDELY_WRONG = 4;
const WIDELY_MS = 10_000;
/** How long nodes that answered from within a slot are assumed to keep doing so. Milliseconds. */
const WITHIN_SLOTS_MS = 60_000;
/** Replaced slots remembered: more than an agreement waits for. */
const MAX_REPLACED = 64;
/** Accounts checked per call of `tick`, in turn. */
const CHECKED_PER_TICK = 1_000;

/** Whether the stream is believed, about one account and at all, by what most nodes agree on. */
export class StreamVerdicts {
  readonly #options: StreamVerdictsOptions;
  /** When most nodes last agreed on two different states of one slot (epoch milliseconds). */
  #withinSlotsAtMs = Number.NEGATIVE_INFINITY;
  /** When the stream was last found wrong about each account (epoch milliseconds). */
  readonly #wrongAtMs = new Map<FollowedAccount, number>();
  /** Accounts for which the stream may still report what the nodes agree on, least recently checked first. */
  readonly #pending = new Set<AccountObservations>();
  readonly #replaced = new Set<bigint>();

  constructor(options: StreamVerdictsOptions) {
    this.#options = options;
  }

  /** Checks what the stream has reported since the nodes agreed. */
  tick(): void {
    let toCheck = Math.min(CHECKED_PER_TICK, this.#pending.size);
    for (const observations of this.#pending) {
      if (--toCheck < 0) return;
      if (this.#recheck(observations)) this.blame(observations.entry, 2);
    }
  }

  clear(): void {
    this.#pending.clear();
    this.#wrongAtMs.clear();
  }

  /** The bank of the slot was replaced: the stream's report of it proves nothing. */
  noteReplaced(slot: bigint): void {
    this.#replaced.add(slot);
    if (this.#replaced.size > MAX_REPLACED) this.#replaced.delete(this.#replaced.values().next().value!);
  }

  /**
   * Most nodes agree on a state of the account, each at the slot it named.
   *
   * @param needed how many of them must contradict the stream for it to be wrong
   * @returns true if the stream is wrong, not only about this account
   */
  check(observations: AccountObservations, agreed: readonly Statement[], needed: number): boolean {
    const { isComplete, now } = this.#options;
    const atMs = now();
    // A stream that leaves out changes may be right about one of the slots by chance: the newest shows what it has missed.
    const counting = isComplete ? agreed : agreed.slice(0, 1);
    const slots = counting.map(({ slot }) => slot);
    const sentAtMs = Math.min(...agreed.map((one) => one.sentAtMs));
    const [{ account, slot }] = agreed as readonly [Statement];
    const version = isComplete ? undefined : this.#heldAt(observations.entry, slot);
    const held = version?.isStreamed === true ? version : undefined;
    const agreement = { account, slots, needed: Math.min(needed, slots.length), sentAtMs, atMs, held };
    if (!observations.streamRecord.agree(agreement)) this.#withinSlotsAtMs = atMs;
    return this.#recheck(observations);
  }

  /** Notes one node's word; it is checked once the stream has had time to report the same. */
  noteClaim(observations: AccountObservations, { node, slot, account }: Statement): void {
    if (!this.#options.isComplete) return;
    observations.streamRecord.claim({ node, slot, account, atMs: this.#options.now() });
    this.#pending.add(observations);
  }

  #recheck(observations: AccountObservations): boolean {
    const { isComplete, isSuspended, followed, now, needed } = this.#options;
    const { entry, streamRecord } = observations;
    this.#pending.delete(observations);
    if (!followed.has(entry)) return false;
    const { isAnyWrong, isAnyCertain, contradicted, isPending } = streamRecord.check(this.#viewOf(entry), needed());
    if (isPending && isComplete) this.#pending.add(observations);
    const isDoubtful = isAnyWrong && streamRecord.wrong >= (isComplete ? DOUBTED_SLOTS : DOUBTED_ENDS);
    if (isDoubtful || isAnyCertain) this.#wrongAtMs.set(entry, now());
    if (isDoubtful || contradicted !== undefined) this.doubt(entry);
    if (contradicted !== undefined) this.#takeBack(entry, contradicted);
    // A stream that was wrong is trusted again once every checked slot is right.
    const isWrongAgain = isComplete && isAnyWrong && isSuspended();
    const isWrong = isWrongAgain || (isComplete && streamRecord.wrong >= WRONG_SLOTS) || this.#isWidelyWrong();
    if (isWrong) streamRecord.forget();
    return isWrong;
  }

  #viewOf(entry: FollowedAccount): StreamView {
    const { tree, stream, now } = this.#options;
    return {
      slot: stream.slot,
      atMs: now(),
      coveredFrom: entry.coveredFrom,
      isCertain: (slot) => tree.isOnChain(slot) && !this.#replaced.has(slot),
      heldAt: (slot) => this.#heldAt(entry, slot),
    };
  }

  /** The state of the account at the end of the slot, if the stream vouches for it and has reported no change in the slot itself. */
  #heldAt(entry: FollowedAccount, slot: bigint): AccountVersion | undefined {
    const { tree } = this.#options;
    const { coveredFrom } = entry;
    if (!entry.streamed || coveredFrom === undefined || slot <= coveredFrom || !tree.isOnChain(slot)) return undefined;
    const held = versionAt(entry, slot, tree);
    return held?.slot === slot ? undefined : held;
  }

  /** The stream's reports of the account are dropped: the nodes' agreement holds, or a later read. */
  #takeBack(entry: FollowedAccount, { account, slots, sentAtMs }: Agreement): void {
    const { followed, reads } = this.#options;
    followed.dropStreamed(entry);
    const slot = slots.reduce(minOf);
    reads.accept(entry, { slot, account, sentAtMs });
  }

  /** The stream does not count for the account for a while. */
  doubt(entry: FollowedAccount): void {
    const { doubted, counters, warn } = this.#options;
    const isNew = !entry.isDoubted;
    doubted.begin(entry);
    if (!isNew) return;
    counters.contradicted += 1;
    warn(`The stream contradicts most Solana nodes about account ${entry.address}, which is read instead.`);
  }

  /** The stream is wrong, as this account shows. */
  blame({ address }: FollowedAccount, nodes: number): void {
    this.#options.warn(`The stream of accounts contradicts ${nodes} Solana nodes about account ${address}.`);
    this.#options.onWrongStream();
  }

  /** True if it was wrong about one account after the other: then the stream is wrong, not the state known of an account. */
  #isWidelyWrong(): boolean {
    const { isComplete, now } = this.#options;
    const atMs = now();
    for (const [entry, thenMs] of this.#wrongAtMs) if (atMs - thenMs >= WIDELY_MS) this.#wrongAtMs.delete(entry);
    if (this.#wrongAtMs.size < WIDELY_WRONG) return false;
    // Unless every change is reported, a state from within a slot is one that no stream reports.
    if (!isComplete && atMs - this.#withinSlotsAtMs < WITHIN_SLOTS_MS) return false;
    this.#wrongAtMs.clear();
    return true;
  }
}
