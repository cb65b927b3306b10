import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { maxOf } from "../primitives/integer.ts";
import type { Account } from "../solana/account.ts";
import { hasSameContent } from "../solana/account-content.ts";
import type { AccountFeed } from "./account-feed.ts";
import {
  type AccountHistory,
  type AccountVersion,
  addVersion,
  currentVersion,
  pruneVersions,
  versionAt,
} from "./account-versions.ts";
import type { AccountReader, KnownAccount, StateSource } from "./port.ts";
import { SlotTimes } from "./slot-times.ts";
import { SlotTree } from "./slot-tree.ts";

/** What has happened to followed state since the start, for metrics. */
interface StateCounts {
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
  /** Reads compared with what the stream told of the same slot, and those that differed: the goal is none. */
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
  /** How often the accounts that trades are built on are: a change the stream has lost is never older than this. */
  readonly verifyMs?: number;
  /** A stream that has told of no slot for this long is not relied on: everything is read as if it were gone. */
  readonly quietMs?: number;
  /** A read this many slots behind the newest slot known closes no gap, and a stream so far behind is not relied on. */
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

/** A read, kept for comparison until the stream has passed its slot. */
interface Check {
  readonly slot: bigint;
  readonly entry: Followed;
  readonly account: Account | null;
  /** Where it stands among what is known, if nothing was known of its slot; undefined where it was read for comparison alone. */
  readonly stamp: { readonly epoch: number; readonly order: number } | undefined;
}

const DEFAULT_POLL_MS = 400;
const DEFAULT_REFRESH_MS = 10_000;
const DEFAULT_VERIFY_MS = 800;
const DEFAULT_QUIET_MS = 1_000;
const DEFAULT_MAX_LAG_SLOTS = 10n;
const DEFAULT_MAX_LEAD_SLOTS = 64n;
const DEFAULT_AUDIT_MS = 5_000;
const DEFAULT_AUDIT_SIZE = 100;
/** What a node answers in one call, and calls under way at once: sixty thousand accounts must not be asked for in one go. */
const ACCOUNTS_PER_READ = 100;
const READS_AT_ONCE = 16;
/** A stream is given this many slots to tell of everything in the one that is compared. */
const CHECK_PATIENCE_SLOTS = 3n;
/** An account counts as in use for this long after a trade was built on it. */
const IN_USE_MS = 4_000;
/** Accounts in use that are read again with each poll at most; with more in use than that, each has its turn later. */
const VERIFIED_PER_POLL = 400;
/** A stream that was caught losing a change is read around for this long. */
const DISTRUST_MS = 10_000;

/**
 * Follows accounts by a stream of changes, with reads to start from, to bridge lost connections, and to heal.
 *
 * The stream is asked for first; an account counts as streamed only once a read after the beginning of the stream has been
 * seen, so that no change can fall between the two. Versions are kept slot by slot until rooted: when the chain turns to
 * another branch, each account falls back to its newest version there, and one without any is unknown until read again.
 * A missing slot puts everything in doubt until it has been read, and so does a change of which the stream did not tell.
 *
 * The age of state is that of its slot: state is current up to the moment when a newer slot was first known of, from whomever.
 */
export function createStateSource({
  reader,
  feed,
  now,
  warn,
  headSlot = () => 0n,
  pollMs = DEFAULT_POLL_MS,
  refreshMs = DEFAULT_REFRESH_MS,
  verifyMs = DEFAULT_VERIFY_MS,
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
  const times = new SlotTimes();
  /** The newest slot the stream has told of, and when it last told of any. */
  let streamSlot = 0n;
  let streamAtMs = 0;
  /** Accounts that trades are built on, and when the last was. */
  const inUse = new Map<Followed, number>();
  let polling = false;
  let failing = false;
  /** True until everything is read that has just come to depend on reads. */
  let urgent = false;
  let wasQuiet = false;
  let distrustUntilMs = 0;
  let doubtedAtMs = Number.NEGATIVE_INFINITY;
  let checks: Check[] = [];
  let sampling = false;
  let sampledUpTo = 0;
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
    if (now() < distrustUntilMs) return;
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

  /** Up to when the stream has told of everything that changed in the account, were it told of completely. */
  const toldAtMs = (entry: Followed) => Math.min(feed.liveAtMs(entry.address), times.passedAtMs(streamSlot));

  function uncover(entry: Followed): void {
    if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, toldAtMs(entry));
    entry.coveredFrom = undefined;
    doubt(entry);
    urgent = true;
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
      const beforeMs = streamAtMs;
      const toldUpTo = times.passedAtMs(streamSlot);
      const { turned, isGap } = tree.begin(slot, parent);
      streamAtMs = now();
      if (slot > streamSlot) streamSlot = slot;
      noteHead();
      times.note(slot, streamAtMs);
      turn(turned);
      if (!isGap) return;
      counts.gaps += 1;
      warn(`The stream of slots has a gap before slot ${slot}; everything followed is read again.`);
      urgent = true;
      for (const entry of followed.values()) {
        const aliveAtMs = Math.min(feed.liveAtMs(entry.address), beforeMs, toldUpTo);
        if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, aliveAtMs);
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
    times.note(known.slot, now());
    entry.provenAtMs = Math.min(known.readAtMs, times.passedAtMs(known.slot));
    entry.readAtMs = known.readAtMs;
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
      times.note(slot, now());
      entry.readAtMs = sentAtMs;
      followed.delete(entry.address);
      followed.set(entry.address, entry);
      // Of a slot that was told of before, the read may say more, and nothing is left to compare it with.
      const isToldOf = entry.versions.some((version) => version.slot === slot);
      if (entry.streamed && !isToldOf && slot <= streamSlot + maxLagSlots)
        checks.push({ slot, entry, account, stamp: { epoch, order } });
      add(entry, { slot, epoch, order, account });
      if (!tree.isOnChain(slot)) continue;
      entry.provenAtMs = Math.max(entry.provenAtMs, Math.min(sentAtMs, times.passedAtMs(slot)));
      if (slot + maxLagSlots < times.newest) continue;
      const { coveredFrom } = entry;
      if (coveredFrom === undefined || entry.streamed) continue;
      // Within one slot, only a read that was sent after the stream began has missed nothing before it.
      if (slot > coveredFrom || (slot === coveredFrom && coveredBefore[i] === coveredFrom)) trust(entry);
    }
  }

  /** While the stream lives, no node can be far ahead of all that is known. */
  function isUnbelievable(slot: bigint): boolean {
    if (tree.head === 0n || now() - streamAtMs > quietMs) return false;
    return slot > maxOf(tree.head, headSlot()) + maxLeadSlots;
  }

  const noteHead = () => times.note(headSlot(), now());

  /** For how long the stream has not told of a slot that is known of from elsewhere. Milliseconds. */
  function lagMs(): number {
    noteHead();
    return streamSlot === 0n ? 0 : Math.max(0, now() - times.passedAtMs(streamSlot));
  }

  /** True while the stream tells of slots far behind the newest known: what it has not told yet may be old. */
  const isBehind = () => lagMs() > quietMs || (streamSlot > 0n && times.newest > streamSlot + maxLagSlots);

  function poll(): void {
    urgent = false;
    const atMs = now();
    const due = new Set(unstreamed);
    const isLate = isBehind();
    const isSomeQuiet = isLate || atMs - feed.leastLiveAtMs() > quietMs;
    // Spread over the whole time, however many were first read together.
    let toHeal = Math.ceil((followed.size * pollMs) / refreshMs) + 1;
    for (const entry of followed.values()) {
      const isOld = entry.readAtMs <= atMs - refreshMs && toHeal > 0;
      if (!isOld && !isSomeQuiet) break;
      if (!entry.streamed) continue;
      if (isOld) toHeal -= 1;
      if (isOld || isLate || atMs - feed.liveAtMs(entry.address) > quietMs) due.add(entry);
    }
    let toVerify = VERIFIED_PER_POLL;
    for (const [entry, usedAtMs] of inUse) {
      if (usedAtMs <= atMs - IN_USE_MS || !isFollowed(entry)) inUse.delete(entry);
      else if (entry.streamed && entry.readAtMs <= atMs - verifyMs && toVerify > 0 && !due.has(entry)) {
        toVerify -= 1;
        due.add(entry);
        // Whoever was not verified in this poll goes first in the next.
        inUse.delete(entry);
        inUse.set(entry, usedAtMs);
      }
    }
    if (due.size > 0) void readDue([...due]);
  }

  async function readDue(due: readonly Followed[]): Promise<void> {
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

  /** Between polls: what has just come to depend on reads is not left until the next one. */
  function pollIfUrgent(): void {
    const isStreamLate = lagMs() > quietMs;
    const isQuiet = isStreamLate || now() - feed.leastLiveAtMs() > quietMs;
    const isNews = urgent || (isQuiet && !wasQuiet);
    wasQuiet = isQuiet;
    // It speaks, and yet tells less than others do: a node that lags, or is wrong about its slot.
    if (lagMs() > 2 * quietMs && now() - feed.leastLiveAtMs() <= quietMs) doubtFeed();
    if (isNews && !polling) poll();
  }

  /** Not again and again: the next one has to come up, and everything to be followed there. */
  function doubtFeed(): void {
    if (now() < doubtedAtMs + DISTRUST_MS) return;
    doubtedAtMs = now();
    feed.doubt();
  }

  /** Reads a rolling sample without using it, to see whether what the stream told is what the chain holds. */
  async function takeSample(): Promise<void> {
    if (sampling) return;
    const streamed = [...followed.values()].filter((entry) => entry.streamed);
    if (streamed.length === 0) return;
    const first = sampledUpTo % streamed.length;
    const entries = [...streamed.slice(first), ...streamed.slice(0, first)].slice(0, auditSize);
    sampledUpTo = first + entries.length;
    sampling = true;
    try {
      const { slot: oldest, accounts } = await reader.fetchAccounts(entries.map(({ address }) => address));
      entries.forEach((entry, i) => {
        const account = accounts[i] ?? null;
        checks.push({ slot: account?.slot ?? oldest, entry, account, stamp: undefined });
      });
    } catch {
      // A node that cannot be reached is told of by the reads that matter.
    } finally {
      sampling = false;
    }
  }

  /** What the stream had told of the read's slot; undefined where that cannot be said. */
  function toldOf({ slot, entry, stamp }: Check): AccountVersion | undefined {
    if (!entry.streamed || !isFollowed(entry) || !tree.isOnChain(slot)) return undefined;
    // Read while another connection told, or none.
    if (entry.coveredFrom === undefined || slot <= entry.coveredFrom) return undefined;
    const known = versionAt(entry, slot, tree);
    // Within its own slot the read may have come before a change or after it, and a rooted past is not kept.
    if (known?.slot !== slot) return known;
    const isOwn = stamp !== undefined && known.epoch === stamp.epoch && known.order === stamp.order;
    return isOwn ? versionAt(entry, slot - 1n, tree) : undefined;
  }

  /** Compares reads with what is known of their slots, once the stream has had time to tell of all of them. */
  function compare(): void {
    if (checks.length === 0) return;
    const ripe: Check[] = [];
    const unripe: Check[] = [];
    for (const check of checks) (streamSlot < check.slot + CHECK_PATIENCE_SLOTS ? unripe : ripe).push(check);
    checks = unripe;
    const wrong = new Set<Followed>();
    for (const check of ripe) {
      const known = toldOf(check);
      if (known === undefined || wrong.has(check.entry)) continue;
      counts.audited += 1;
      if (hasSameContent(known.account, check.account)) continue;
      counts.auditDifferences += 1;
      wrong.add(check.entry);
    }
    if (wrong.size === 0) return;
    const [first] = wrong;
    warn(
      `The stream did not tell of changes in ${wrong.size} accounts, such as ${first!.address}; for ${DISTRUST_MS / 1_000} s everything followed is read.`,
    );
    distrustUntilMs = now() + DISTRUST_MS;
    for (const entry of followed.values()) doubt(entry);
    urgent = true;
    doubtFeed();
  }

  const pollTimer = setInterval(() => {
    compare();
    if (!polling) poll();
  }, pollMs);
  const urgencyTimer = setInterval(pollIfUrgent, pollMs / 4);
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
    use(addresses) {
      const atMs = now();
      for (const address of addresses) {
        const entry = followed.get(address);
        if (entry === undefined) continue;
        if (!inUse.has(entry) && entry.readAtMs < atMs - verifyMs) urgent = true;
        inUse.set(entry, atMs);
      }
    },
    refresh: (addresses) => read(addresses.flatMap((address) => followed.get(address) ?? [])),
    currentAtMs(address) {
      const entry = followed.get(address);
      if (entry === undefined) return 0;
      if (!entry.streamed) return entry.provenAtMs;
      noteHead();
      return Math.max(entry.provenAtMs, toldAtMs(entry));
    },
    counts: () => ({ accounts: followed.size, streamed: followed.size - unstreamed.size, ...counts }),
    spareVersions() {
      let spare = 0;
      for (const { versions } of followed.values()) spare += Math.max(0, versions.length - 1);
      return spare;
    },
    close() {
      clearInterval(pollTimer);
      clearInterval(urgencyTimer);
      clearInterval(auditTimer);
      feed.close();
      followed.clear();
      unstreamed.clear();
      inUse.clear();
      touched.clear();
    },
  };
}
