import type { Address } from "../../primitives/address.ts";
import { AddressTable } from "../../primitives/addresses/address-table.ts";
import type { Now } from "../../primitives/clock.ts";
import { compareIntegers } from "../../primitives/integer.ts";
import { GradualWalk } from "../../primitives/turns/gradual-walk.ts";
import { GradualWork } from "../../primitives/turns/gradual-work.ts";
import type { Account } from "../../solana/account.ts";
import { KeptAccount, MOST_KEPT_TWICE } from "../../solana/account-content.ts";
import type { StateSource } from "../port.ts";
import {
  type AccountVersion,
  type AddedVersion,
  addVersion,
  boundVersions,
  currentVersion,
  type KeptVersion,
  keepVersions,
  pruneVersions,
  versionsOf,
} from "./account-versions.ts";
import { FollowedAccount, type Upheaval, Upheavals } from "./followed-account.ts";
import { IndexedSet } from "./order/indexed-set.ts";
import { ReadOrder } from "./order/read-order.ts";
import { ReplacedBanks } from "./slots/replaced-banks.ts";
import type { SlotTree } from "./slots/slot-tree.ts";

/**
 * Accounts pruned, delivered after a fork, or doubted together before other work gets a turn: one to three milliseconds of work each,
 * because one slot may require all of it at once, and none of the accounts are in the processor's caches.
 */
const PRUNED_PER_TURN = 500;
const DELIVERED_PER_TURN = 250;
const DOUBTED_PER_TURN = 500;
/** Long accounts packed, each in three microseconds or so. */
const PACKED_PER_TURN = 250;
/** How often a slot's accounts may be listed repeatedly before duplicates are removed. */
const REPEATS = 4;
/** Most memory for versions of unrooted slots: several times what a burst of 125,000 changes takes. Bytes. */
const MAX_UNROOTED_BYTES = 512 * 1024 * 1024;

/** A state that an account had in a slot. */
interface LongAccount {
  readonly entry: FollowedAccount;
  readonly account: Account;
}

/** The accounts with a version in an unrooted slot, the version of each, and their approximate memory. Bytes. */
interface TouchedSlot {
  entries: FollowedAccount[];
  versions: KeptVersion[];
  /** Those long enough to pack. */
  readonly long: LongAccount[];
  bytes: number;
  /** Whether it was on the chain when these accounts were last delivered. */
  isOnChain: boolean;
}

/** The followed accounts, their versions on every branch of the chain, and which of them the stream suffices for. */
export class FollowedAccounts {
  /** Receives each account's newest state on the chain whenever it changes. */
  listener: Parameters<StateSource["onAccount"]>[0] = () => {};
  /** See `StateSource`. */
  setbacks = 0;
  readonly #tree: SlotTree;
  readonly #now: Now;
  readonly #isComplete: boolean;
  readonly #begunAtMs: (slot: bigint, address: Address) => number;
  #byAddress = new AddressTable<FollowedAccount>("followed");
  readonly #readOrder = new ReadOrder<FollowedAccount>();
  readonly #unstreamed = new IndexedSet<FollowedAccount>();
  readonly #touched = new Map<bigint, TouchedSlot>();
  #unrootedBytes = 0;
  /** Versions of rooted slots, with older ones to drop. */
  readonly #uncut: GradualWork<KeptVersion>;
  /** Accounts to pack, unless they have changed again. */
  readonly #unpacked: GradualWork<LongAccount>;
  /** Accounts of slots that were passed over, with versions to drop, and of slots that joined the chain or left it. */
  readonly #unpruned: GradualWork<FollowedAccount>;
  readonly #undelivered: GradualWork<FollowedAccount>;
  readonly #replaced: ReplacedBanks;
  readonly #upheavals = new Upheavals();
  /** Lets every account apply the events that concern all, so that those can be forgotten. */
  readonly #shaken: GradualWalk<FollowedAccount>;
  #distrustUntilMs = 0;

  /**
   * @param isComplete true if the stream reports every change of every slot, including slots that are dropped later
   * @param begunAtMs when a slot certainly had begun, as far as the account's stream is up to date (epoch milliseconds)
   */
  constructor(tree: SlotTree, now: Now, isComplete: boolean, begunAtMs: (slot: bigint, address: Address) => number) {
    this.#tree = tree;
    this.#now = now;
    this.#isComplete = isComplete;
    this.#begunAtMs = begunAtMs;
    // Reads no field of the account: most are in no cache of the processor.
    this.#uncut = new GradualWork((version) => {
      version.older = undefined;
    }, PRUNED_PER_TURN);
    this.#unpacked = new GradualWork(({ entry: { delivered }, account }) => {
      if (delivered?.account === account) KeptAccount.pack(account);
    }, PACKED_PER_TURN);
    this.#unpruned = new GradualWork((entry) => pruneVersions(entry, tree.root, tree), PRUNED_PER_TURN);
    this.#undelivered = new GradualWork((entry) => {
      if (this.has(entry)) this.#deliver(entry);
    }, DELIVERED_PER_TURN);
    this.#replaced = new ReplacedBanks(DELIVERED_PER_TURN, (entry) => {
      if (this.has(entry)) this.#deliver(entry);
    });
    this.#shaken = new GradualWalk(
      () => this.#walkAll(),
      (entry) => {
        if (!entry.streamed) this.#unstreamed.add(entry);
      },
      DOUBTED_PER_TURN,
    );
  }

  get size(): number {
    return this.#byAddress.size;
  }

  /** Accounts that the stream does not suffice for; after an event that concerns all, complete within a few turns of the loop. */
  get unstreamed(): { readonly size: number } {
    return this.#unstreamed;
  }

  /** Up to `limit` accounts that the stream does not suffice for; the next call goes on with others. */
  nextUnstreamed(limit: number): FollowedAccount[] {
    return this.#unstreamed.next(limit);
  }

  get(address: Address): FollowedAccount | undefined {
    return this.#byAddress.get(address);
  }

  /** In the order in which they were followed, which reads leave alone. */
  values(): Iterable<FollowedAccount> {
    return this.#byAddress.values();
  }

  /** The least recently read account; each links to the one read after it, as long as none is read meanwhile. */
  get lastReadFirst(): FollowedAccount | undefined {
    return this.#readOrder.first;
  }

  /** False once it was stopped, even if the address is followed again. */
  has(entry: FollowedAccount): boolean {
    return entry.table === this.#byAddress;
  }

  /** Follows an account with no known state yet. */
  start(address: Address): FollowedAccount {
    const known = this.#byAddress.get(address);
    if (known !== undefined) return known;
    const entry = new FollowedAccount(address, this.#upheavals, this.#byAddress);
    this.#byAddress.set(address, entry);
    this.#readOrder.add(entry);
    this.#unstreamed.add(entry);
    return entry;
  }

  stop(entry: FollowedAccount): void {
    if (!this.has(entry)) return;
    this.#unstreamed.delete(entry);
    this.#readOrder.delete(entry);
    this.#byAddress.delete(entry.address);
    entry.table = undefined;
  }

  clear(): void {
    this.#byAddress.detach();
    this.#byAddress = new AddressTable("followed");
    this.#readOrder.clear();
    this.#unstreamed.clear();
    this.#touched.clear();
    this.#unrootedBytes = 0;
    this.#uncut.clear();
    this.#unpacked.clear();
    this.#unpruned.clear();
    this.#undelivered.clear();
    this.#replaced.clear();
    this.#shaken.clear();
  }

  /** Adds a version, and delivers it if it is the newest on the chain. @returns false if it adds nothing new */
  add(entry: FollowedAccount, version: AccountVersion): boolean {
    this.#replaced.takeIn(entry);
    const { root } = this.#tree;
    // The node may have left out the same change on the chain, of an earlier slot.
    if (version.isStreamed === true && !this.#isComplete && !this.#tree.isOnChain(version.slot))
      this.doubtUpTo(entry, version.slot);
    const added = addVersion(entry, version, root);
    if (added === undefined) return false;
    if (version.slot <= root) pruneVersions(entry, root, this.#tree);
    else this.#touch(entry, added);
    boundVersions(entry, this.#tree.head);
    this.#deliver(entry, added.version);
    return true;
  }

  #touch(entry: FollowedAccount, { version, bytes }: AddedVersion): void {
    const { slot } = version;
    let touched = this.#touched.get(slot);
    if (touched === undefined) {
      touched = { entries: [], versions: [], long: [], bytes: 0, isOnChain: this.#tree.isOnChain(slot) };
      this.#touched.set(slot, touched);
    }
    if (bytes > MOST_KEPT_TWICE) touched.long.push({ entry, account: version.account! });
    touched.bytes += bytes;
    this.#unrootedBytes += bytes;
    const touchedIn = Number(slot);
    // No double tells slots beyond 2^53 apart.
    if (entry.touchedIn === touchedIn && touched.entries[entry.touchedAt] === entry) {
      touched.versions[entry.touchedAt] = version;
      return;
    }
    entry.touchedIn = touchedIn;
    entry.touchedAt = touched.entries.push(entry) - 1;
    touched.versions.push(version);
    if (touched.entries.length > REPEATS * (this.size + 1)) nameOnce(touched, slot);
  }

  /** @param added the version just added; absent if the chain or a slot was undone */
  #deliver(entry: FollowedAccount, added?: KeptVersion): void {
    const version = currentVersion(entry, this.#tree);
    if (version !== entry.delivered) this.#take(entry, version, version === added || this.#isProven(entry, version));
  }

  /**
   * False for an older version that would replace a newer one, unless the stream suffices for the account and reports every change: a
   * subscription reports states of the banks that its node prefers, so the changes of a slot may be known only from a later slot.
   */
  #isProven(entry: FollowedAccount, version: KeptVersion | undefined): boolean {
    const known = entry.delivered;
    if (version === undefined || known === undefined || known.slot < version.slot) return true;
    return this.#isComplete && entry.streamed && isCovered(entry, version);
  }

  #take(entry: FollowedAccount, version: KeptVersion | undefined, isProven: boolean): void {
    const known = entry.delivered;
    entry.delivered = version;
    if (version === undefined || !isProven) {
      if (known === undefined) this.doubt(entry);
      else this.doubtUpTo(entry, known.slot);
      // It was the state at least within its slot.
      entry.provenAtMs = version === undefined ? 0 : this.#begunAtMs(version.slot, entry.address);
    }
    if (version === undefined) this.listener(entry.address, undefined, this.#tree.head, entry);
    else if (known === undefined || known.account !== version.account)
      this.listener(entry.address, version.account, version.slot, entry);
  }

  /**
   * Adopts a state that most nodes agree on as that of its slot: known states of later slots are dropped. If there were any, only what the
   * caller proves is proven.
   */
  replace(entry: FollowedAccount, { slot, account }: Pick<AccountVersion, "slot" | "account">): boolean {
    const isOlder = entry.delivered !== undefined && entry.delivered.slot > slot;
    keepVersions(entry, (version) => version.slot < slot);
    this.#coverAgain(entry);
    if (isOlder) {
      this.doubt(entry);
      entry.provenAtMs = 0;
    }
    if (entry.droppedUpTo !== undefined && entry.droppedUpTo >= slot) entry.droppedUpTo = undefined;
    return this.add(entry, { slot, account, epoch: -1, order: 0 });
  }

  /**
   * Drops the stream's reports of the account, from a slot on or all. If nothing else is known, the last delivered state stays until a
   * read.
   */
  dropStreamed(entry: FollowedAccount, fromSlot = 0n): void {
    keepVersions(entry, ({ isStreamed, slot }) => isStreamed !== true || slot < fromSlot);
    const version = currentVersion(entry, this.#tree);
    // Nothing from before the slot is missing.
    const isProven = version !== undefined && version.slot < fromSlot && isCovered(entry, version);
    if (entry.newest !== undefined && version !== entry.delivered) this.#take(entry, version, isProven);
    this.#coverAgain(entry);
  }

  /** Not everything that the stream has reported of the account so far was kept, nor is it of the newest slot, of which more may come. */
  #coverAgain(entry: FollowedAccount): void {
    const { head } = this.#tree;
    if (entry.coveredFrom !== undefined && entry.coveredFrom <= head) entry.coveredFrom = head + 1n;
  }

  /** Notes a credible read before its version is added, or that the account is too large for any answer. */
  noteRead(entry: FollowedAccount, sentAtMs: number): void {
    entry.readAtMs = sentAtMs;
    if (!this.has(entry)) return;
    this.#readOrder.delete(entry);
    this.#readOrder.add(entry);
  }

  /** The stream no longer suffices for the account. */
  doubt(entry: FollowedAccount): void {
    this.setbacks += 1;
    entry.streamed = false;
    if (this.has(entry)) this.#unstreamed.add(entry);
  }

  /**
   * What the stream has reported of the account up to this slot is not all that it holds on the chain: it must be read after that, as what
   * comes late of the slot, or a read from before it, may be older.
   */
  doubtUpTo(entry: FollowedAccount, slot: bigint): void {
    if (entry.coveredFrom !== undefined && entry.coveredFrom <= slot) entry.coveredFrom = slot + 1n;
    this.doubt(entry);
  }

  /** The stream suffices for the account from now on. */
  trust(entry: FollowedAccount): void {
    if (entry.isDoubted || this.#now() < this.#distrustUntilMs) return;
    entry.streamed = true;
    this.#unstreamed.delete(entry);
  }

  /** The stream suffices for no account until then (epoch milliseconds), or longer if a later time was set before. */
  distrustUntil(untilMs: number): void {
    const isDistrusted = this.#now() < this.#distrustUntilMs;
    this.#distrustUntilMs = Math.max(this.#distrustUntilMs, untilMs);
    if (isDistrusted) return;
    this.upset((standing) => {
      standing.streamed = false;
    });
  }

  /** An event concerns every account: it takes effect at once, however many there are. */
  upset(upheaval: Upheaval): void {
    this.setbacks += 1;
    this.#upheavals.add(upheaval);
    this.#shaken.begin();
  }

  /** At the end of the walk, all accounts have applied the events from before it. */
  *#walkAll(): Generator<FollowedAccount, void> {
    const { count } = this.#upheavals;
    yield* this.#byAddress.values();
    this.#upheavals.drop(count);
  }

  /**
   * Slots may have joined the chain or left it: accounts that changed in them are delivered again if their newest version changes; with
   * thousands of them, some only in the next turns of the loop.
   */
  turn(): void {
    for (const [slot, touched] of this.#touched) {
      const isOnChain = this.#tree.isOnChain(slot);
      if (isOnChain === touched.isOnChain) continue;
      touched.isOnChain = isOnChain;
      this.#undelivered.add(touched.entries);
    }
  }

  /**
   * The bank of this slot was replaced: discards these accounts' versions in it. With thousands, some are discarded only in the next turns
   * of the loop, each before anything newer of its account is added.
   */
  discard(slot: bigint, addresses: ReadonlySet<Address>): void {
    const touched = this.#touched.get(slot);
    if (touched !== undefined) this.#replaced.add(slot, addresses, touched.entries);
  }

  /** The tree has got a new root: drops versions that can no longer matter, many of them in the next turns of the loop. */
  settle(): void {
    const { root } = this.#tree;
    this.turn();
    for (const [slot, { entries, versions, long, bytes, isOnChain }] of this.#touched) {
      if (slot > root) continue;
      this.#touched.delete(slot);
      this.#unrootedBytes -= bytes;
      if (long.length > 0) this.#unpacked.add(long);
      if (isOnChain) this.#uncut.add(versions);
      else this.#unpruned.add(entries);
    }
  }

  /**
   * True if the newest slot and those after it hold more than any chain writes. Versions of older slots beyond the bound are dropped as if
   * one of those slots were rooted: the chain may go on for long without a root.
   */
  isFlooded(): boolean {
    if (this.#unrootedBytes <= MAX_UNROOTED_BYTES) return false;
    const tree = this.#tree;
    let left = this.#unrootedBytes;
    let root = tree.root;
    for (const slot of [...this.#touched.keys()].sort(compareIntegers)) {
      if (slot >= tree.head || left <= MAX_UNROOTED_BYTES / 2) break;
      left -= this.#touched.get(slot)!.bytes;
      if (tree.isOnChain(slot)) root = slot;
    }
    tree.rootAt(root);
    this.settle();
    return this.#unrootedBytes > MAX_UNROOTED_BYTES;
  }

  /** Versions held besides the newest of each account; walks all of them. */
  spareVersions(): number {
    let spare = 0;
    for (const entry of this.#byAddress.values()) spare += Math.max(0, [...versionsOf(entry)].length - 1);
    return spare;
  }
}

const isCovered = ({ coveredFrom }: FollowedAccount, { slot }: KeptVersion): boolean =>
  coveredFrom !== undefined && slot >= coveredFrom;

/** Counts each account once: a stream that replaces the banks of two slots again and again names their accounts each time. */
function nameOnce(touched: TouchedSlot, slot: bigint): void {
  const versions = new Map(touched.entries.map((entry, at) => [entry, touched.versions[at]!]));
  touched.entries = [...versions.keys()];
  touched.versions = [...versions.values()];
  for (const [at, entry] of touched.entries.entries()) if (entry.touchedIn === Number(slot)) entry.touchedAt = at;
}
