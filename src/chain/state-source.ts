import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { maxOf } from "../primitives/integer.ts";
import type { Account } from "../solana/account.ts";
import type { AccountFeed } from "./account-feed.ts";
import {
  type AccountHistory,
  type AccountVersion,
  addVersion,
  currentVersion,
  hasSameContent,
  pruneVersions,
  versionAt,
} from "./account-versions.ts";
import type { AccountReader, KnownAccount, StateSource } from "./port.ts";
import { SlotTree } from "./slot-tree.ts";

/** What has happened to followed state since the start, for metrics. */
export interface StateCounts {
  /** Accounts followed, and how many of them the stream covers now. */
  readonly accounts: number;
  readonly streamed: number;
  readonly notices: number;
  /** Accounts read across the network. */
  readonly reads: number;
  /** Times the chain turned to another branch, and slots were found to be missing. */
  readonly forks: number;
  readonly gaps: number;
  /** Notices and answers not believed: from slots that cannot be yet. */
  readonly disbelieved: number;
  /** Accounts compared with the chain at equal slot, and those that differed: the goal is none. */
  readonly audited: number;
  readonly auditDifferences: number;
}

export interface LiveStateSource extends StateSource {
  counts(): StateCounts;
  /** Versions held beside the newest of each account; looks at all of them. */
  spareVersions(): number;
}

export interface StateSourceOptions {
  readonly reader: AccountReader;
  readonly feed: AccountFeed;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** The newest slot known from elsewhere: a stream far behind it is not relied on. */
  readonly headSlot?: () => bigint;
  /** How often accounts that no stream covers are read. */
  readonly pollMs?: number;
  /** How often even a covered account is read again, to heal what a stream has lost. */
  readonly refreshMs?: number;
  /** A stream that has told of no slot for this long is not relied on: everything is read as if it were gone. */
  readonly quietMs?: number;
  /** A read this many slots behind the newest slot known does not count as current. */
  readonly maxLagSlots?: bigint;
  /** A read or notice this many slots ahead of all that is known is not believed. */
  readonly maxLeadSlots?: bigint;
  /** How often a sample is compared with the chain, and how large it is. */
  readonly auditMs?: number;
  readonly auditSize?: number;
}

interface Followed extends AccountHistory {
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

/** A sample read for comparison, kept until the stream has passed its slot. */
interface Audit {
  readonly slot: bigint;
  readonly entries: readonly Followed[];
  readonly accounts: readonly (Account | null)[];
}

const DEFAULT_POLL_MS = 400;
const DEFAULT_REFRESH_MS = 10_000;
const DEFAULT_QUIET_MS = 1_000;
const DEFAULT_MAX_LAG_SLOTS = 10n;
const DEFAULT_MAX_LEAD_SLOTS = 64n;
const DEFAULT_AUDIT_MS = 5_000;
const DEFAULT_AUDIT_SIZE = 100;
/** What a node answers in one call, and calls under way at once: sixty thousand accounts must not be asked for in one go. */
const ACCOUNTS_PER_READ = 100;
const READS_AT_ONCE = 16;
/** A stream is given this many slots to tell of everything in the one that is compared. */
const AUDIT_PATIENCE_SLOTS = 3n;

/**
 * Follows accounts by a stream of changes, with reads to start from, to bridge lost connections, and to heal.
 *
 * The stream is asked for first; an account counts as streamed only once a read after the beginning of the stream has been
 * seen, so that no change can fall between the two. Versions are kept slot by slot until rooted: when the chain turns to
 * another branch, each account falls back to its newest version there, and one without any is unknown until read again.
 * A missing slot puts everything in doubt until it has been read.
 */
export function createStateSource({
  reader,
  feed,
  now,
  warn,
  headSlot = () => 0n,
  pollMs = DEFAULT_POLL_MS,
  refreshMs = DEFAULT_REFRESH_MS,
  quietMs = DEFAULT_QUIET_MS,
  maxLagSlots = DEFAULT_MAX_LAG_SLOTS,
  maxLeadSlots = DEFAULT_MAX_LEAD_SLOTS,
  auditMs = DEFAULT_AUDIT_MS,
  auditSize = DEFAULT_AUDIT_SIZE,
}: StateSourceOptions): LiveStateSource {
  const tree = new SlotTree();
  /** In the order of their last read, the oldest first. */
  const followed = new Map<Address, Followed>();
  const unstreamed = new Set<Followed>();
  /** Which accounts have a version in each slot that is not rooted. */
  const touched = new Map<bigint, Followed[]>();
  let listener: (address: Address, account: Account | null | undefined, slot: bigint) => void = () => {};
  let newestSlot = 0n;
  /** When the slot of the stream last moved. */
  let headAtMs = 0;
  let polling = false;
  let failing = false;
  let audit: Audit | undefined;
  let auditedUpTo = 0;
  const counts = { notices: 0, reads: 0, forks: 0, gaps: 0, disbelieved: 0, audited: 0, auditDifferences: 0 };

  function add(entry: Followed, version: AccountVersion): void {
    const length = entry.versions.length;
    if (!addVersion(entry, version, tree.root)) return;
    if (entry.versions.length > length && version.slot > tree.root) {
      const list = touched.get(version.slot);
      if (list === undefined) touched.set(version.slot, [entry]);
      else list.push(entry);
    }
    deliver(entry);
  }

  function deliver(entry: Followed): void {
    const version = currentVersion(entry, tree);
    if (version === entry.delivered) return;
    const known = entry.delivered;
    entry.delivered = version;
    if (version === undefined) {
      doubt(entry);
      entry.provenAtMs = 0;
      listener(entry.address, undefined, tree.head);
    } else if (known === undefined || known.account !== version.account) {
      listener(entry.address, version.account, version.slot);
    }
  }

  /** What the stream has told of the account no longer suffices. */
  function doubt(entry: Followed): void {
    entry.streamed = false;
    unstreamed.add(entry);
  }

  function trust(entry: Followed): void {
    entry.streamed = true;
    unstreamed.delete(entry);
  }

  /** Slots have joined the chain or left it: what was changed in them is looked at again. */
  function turn(slots: readonly bigint[]): void {
    if (slots.length === 0) return;
    counts.forks += 1;
    for (const slot of slots) for (const entry of touched.get(slot) ?? []) if (isFollowed(entry)) deliver(entry);
  }

  const isFollowed = (entry: Followed) => followed.get(entry.address) === entry;

  function uncover(entry: Followed): void {
    if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, feed.liveAtMs(entry.address));
    entry.coveredFrom = undefined;
    doubt(entry);
  }

  feed.listen({
    onAccount({ address, account, slot, epoch, order }) {
      const entry = followed.get(address);
      if (entry === undefined) return;
      counts.notices += 1;
      if (tree.head > 0n && slot > maxOf(tree.head, headSlot()) + maxLeadSlots) {
        counts.disbelieved += 1;
        return;
      }
      add(entry, { slot, epoch, order, account });
      // A notice is the whole state, and those that follow it are all told of: as good as a read.
      if (entry.coveredFrom !== undefined && slot >= entry.coveredFrom && tree.isOnChain(slot)) trust(entry);
    },
    onSlot(slot, parent) {
      const known = headSlot();
      if (known > 0n && slot > known + maxLeadSlots) {
        counts.disbelieved += 1;
        return;
      }
      const { turned, isGap } = tree.begin(slot, parent);
      if (tree.head > newestSlot) newestSlot = tree.head;
      headAtMs = now();
      turn(turned);
      if (!isGap) return;
      counts.gaps += 1;
      warn(`The stream of slots has a gap before slot ${slot}; everything followed is read again.`);
      for (const entry of followed.values()) {
        if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, feed.liveAtMs(entry.address));
        if (entry.coveredFrom !== undefined) entry.coveredFrom = slot;
        doubt(entry);
      }
    },
    onDead: (slot) => turn(tree.kill(slot)),
    onReplaced(slot, addresses) {
      counts.forks += 1;
      for (const entry of touched.get(slot) ?? []) {
        if (!addresses.has(entry.address)) continue;
        entry.versions = entry.versions.filter((version) => version.slot !== slot);
        if (isFollowed(entry)) deliver(entry);
      }
    },
    onConfirmed: (slot) => turn(tree.confirm(slot)),
    onRoot(slot) {
      if (slot <= tree.root || slot > tree.head) return;
      const settled: Followed[] = [];
      for (const [at, entries] of touched) {
        if (at > slot) continue;
        settled.push(...entries);
        touched.delete(at);
      }
      // While the tree still knows which of these slots were on the chain.
      for (const entry of settled) pruneVersions(entry, slot, tree);
      tree.rootAt(slot);
    },
    onCovered(addresses, fromSlot) {
      for (const address of addresses) {
        const entry = followed.get(address);
        if (entry !== undefined) entry.coveredFrom = fromSlot;
      }
    },
    onUncovered(addresses) {
      if (addresses === undefined) for (const entry of followed.values()) uncover(entry);
      else {
        for (const address of addresses) {
          const entry = followed.get(address);
          if (entry !== undefined) uncover(entry);
        }
      }
    },
    onRestart: () => tree.restart(),
  });

  function start(address: Address): Followed {
    const entry: Followed = {
      address,
      versions: [],
      delivered: undefined,
      coveredFrom: undefined,
      streamed: false,
      provenAtMs: 0,
      readAtMs: 0,
    };
    followed.set(address, entry);
    unstreamed.add(entry);
    return entry;
  }

  /** Starts from what somebody else has just read. */
  function begin(entry: Followed, known: KnownAccount | undefined): void {
    if (known === undefined || isUnbelievable(known.slot)) return;
    add(entry, { slot: known.slot, epoch: -1, order: 0, account: known.account });
    entry.provenAtMs = entry.readAtMs = known.readAtMs;
  }

  /** Reads the accounts, some at a time, and delivers what is not older than what is known. */
  async function read(entries: readonly Followed[]): Promise<void> {
    const pieces: (readonly Followed[])[] = [];
    for (let at = 0; at < entries.length; at += ACCOUNTS_PER_READ)
      pieces.push(entries.slice(at, at + ACCOUNTS_PER_READ));
    const readers = Array.from({ length: Math.min(READS_AT_ONCE, pieces.length) }, async () => {
      for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) await readPiece(piece);
    });
    await Promise.all(readers);
  }

  async function readPiece(entries: readonly Followed[]): Promise<void> {
    const sentAtMs = now();
    const { epoch, order } = feed.readStamp();
    const coveredBefore = entries.map(({ coveredFrom }) => coveredFrom);
    counts.reads += entries.length;
    const { slot: oldest, accounts } = await reader.fetchAccounts(entries.map(({ address }) => address));
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!;
      if (!isFollowed(entry)) continue;
      const account = accounts[i] ?? null;
      const slot = account?.slot ?? oldest;
      if (isUnbelievable(slot)) {
        counts.disbelieved += 1;
        continue;
      }
      if (slot > newestSlot) newestSlot = slot;
      entry.readAtMs = sentAtMs;
      followed.delete(entry.address);
      followed.set(entry.address, entry);
      add(entry, { slot, epoch, order, account });
      if (slot + maxLagSlots < newestSlot || !tree.isOnChain(slot)) continue;
      entry.provenAtMs = Math.max(entry.provenAtMs, sentAtMs);
      const { coveredFrom } = entry;
      if (coveredFrom === undefined || entry.streamed) continue;
      // Within one slot, only a read that was sent after the stream began has missed nothing before it.
      if (slot > coveredFrom || (slot === coveredFrom && coveredBefore[i] === coveredFrom)) trust(entry);
    }
  }

  /** While the stream lives, no node can be far ahead of all that is known. */
  function isUnbelievable(slot: bigint): boolean {
    if (tree.head === 0n || now() - headAtMs > quietMs) return false;
    return slot > maxOf(tree.head, headSlot()) + maxLeadSlots;
  }

  /** True while the stream tells of slots far behind the newest known: what it has not told yet may be old. */
  function isBehind(): boolean {
    return tree.head > 0n && maxOf(newestSlot, headSlot()) > tree.head + maxLagSlots;
  }

  async function poll(): Promise<void> {
    if (polling) return;
    const atMs = now();
    const due: Followed[] = [...unstreamed];
    const isLate = isBehind();
    const isSomeQuiet = isLate || atMs - feed.leastLiveAtMs() > quietMs;
    // Spread over the whole time, however many were first read together.
    let toHeal = Math.ceil((followed.size * pollMs) / refreshMs) + 1;
    for (const entry of followed.values()) {
      const isOld = entry.readAtMs <= atMs - refreshMs && toHeal > 0;
      if (!isOld && !isSomeQuiet) break;
      if (!entry.streamed) continue;
      if (isOld) toHeal -= 1;
      if (isOld || isLate || atMs - feed.liveAtMs(entry.address) > quietMs) due.push(entry);
    }
    if (due.length === 0) return;
    polling = true;
    try {
      await read(due);
      failing = false;
    } catch (error) {
      if (!failing) warn(`Followed accounts cannot be read: ${String(error)}`);
      failing = true;
    } finally {
      polling = false;
    }
  }

  /** Reads a rolling sample without using it, to see whether what the stream told is what the chain holds. */
  async function takeSample(): Promise<void> {
    if (audit !== undefined) return;
    const streamed = [...followed.values()].filter((entry) => entry.streamed);
    if (streamed.length === 0) return;
    const first = auditedUpTo % streamed.length;
    const entries = [...streamed.slice(first), ...streamed.slice(0, first)].slice(0, auditSize);
    auditedUpTo = first + entries.length;
    try {
      const { slot, accounts } = await reader.fetchAccounts(entries.map(({ address }) => address));
      audit = { slot, entries, accounts };
    } catch {
      // A node that cannot be reached is told of by the reads that matter.
    }
  }

  /** Compares the sample with what is known of its slot, once the stream has had time to tell of all of it. */
  function compareSample(): void {
    if (audit === undefined || tree.head < audit.slot + AUDIT_PATIENCE_SLOTS) return;
    const { slot: oldest, entries, accounts } = audit;
    audit = undefined;
    const wrong: Followed[] = [];
    entries.forEach((entry, i) => {
      const account = accounts[i] ?? null;
      const slot = account?.slot ?? oldest;
      if (!entry.streamed || !isFollowed(entry) || !tree.isOnChain(slot)) return;
      const known = versionAt(entry, slot, tree);
      // Within its own slot the read may have come before a change or after it, and a rooted past is not kept.
      if (known === undefined || known.slot === slot) return;
      counts.audited += 1;
      if (hasSameContent(known.account, account)) return;
      counts.auditDifferences += 1;
      wrong.push(entry);
    });
    if (wrong.length === 0) return;
    warn(`${wrong.length} accounts differ from the chain, such as ${wrong[0]!.address}; they are read again.`);
    for (const entry of wrong) doubt(entry);
  }

  const pollTimer = setInterval(() => {
    compareSample();
    void poll();
  }, pollMs);
  const auditTimer = setInterval(() => void takeSample(), auditMs);

  return {
    onAccount(heard) {
      listener = heard;
    },
    async follow(addresses, known) {
      const added = addresses.filter((address) => !followed.has(address));
      for (const address of added) start(address);
      feed.follow(added);
      if (known !== undefined) for (const address of added) begin(followed.get(address)!, known.get(address));
      await read(addresses.map((address) => followed.get(address)!).filter(({ delivered }) => delivered === undefined));
    },
    unfollow(addresses) {
      const gone = addresses.filter((address) => followed.has(address));
      for (const address of gone) {
        unstreamed.delete(followed.get(address)!);
        followed.delete(address);
      }
      feed.unfollow(gone);
    },
    refresh: (addresses) => read(addresses.flatMap((address) => followed.get(address) ?? [])),
    currentAtMs(address) {
      const entry = followed.get(address);
      if (entry === undefined) return 0;
      return entry.streamed && !isBehind() ? Math.max(entry.provenAtMs, feed.liveAtMs(address)) : entry.provenAtMs;
    },
    counts: () => ({ accounts: followed.size, streamed: followed.size - unstreamed.size, ...counts }),
    spareVersions() {
      let spare = 0;
      for (const { versions } of followed.values()) spare += Math.max(0, versions.length - 1);
      return spare;
    },
    close() {
      clearInterval(pollTimer);
      clearInterval(auditTimer);
      feed.close();
      followed.clear();
      unstreamed.clear();
      touched.clear();
    },
  };
}
