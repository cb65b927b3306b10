import type { Address } from "../../../primitives/address.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { AccountFeed, AccountNotice } from "../account-feed.ts";
import { SlotTimes } from "../slots/slot-times.ts";

/** A node whose stream can be compared with the one that is followed. */
export interface WitnessSource {
  /** Host and port of the node, for the log and to tell it from the one followed. */
  readonly host: string;
  /** Opens a stream of the states of accounts at the ends of slots. */
  open(): AccountFeed;
}

interface WitnessStreamOptions {
  readonly sources: readonly WitnessSource[];
  /** Host of the stream that is followed, which is no witness of itself; undefined if none of the sources is. */
  readonly followedHost: () => string | undefined;
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly onNotice: (notice: AccountNotice) => void;
  /** Earlier reports no longer count: they came over another connection. */
  readonly onLost: () => void;
}

/** How long an outvoted or silent stream is left; each time that follows soon lasts twice as long as the one before. Milliseconds. */
const FIRST_ASIDE_MS = 10_000;
const LONGEST_ASIDE_MS = 3_600_000;
/** A stream that was right for this long starts afresh. Milliseconds. */
const FORGIVEN_MS = 3_600_000;
/** Silence after which another node is tried. Milliseconds. */
const SILENT_MS = 5_000;
/** How long after the beginning of a slot the end states of the previous slot may still arrive, with a margin. Milliseconds. */
export const FREEZE_NOTICE_MS = 150;
/** Slots remembered in which the stream reported anything. */
const MAX_SLOTS = 64;

/** Milliseconds. */
interface Aside {
  readonly untilMs: number;
  readonly lastMs: number;
}

/** A second stream, of another node than the one followed, of a few accounts. Open while there are any. */
export class WitnessStream {
  readonly #options: WitnessStreamOptions;
  /** By account, the slot from which every change of it is reported; undefined before that is known. */
  readonly #coveredFrom = new Map<Address, bigint | undefined>();
  readonly #aside = new Map<WitnessSource, Aside>();
  /** Slots in which any account changed, as far as the stream reported it. */
  readonly #reported = new Set<bigint>();
  #source: WitnessSource | undefined;
  #feed: AccountFeed | undefined;
  /** When it first reported each of its latest slots. */
  #slots = new SlotTimes();
  /** When it was opened or last reported a slot. Milliseconds. */
  #aliveAtMs = 0;

  constructor(options: WitnessStreamOptions) {
    this.#options = options;
  }

  /** The newest slot that it reported; 0 before the first. */
  get slot(): bigint {
    return this.#slots.newest;
  }

  /** The newest slot whose reports are complete. */
  get settledSlot(): bigint {
    return this.#slots.newestBy(this.#options.now() - FREEZE_NOTICE_MS) - 1n;
  }

  get host(): string | undefined {
    return this.#source?.host;
  }

  follow(address: Address): void {
    this.#coveredFrom.set(address, undefined);
    this.#feed?.follow([address]);
  }

  unfollow(address: Address): void {
    this.#coveredFrom.delete(address);
    this.#feed?.unfollow([address]);
  }

  /** True if it reports every change of the account, and what the account holds at the end of this slot. */
  covers(address: Address, slot: bigint): boolean {
    const from = this.#coveredFrom.get(address);
    return from !== undefined && slot > from;
  }

  /** True if it reported a change of any account in the slot: it has left out no state at the slot's end. */
  hasReported(slot: bigint): boolean {
    return this.#reported.has(slot);
  }

  /** Opens, closes or moves the stream. Called several times a second. */
  tick(): void {
    const { followedHost, now } = this.#options;
    const source = this.#source;
    if (source !== undefined) {
      if (now() - this.#aliveAtMs > SILENT_MS) this.#setAside(source);
      else if (this.#coveredFrom.size === 0 || source.host === followedHost()) this.#close();
    }
    if (this.#source === undefined && this.#coveredFrom.size > 0) this.#open();
  }

  /** Most nodes contradict it: leaves it for a while, for another one if there is one. */
  leave(): void {
    const source = this.#source;
    if (source === undefined) return;
    const lastMs = this.#setAside(source);
    this.#options.warn(
      `The WebSocket of ${source.host} contradicts most Solana nodes; nothing is compared with it for ${lastMs / 1_000} s.`,
    );
  }

  /** @returns for how long. Milliseconds. */
  #setAside(source: WitnessSource): number {
    const atMs = this.#options.now();
    const before = this.#aside.get(source);
    const isAgain = before !== undefined && atMs < before.untilMs + FORGIVEN_MS;
    const lastMs = isAgain ? Math.min(2 * before.lastMs, LONGEST_ASIDE_MS) : FIRST_ASIDE_MS;
    this.#aside.set(source, { untilMs: atMs + lastMs, lastMs });
    this.#close();
    return lastMs;
  }

  close(): void {
    this.#close();
    this.#coveredFrom.clear();
  }

  /** The first source after the one followed that is not left. */
  #open(): void {
    const { sources, followedHost, now } = this.#options;
    const host = followedHost();
    const first = sources.findIndex((source) => source.host === host) + 1;
    const source = [...sources.slice(first), ...sources.slice(0, first)].find(
      (one) => one.host !== host && now() >= (this.#aside.get(one)?.untilMs ?? Number.NEGATIVE_INFINITY),
    );
    if (source === undefined) return;
    const feed = source.open();
    this.#source = source;
    this.#feed = feed;
    this.#aliveAtMs = now();
    this.#listenTo(feed);
    feed.follow([...this.#coveredFrom.keys()]);
  }

  #listenTo(feed: AccountFeed): void {
    const { now, onNotice } = this.#options;
    const isCurrent = () => this.#feed === feed;
    feed.listen({
      onAccount: (notice) => {
        if (!isCurrent()) return;
        this.#reported.add(notice.slot);
        if (this.#reported.size > MAX_SLOTS) this.#reported.delete(this.#reported.values().next().value!);
        onNotice(notice);
      },
      onSlot: (slot) => {
        if (!isCurrent()) return;
        this.#aliveAtMs = now();
        this.#slots.note(slot, this.#aliveAtMs);
      },
      onCovered: (addresses, fromSlot) => {
        if (!isCurrent()) return;
        for (const address of addresses) if (this.#coveredFrom.has(address)) this.#coveredFrom.set(address, fromSlot);
      },
      onUncovered: () => {
        if (isCurrent()) this.#forget();
      },
      onDead: () => {},
      onReplaced: () => {},
      onConfirmed: () => {},
      onRoot: () => {},
      onRestart: () => {},
    });
  }

  #close(): void {
    const feed = this.#feed;
    this.#source = this.#feed = undefined;
    feed?.close();
    this.#forget();
  }

  #forget(): void {
    this.#slots = new SlotTimes();
    this.#reported.clear();
    for (const address of this.#coveredFrom.keys()) this.#coveredFrom.set(address, undefined);
    this.#options.onLost();
  }
}
