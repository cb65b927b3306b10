import type { Address } from "../../../primitives/address.ts";
import type { Now } from "../../../primitives/clock.ts";
import { maxOf, minOf } from "../../../primitives/integer.ts";
import type { Account } from "../../../solana/account.ts";
import { hasSameContent } from "../../../solana/account-content.ts";
import type { AccountNotice } from "../account-feed.ts";
import { sizeOf, versionAt } from "../account-versions.ts";
import type { SlotTree } from "../slots/slot-tree.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import type { AccountObservations } from "./account-observations.ts";
import { SlotEnds } from "./slot-ends.ts";
import { FREEZE_NOTICE_MS, type WitnessSource, WitnessStream } from "./witness-stream.ts";

interface ComparedStreamsOptions {
  readonly sources: readonly WitnessSource[];
  readonly followedHost: () => string | undefined;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Number of nodes among which at least one is honest. */
  readonly needed: () => number;
  /** The streams contradict each other about the account, from this slot on. */
  readonly onContradiction: (observations: AccountObservations, slot: bigint) => void;
}

/** An account that both streams report. */
interface ComparedAccount {
  readonly observations: AccountObservations;
  readonly followed: SlotEnds;
  readonly witness: SlotEnds;
  /** Slots that either has reported and that are not compared yet, and since when (milliseconds). */
  readonly pending: Map<bigint, number>;
}

/** Most accounts compared at a time: bounds what a second stream costs a node and this process. */
const MAX_ACCOUNTS = 500;
/** Accounts with more data are not compared: no market's has so much, and a lying stream may send any amount. Bytes. */
const MAX_DATA = 64 * 1024;
/** Slots by which the followed stream must be past a compared slot: until then its last change of it may still arrive. */
const SETTLED_SLOTS = 2n;
/** The same as a time, for a stream that has reported nothing. Milliseconds. */
const SILENCE_MS = 700;
/** Upper bound of slots of one account that wait to be compared. */
const MAX_PENDING = 32;
/** Ends of slots compared per call of `tick`: a few milliseconds of work, whatever the streams report. */
const COMPARED_PER_TICK = 2_000;
/** Wrong slots after which the witness is left, and the time within which they count. Milliseconds. */
const WRONG_SLOTS = 3;
const WRONG_MS = 60_000;

/**
 * Compares the followed stream's accounts in use with those of another node's stream, slot by slot: at the end of a slot there is one
 * state. This finds a lie in a single slot that no read would hit.
 */
export class ComparedStreams {
  readonly #options: ComparedStreamsOptions;
  readonly #witness: WitnessStream;
  readonly #accounts = new Map<Address, ComparedAccount>();
  readonly #pending = new Set<ComparedAccount>();
  /** When most nodes last agreed against the witness. Milliseconds. */
  #wrongAtMs: number[] = [];

  constructor(options: ComparedStreamsOptions) {
    const { sources, followedHost, now, warn } = options;
    this.#options = options;
    this.#witness = new WitnessStream({
      ...{ sources, followedHost, now, warn },
      onNotice: (notice) => this.#receive(notice),
      onLost: () => this.#forgetWitness(),
    });
  }

  /** Host of the witness; undefined while there is none. */
  get host(): string | undefined {
    return this.#witness.host;
  }

  /** Compares the account from now on, unless too many are compared already. */
  follow(observations: AccountObservations): void {
    const { address } = observations.entry;
    const known = this.#accounts.get(address);
    if (known?.observations === observations) return;
    if (known !== undefined) this.unfollow(known.observations);
    if (this.#accounts.size >= MAX_ACCOUNTS) return;
    const account = { observations, followed: new SlotEnds(), witness: new SlotEnds(), pending: new Map() };
    this.#accounts.set(address, account);
    this.#witness.follow(address);
  }

  unfollow(observations: AccountObservations): void {
    const { address } = observations.entry;
    const account = this.#accounts.get(address);
    if (account?.observations !== observations) return;
    this.#accounts.delete(address);
    this.#pending.delete(account);
    this.#witness.unfollow(address);
  }

  /** The stream that is followed reports a change. */
  note({ address, slot, account, order }: AccountNotice): void {
    const compared = this.#accounts.get(address);
    if (compared === undefined || sizeOf(account) > MAX_DATA) return;
    compared.followed.note({ slot, account, order });
    this.#await(compared, slot);
  }

  /** In the stream that is followed, the bank of the slot was replaced. */
  noteReplaced(slot: bigint): void {
    for (const { followed } of this.#accounts.values()) followed.delete(slot);
  }

  /** Compares what both have had time to report. */
  tick(): void {
    this.#witness.tick();
    const { stream } = this.#options;
    // Slots may begin all at once as the stream catches up: their changes come after that.
    const followedUpTo = minOf(stream.slot - SETTLED_SLOTS, stream.completeSlot(FREEZE_NOTICE_MS));
    const witnessUpTo = this.#witness.settledSlot;
    const waiting: ComparedAccount[] = [];
    let left = COMPARED_PER_TICK;
    for (const compared of this.#pending) {
      if (left <= 0) break;
      this.#pending.delete(compared);
      left -= this.#compare(compared, followedUpTo, witnessUpTo);
      if (compared.pending.size > 0) waiting.push(compared);
    }
    // Accounts not compared in this call go first in the next.
    for (const compared of waiting) this.#pending.add(compared);
  }

  clear(): void {
    this.#accounts.clear();
    this.#pending.clear();
    this.#witness.close();
  }

  #receive({ address, slot, account, order }: AccountNotice): void {
    const compared = this.#accounts.get(address);
    if (compared === undefined || sizeOf(account) > MAX_DATA || this.#options.stream.isFarAhead(slot)) return;
    compared.witness.note({ slot, account, order });
    this.#await(compared, slot);
  }

  #forgetWitness(): void {
    for (const { witness, pending } of this.#accounts.values()) {
      witness.clear();
      pending.clear();
    }
    this.#pending.clear();
  }

  #await(compared: ComparedAccount, slot: bigint): void {
    const { pending } = compared;
    if (pending.has(slot)) return;
    pending.set(slot, this.#options.now());
    // Future slots wait longest: they must not keep current ones from being compared.
    if (pending.size > MAX_PENDING) pending.delete([...pending.keys()].reduce(maxOf));
    this.#pending.add(compared);
  }

  /** Compares the account at the ends of the slots that are settled. @returns how many it looked at */
  #compare(compared: ComparedAccount, followedUpTo: bigint, witnessUpTo: bigint): number {
    const { pending, followed, witness } = compared;
    let looked = 0;
    for (const [slot, sinceMs] of pending) {
      if (slot > followedUpTo) continue;
      // It reports the end of a slot once, so it need not be past a slot that it has reported.
      if (slot > witnessUpTo && witness.at(slot) === undefined) continue;
      looked += 1;
      if (this.#isCompared(compared, slot, sinceMs)) pending.delete(slot);
    }
    const oldest = [...pending.keys()].reduce(minOf, minOf(followedUpTo, witnessUpTo) + 1n);
    followed.forgetBefore(oldest);
    witness.forgetBefore(oldest);
    return looked;
  }

  /** Compares the account at the end of the slot. @returns false if one of the streams may yet report it */
  #isCompared(compared: ComparedAccount, slot: bigint, sinceMs: number): boolean {
    const { tree, now } = this.#options;
    const { entry } = compared.observations;
    const said = compared.followed.at(slot);
    const witnessed = compared.witness.at(slot);
    if ((said === undefined || witnessed === undefined) && now() - sinceMs < SILENCE_MS) return false;
    const isCovered = entry.coveredFrom !== undefined && slot > entry.coveredFrom;
    if (!isCovered || !tree.isOnChain(slot) || !this.#witness.covers(entry.address, slot)) return true;
    const one = said ?? this.#heldAt(compared, slot);
    const other = witnessed ?? this.#witnessedAt(compared, slot);
    if (one === undefined || other === undefined || hasSameContent(one.account, other.account)) return true;
    this.#contradict(compared, slot, one.account);
    return true;
  }

  /** The account's state if the stream's silence about the slot means no change; undefined if the stream may have left out this state. */
  #heldAt({ observations, followed }: ComparedAccount, slot: bigint): { readonly account: Account | null } | undefined {
    return followed.hasLaterThan(slot) ? undefined : versionAt(observations.entry, slot, this.#options.tree);
  }

  /** The same of the witness. */
  #witnessedAt(
    { observations, witness }: ComparedAccount,
    slot: bigint,
  ): { readonly account: Account | null } | undefined {
    // A node with two banks to report at once reports only the later one.
    if (witness.hasLaterThan(slot) && !this.#witness.hasReported(slot)) return undefined;
    return witness.before(slot) ?? versionAt(observations.entry, slot - 1n, this.#options.tree);
  }

  #contradict({ observations }: ComparedAccount, slot: bigint, said: Account | null): void {
    const { needed, onContradiction } = this.#options;
    onContradiction(observations, slot);
    const supporting = observations.agreeingOn({ slot, account: said });
    if (supporting.length >= needed()) this.#blameWitness();
  }

  #blameWitness(): void {
    const atMs = this.#options.now();
    this.#wrongAtMs = this.#wrongAtMs.filter((thenMs) => atMs - thenMs < WRONG_MS);
    if (this.#wrongAtMs.push(atMs) < WRONG_SLOTS) return;
    this.#wrongAtMs = [];
    this.#witness.leave();
  }
}
