import type { Address } from "../../../primitives/address.ts";
import type { Now } from "../../../primitives/clock.ts";
import { maxOf } from "../../../primitives/integer.ts";
import type { AccountFeed } from "../account-feed.ts";
import { FREEZE_NOTICE_MS } from "../compare/witness-stream.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import type { AgreedReads } from "./agreed-reads.ts";
import type { FollowedReads } from "./followed-reads.ts";

interface AwaitedWritesOptions {
  readonly followed: FollowedAccounts;
  readonly feed: AccountFeed;
  readonly stream: StreamProgress;
  readonly reads: Pick<FollowedReads, "read">;
  readonly now: Now;
  /** Present if the nodes are compared with each other: no single node's word changes what a stream says of a market. */
  readonly agreed: Pick<AgreedReads, "read"> | undefined;
}

/** A slot in which an account was written, and until when its state is awaited (epoch milliseconds). */
interface AwaitedWrite {
  slot: bigint;
  untilMs: number;
  /** Brings the account to its slot; undefined while nobody waits. */
  reading: Reading | undefined;
}

/** Reads until accounts have arrived, shared by all who wait for them. */
interface Reading {
  /** Never rejects. */
  ended: Promise<void>;
}

/** How long a state is awaited: by then, whatever is older is too old for its age. Milliseconds. */
const AWAITED_MS = 10_000;
/** How long a caller waits for it, and the pause between two reads. Milliseconds. */
const WAIT_MS = 1_000;
const RETRY_MS = 50;

/**
 * Followed accounts that a landed transaction has written, and whose state is from before that: the stream may report a change later than
 * nodes report the transaction, and an account that no stream covers yet was read some time ago. Such a state is not current.
 */
export class AwaitedWrites {
  readonly #options: AwaitedWritesOptions;
  readonly #writes = new Map<FollowedAccount, AwaitedWrite>();

  constructor(options: AwaitedWritesOptions) {
    this.#options = options;
  }

  /** A landed transaction has written the accounts in this slot. Those that are not followed are ignored, and so is a slot too far ahead. */
  note(addresses: readonly Address[], slot: bigint): void {
    const { followed, stream, now } = this.#options;
    if (stream.isFarAhead(slot)) return;
    stream.note(slot);
    const atMs = now();
    this.#forgetBefore(atMs);
    let isAny = false;
    for (const address of addresses) {
      const entry = followed.get(address);
      if (entry === undefined || this.#holds(entry, slot)) continue;
      const known = this.#writes.get(entry);
      const newest = maxOf(slot, known?.slot ?? 0n);
      this.#writes.delete(entry);
      this.#writes.set(entry, { slot: newest, untilMs: atMs + AWAITED_MS, reading: known?.reading });
      isAny = true;
    }
    if (isAny) followed.setbacks += 1;
  }

  /** True if the known state is from before a write that is known. */
  isBehind(entry: FollowedAccount): boolean {
    if (this.#writes.size === 0) return false;
    const write = this.#writes.get(entry);
    if (write === undefined) return false;
    if (!this.#holds(entry, write.slot) && this.#options.now() < write.untilMs) return true;
    this.#writes.delete(entry);
    return false;
  }

  /**
   * Reads those of the accounts that are behind, until each has arrived by a read or the stream, for a second at most. Never rejects.
   * With several nodes, the state of a market that is streamed comes by the stream, or from most of them.
   * @returns undefined if none is behind
   */
  catchUp(addresses: Iterable<Address>): Promise<void> | undefined {
    if (this.#writes.size === 0) return undefined;
    const { followed } = this.#options;
    const behind: FollowedAccount[] = [];
    for (const address of addresses) {
      const entry = followed.get(address);
      if (entry !== undefined && this.isBehind(entry)) behind.push(entry);
    }
    if (behind.length === 0) return undefined;
    const alone = behind.filter((entry) => this.#writes.get(entry)!.reading === undefined);
    if (alone.length > 0) {
      const reading: Reading = { ended: Promise.resolve() };
      for (const entry of alone) this.#writes.get(entry)!.reading = reading;
      reading.ended = this.#bring(alone, reading);
    }
    const readings = new Set(behind.map((entry) => this.#writes.get(entry)!.reading));
    return Promise.all([...readings].map((reading) => reading?.ended)).then(() => {});
  }

  clear(): void {
    this.#writes.clear();
  }

  async #bring(entries: readonly FollowedAccount[], reading: Reading): Promise<void> {
    const { now } = this.#options;
    const untilMs = now() + WAIT_MS;
    let isReading = false;
    let read = Promise.resolve();
    // An account that has arrived and was written again since is brought by whoever waits for that.
    const isLeft = (entry: FollowedAccount) => this.isBehind(entry) && this.#writes.get(entry)?.reading === reading;
    for (let behind = entries; ; ) {
      if (!isReading) {
        isReading = true;
        read = this.#read(behind).then(() => {
          isReading = false;
        });
      }
      // Nodes that do not answer must not keep those who wait.
      await within(RETRY_MS, read);
      behind = behind.filter(isLeft);
      if (behind.length === 0 || now() >= untilMs) break;
      if (!isReading) await pause(RETRY_MS);
    }
    for (const entry of entries) {
      const write = this.#writes.get(entry);
      if (write?.reading === reading) write.reading = undefined;
    }
  }

  /** A node that has not reached the slot refuses, and another is asked. Never rejects. */
  async #read(behind: readonly FollowedAccount[]): Promise<void> {
    const { reads, agreed } = this.#options;
    const slot = behind.reduce((newest, entry) => maxOf(newest, this.#writes.get(entry)?.slot ?? 0n), 0n);
    const isShared = ({ streamed, isLasting }: FollowedAccount) => agreed !== undefined && streamed && isLasting;
    const [shared, alone] = [behind.filter(isShared), behind.filter((entry) => !isShared(entry))];
    await Promise.all([
      alone.length > 0 ? reads.read(alone, slot).catch(() => {}) : undefined,
      shared.length > 0 ? agreed?.read(shared, slot) : undefined,
    ]);
  }

  /** True if the known state is of the slot or a later one, or the stream has passed the slot without a change of the account. */
  #holds(entry: FollowedAccount, slot: bigint): boolean {
    const { delivered } = entry;
    if (delivered !== undefined && delivered.slot >= slot) return true;
    if (!entry.streamed) return false;
    const { feed, stream } = this.#options;
    const lateMs = feed.reportsEveryChange ? 0 : FREEZE_NOTICE_MS;
    return stream.completeSlot(lateMs, feed.liveAtMs(entry.address)) >= slot;
  }

  /** In the order of their times. */
  #forgetBefore(atMs: number): void {
    for (const [entry, { untilMs }] of this.#writes) {
      if (untilMs > atMs) return;
      this.#writes.delete(entry);
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

/** Resolves with the promise, which never rejects, or after the time (milliseconds). */
function within(ms: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
