import type { Now } from "../../../primitives/clock.ts";
import { type AccountVersion, versionAt } from "../account-versions.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { SlotTree } from "../slot-tree.ts";
import type { StateCounters } from "../state-counts.ts";
import type { StreamProgress } from "../stream-progress.ts";
import type { AccountObservations, Statement } from "./account-observations.ts";
import type { DoubtedAccounts } from "./doubted-accounts.ts";

interface StreamVerdictsOptions {
  readonly doubted: DoubtedAccounts;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly counters: StateCounters;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** True if the stream reports every change, not only the state at the end of a slot. */
  readonly isComplete: boolean;
  /** True while what the stream reports counts for no account: it was found wrong. */
  readonly isSuspended: () => boolean;
  /** The nodes agree on states that the stream has not reported. */
  readonly onWrongStream: () => void;
}

/** Wrong slots, of the last few that were checked, after which the stream is not believed about an account, and about any. */
const DOUBTED_SLOTS = 2;
const WRONG_SLOTS = 3;
/** Accounts that a stream is newly doubted about, within that time (milliseconds), after which it is wrong. */
const WIDELY_DOUBTED = 4;
const WIDELY_MS = 10_000;
/** How long nodes that answered from within a slot are taken to do so. Milliseconds. */
const WITHIN_SLOTS_MS = 60_000;

/** Whether the stream is believed, about one account and at all, by what most nodes agree on. */
export class StreamVerdicts {
  readonly #options: StreamVerdictsOptions;
  /** When most nodes last agreed on two states of one slot (epoch milliseconds). */
  #withinSlotsAtMs = Number.NEGATIVE_INFINITY;
  /** When the stream was newly doubted about an account (epoch milliseconds). */
  #doubtedAtMs: number[] = [];

  constructor(options: StreamVerdictsOptions) {
    this.#options = options;
  }

  /** Most nodes agree on a state of the account. @returns true if the stream is wrong, not only about this account */
  check({ entry, streamRecord }: AccountObservations, agreed: Statement): boolean {
    const { stream, isComplete, isSuspended, now } = this.#options;
    const atMs = now();
    if (!streamRecord.agree({ ...agreed, atMs })) this.#withinSlotsAtMs = atMs;
    const isAnyWrong = streamRecord.check(stream.slot, atMs, (slot) => this.#heldAt(entry, slot));
    if (isAnyWrong && streamRecord.wrong >= DOUBTED_SLOTS) this.doubt(entry);
    // A stream that was found wrong is believed again once every slot that is checked is right.
    const isWrongAgain = isComplete && isAnyWrong && isSuspended();
    const isWrong = isWrongAgain || (isComplete && streamRecord.wrong >= WRONG_SLOTS) || this.#isDoubtedWidely();
    if (isWrong) streamRecord.forget();
    return isWrong;
  }

  /** The state of the account at the end of the slot, if the stream vouches for it and has reported no change in the slot itself. */
  #heldAt(entry: FollowedAccount, slot: bigint): AccountVersion | undefined {
    const { tree } = this.#options;
    const { coveredFrom } = entry;
    if (!entry.streamed || coveredFrom === undefined || slot <= coveredFrom || !tree.isOnChain(slot)) return undefined;
    const held = versionAt(entry, slot, tree);
    return held?.slot === slot ? undefined : held;
  }

  /** The stream does not count for the account for a while. */
  doubt(entry: FollowedAccount): void {
    const { doubted, counters, now, warn } = this.#options;
    const isNew = !entry.isDoubted;
    doubted.begin(entry);
    if (!isNew) return;
    this.#doubtedAtMs.push(now());
    counters.contradicted += 1;
    warn(`The stream contradicts most Solana nodes about account ${entry.address}, which is read instead.`);
  }

  /** The stream is wrong, as this account shows. */
  blame({ address }: FollowedAccount, nodes: number): void {
    this.#options.warn(`The stream of accounts contradicts ${nodes} Solana nodes about account ${address}.`);
    this.#options.onWrongStream();
  }

  /** True if one account after the other was doubted: the stream is wrong, not what is known of an account. */
  #isDoubtedWidely(): boolean {
    const { isComplete, now } = this.#options;
    const atMs = now();
    // Unless every change is reported, a state from within a slot is one that no stream reports.
    if (!isComplete && atMs - this.#withinSlotsAtMs < WITHIN_SLOTS_MS) return false;
    this.#doubtedAtMs = this.#doubtedAtMs.filter((thenMs) => atMs - thenMs < WIDELY_MS);
    if (this.#doubtedAtMs.length < WIDELY_DOUBTED) return false;
    this.#doubtedAtMs = [];
    return true;
  }
}
