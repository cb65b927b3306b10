import type { Address } from "../../../primitives/address.ts";
import type { Now } from "../../../primitives/clock.ts";
import { maxOf, minOf } from "../../../primitives/integer.ts";
import type { AccountFeed } from "../account-feed.ts";
import { FREEZE_NOTICE_MS } from "../compare/witness-stream.ts";
import type { AwaitedWrite, FollowedAccount, WriteReading } from "../followed-account.ts";
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

/** How long a state is awaited: by then, whatever is older is too old for its age. Milliseconds. */
const AWAITED_MS = 10_000;
/** How long a caller waits for it, and the pause between two reads. Milliseconds. */
const WAIT_MS = 1_000;
const RETRY_MS = 50;

/**
 * Accounts that a landed transaction has written, each for ten seconds: a followed one whose state is from before that is not current. The
 * stream may report a change later than nodes report the transaction, an account that no stream covers yet was read some time ago, one that
 * is followed only now may be read from a node that is behind, and a stream that begins anew may have lost what it reported.
 */
export class AwaitedWrites {
  readonly #options: AwaitedWritesOptions;
  /** In the order of their times. */
  readonly #writes = new Map<Address, AwaitedWrite>();

  constructor(options: AwaitedWritesOptions) {
    this.#options = options;
  }

  /** A landed transaction has written the accounts in this slot. A slot too far ahead is ignored. */
  note(addresses: readonly Address[], slot: bigint): void {
    const { followed, stream, now } = this.#options;
    if (stream.isFarAhead(slot)) return;
    stream.note(slot);
    const untilMs = now() + AWAITED_MS;
    let isAnyBehind = false;
    for (const address of addresses) {
      const entry = followed.get(address);
      if (entry !== undefined && !this.#holds(entry, slot)) isAnyBehind = true;
      const known = this.#writes.get(address);
      const isAwaited = known !== undefined && entry !== undefined && !this.#holds(entry, known.slot);
      const reading = isAwaited ? known.reading : undefined;
      const write = { slot: maxOf(slot, known?.slot ?? 0n), untilMs, reading };
      this.#writes.delete(address);
      this.#writes.set(address, write);
      if (entry !== undefined) entry.awaited = write;
    }
    if (isAnyBehind) followed.setbacks += 1;
  }

  /** The account is followed from now on. */
  begin(entry: FollowedAccount): void {
    const write = this.#writes.get(entry.address);
    // What was being read is an earlier record of the account.
    if (write !== undefined) write.reading = undefined;
    entry.awaited = write;
  }

  /** True if the known state is from before a write that is known. */
  isBehind(entry: FollowedAccount): boolean {
    return entry.awaited !== undefined && this.#behind(entry) !== undefined;
  }

  /**
   * Reads those of the accounts that are behind, until each has arrived by a read or the stream, for a second at most. Never rejects.
   * With several nodes, the state of a market that is streamed comes by the stream, or from most of them. What is written meanwhile is
   * waited for too, within the same second.
   * @returns undefined if none is behind
   */
  catchUp(addresses: readonly Address[]): Promise<void> | undefined {
    const untilMs = this.#options.now() + WAIT_MS;
    const first = this.#catchUpOnce(addresses, untilMs);
    return first && this.#catchUpAgain(addresses, untilMs, first);
  }

  async #catchUpAgain(addresses: readonly Address[], untilMs: number, first: Promise<void>): Promise<void> {
    const { now } = this.#options;
    for (let next: Promise<void> | undefined = first; next !== undefined; ) {
      // What others began to read may take longer.
      await within(untilMs - now(), next);
      if (now() >= untilMs) return;
      next = this.#catchUpOnce(addresses, untilMs);
    }
  }

  /** @returns undefined if none is behind */
  #catchUpOnce(addresses: readonly Address[], untilMs: number): Promise<void> | undefined {
    if (this.#writes.size === 0) return undefined;
    const { followed } = this.#options;
    const unread: FollowedAccount[] = [];
    const readings = new Set<WriteReading>();
    const reading: WriteReading = { ended: Promise.resolve() };
    for (const address of addresses) {
      const entry = followed.get(address);
      const write = entry && this.#behind(entry);
      if (write === undefined) continue;
      if (write.reading === undefined) {
        write.reading = reading;
        unread.push(entry!);
      }
      readings.add(write.reading);
    }
    if (readings.size === 0) return undefined;
    if (unread.length > 0) reading.ended = this.#bring(unread, reading, untilMs);
    return Promise.all(Array.from(readings, ({ ended }) => ended)).then(() => {});
  }

  /** Forgets writes that are no longer awaited. Called now and then. */
  tick(): void {
    if (this.#writes.size === 0) return;
    const { followed, now } = this.#options;
    const atMs = now();
    for (const [address, { untilMs }] of this.#writes) {
      if (untilMs > atMs) return;
      this.#writes.delete(address);
      const entry = followed.get(address);
      if (entry !== undefined) entry.awaited = undefined;
    }
  }

  clear(): void {
    this.#writes.clear();
  }

  async #bring(entries: readonly FollowedAccount[], reading: WriteReading, untilMs: number): Promise<void> {
    const { followed, now } = this.#options;
    let isReading = false;
    let read = Promise.resolve();
    // If an account is written again after it has arrived, those who wait for that write read it.
    const isLeft = (entry: FollowedAccount) => followed.has(entry) && this.#behind(entry)?.reading === reading;
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
    for (const { awaited } of entries) if (awaited?.reading === reading) awaited.reading = undefined;
  }

  /** A node that has not reached the slot refuses, and another is asked. Never rejects. */
  async #read(behind: readonly FollowedAccount[]): Promise<void> {
    const { reads, agreed } = this.#options;
    const slot = behind.reduce((newest, { awaited }) => maxOf(newest, awaited?.slot ?? 0n), 0n);
    const isShared = ({ streamed, isLasting }: FollowedAccount) => agreed !== undefined && streamed && isLasting;
    const [shared, alone] = [behind.filter(isShared), behind.filter((entry) => !isShared(entry))];
    await Promise.all([
      alone.length > 0 ? reads.read(alone, slot).catch(() => {}) : undefined,
      shared.length > 0 ? agreed?.read(shared, slot) : undefined,
    ]);
  }

  /** The write that the account's known state is from before, if it is still awaited. */
  #behind(entry: FollowedAccount): AwaitedWrite | undefined {
    const { awaited: write, delivered } = entry;
    if (write === undefined) return undefined;
    if (!this.#holds(entry, write.slot)) return this.#options.now() < write.untilMs ? write : undefined;
    // If the stream has passed the slot without a change, the known state is the one of that slot, even once the stream is gone.
    if (delivered !== undefined) write.slot = minOf(write.slot, delivered.slot);
    return undefined;
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
