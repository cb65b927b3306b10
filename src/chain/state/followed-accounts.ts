import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { StateSource } from "../port.ts";
import {
  type AccountHistory,
  type AccountVersion,
  addVersion,
  currentVersion,
  pruneVersions,
} from "./account-versions.ts";
import type { SlotTree } from "./slot-tree.ts";

/** An account that is followed, and how far it is known. Times are epoch milliseconds. */
export interface FollowedAccount extends AccountHistory {
  readonly address: Address;
  versions: AccountVersion[];
  /** What was last delivered; undefined before the first, and while no version survives. */
  delivered: AccountVersion | undefined;
  /** From which slot on the stream tells of every change; undefined while it does not. */
  coveredFrom: bigint | undefined;
  /** True once a read closed the gap before the stream: complete from here. */
  streamed: boolean;
  /** Up to when the state is known without the stream. */
  provenAtMs: number;
  readAtMs: number;
}

/** The accounts that are followed, their versions on every branch of the chain, and which of them the stream suffices for. */
export class FollowedAccounts {
  /** Told of each account's newest state on the chain whenever that changes. */
  listener: Parameters<StateSource["onAccount"]>[0] = () => {};
  readonly #tree: SlotTree;
  readonly #now: Now;
  /** In the order of their last read, the oldest first. */
  readonly #byAddress = new Map<Address, FollowedAccount>();
  readonly #unstreamed = new Set<FollowedAccount>();
  /** Which accounts have a version in each slot that is not rooted. */
  readonly #touched = new Map<bigint, FollowedAccount[]>();
  #distrustUntilMs = 0;

  constructor(tree: SlotTree, now: Now) {
    this.#tree = tree;
    this.#now = now;
  }

  get size(): number {
    return this.#byAddress.size;
  }

  /** Accounts that the stream does not suffice for. */
  get unstreamed(): ReadonlySet<FollowedAccount> {
    return this.#unstreamed;
  }

  get(address: Address): FollowedAccount | undefined {
    return this.#byAddress.get(address);
  }

  /** In the order of their last read, the oldest first. */
  values(): Iterable<FollowedAccount> {
    return this.#byAddress.values();
  }

  /** False once it was stopped, whether or not the address was followed again since. */
  has(entry: FollowedAccount): boolean {
    return this.#byAddress.get(entry.address) === entry;
  }

  /** Follows an account of which nothing is known yet. */
  start(address: Address): FollowedAccount {
    const entry: FollowedAccount = {
      address,
      versions: [],
      delivered: undefined,
      coveredFrom: undefined,
      streamed: false,
      provenAtMs: 0,
      readAtMs: 0,
    };
    this.#byAddress.set(address, entry);
    this.#unstreamed.add(entry);
    return entry;
  }

  stop(entry: FollowedAccount): void {
    this.#unstreamed.delete(entry);
    this.#byAddress.delete(entry.address);
  }

  clear(): void {
    this.#byAddress.clear();
    this.#unstreamed.clear();
    this.#touched.clear();
  }

  /** Adds a version, and delivers it where it is the newest on the chain. */
  add(entry: FollowedAccount, version: AccountVersion): void {
    const length = entry.versions.length;
    if (!addVersion(entry, version, this.#tree.root)) return;
    if (entry.versions.length > length && version.slot > this.#tree.root) {
      const list = this.#touched.get(version.slot);
      if (list === undefined) this.#touched.set(version.slot, [entry]);
      else list.push(entry);
    }
    this.#deliver(entry);
  }

  #deliver(entry: FollowedAccount): void {
    const version = currentVersion(entry, this.#tree);
    if (version === entry.delivered) return;
    const known = entry.delivered;
    entry.delivered = version;
    if (version === undefined) {
      this.doubt(entry);
      entry.provenAtMs = 0;
      this.listener(entry.address, undefined, this.#tree.head);
    } else if (known === undefined || known.account !== version.account) {
      this.listener(entry.address, version.account, version.slot);
    }
  }

  /** It was read: to be called for each read that is believed, before its version is added. */
  noteRead(entry: FollowedAccount, sentAtMs: number): void {
    entry.readAtMs = sentAtMs;
    this.#byAddress.delete(entry.address);
    this.#byAddress.set(entry.address, entry);
  }

  /** What the stream has told of the account no longer suffices. */
  doubt(entry: FollowedAccount): void {
    entry.streamed = false;
    this.#unstreamed.add(entry);
  }

  /** What the stream tells of the account suffices from here on. */
  trust(entry: FollowedAccount): void {
    if (this.#now() < this.#distrustUntilMs) return;
    entry.streamed = true;
    this.#unstreamed.delete(entry);
  }

  /** The stream suffices for nothing until then (epoch milliseconds). */
  distrustUntil(untilMs: number): void {
    this.#distrustUntilMs = untilMs;
    for (const entry of this.#byAddress.values()) this.doubt(entry);
  }

  /** Slots have joined the chain or left it: what was changed in them is looked at again. */
  turn(slots: readonly bigint[]): void {
    for (const slot of slots)
      for (const entry of this.#touched.get(slot) ?? []) if (this.has(entry)) this.#deliver(entry);
  }

  /** What was told of these accounts in this slot is void. */
  discard(slot: bigint, addresses: ReadonlySet<Address>): void {
    for (const entry of this.#touched.get(slot) ?? []) {
      if (!addresses.has(entry.address)) continue;
      entry.versions = entry.versions.filter((version) => version.slot !== slot);
      if (this.has(entry)) this.#deliver(entry);
    }
  }

  /** A slot is final: forgets what can no longer matter. To be called while the tree still knows which slots before were on the chain. */
  settle(root: bigint): void {
    const settled: FollowedAccount[] = [];
    for (const [slot, entries] of this.#touched) {
      if (slot > root) continue;
      settled.push(...entries);
      this.#touched.delete(slot);
    }
    for (const entry of settled) pruneVersions(entry, root, this.#tree);
  }

  /** Versions held beside the newest of each account; looks at all of them. */
  spareVersions(): number {
    let spare = 0;
    for (const { versions } of this.#byAddress.values()) spare += Math.max(0, versions.length - 1);
    return spare;
  }
}
