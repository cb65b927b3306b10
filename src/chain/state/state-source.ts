import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { AccountReader, StateSource } from "../port.ts";
import type { AccountFeed } from "./account-feed.ts";
import { type FollowedAccount, FollowedAccounts } from "./followed-accounts.ts";
import { createFollowedReads } from "./followed-reads.ts";
import { createReadPlan } from "./read-plan.ts";
import { SlotTree } from "./slot-tree.ts";
import { createStateCounters, type StateCounts } from "./state-counts.ts";
import { createStreamAudit } from "./stream-audit.ts";
import { StreamProgress } from "./stream-progress.ts";

export interface LiveStateSource extends StateSource {
  /** What has happened since the start; and now, how many accounts are followed, and how many of them the stream covers. */
  counts(): StateCounts & { readonly accounts: number; readonly streamed: number };
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

const DEFAULT_POLL_MS = 400;
const DEFAULT_REFRESH_MS = 10_000;
const DEFAULT_VERIFY_MS = 800;
const DEFAULT_QUIET_MS = 1_000;
const DEFAULT_MAX_LAG_SLOTS = 10n;
const DEFAULT_MAX_LEAD_SLOTS = 64n;
const DEFAULT_AUDIT_MS = 5_000;
const DEFAULT_AUDIT_SIZE = 100;
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
  const stream = new StreamProgress({ tree, now, headSlot, quietMs, maxLagSlots, maxLeadSlots });
  const followed = new FollowedAccounts(tree, now);
  const counters = createStateCounters();
  const audit = createStreamAudit({ reader, followed, tree, stream, counters, sampleSize: auditSize });
  const { begin, read } = createFollowedReads({ reader, feed, followed, tree, stream, audit, counters, now });
  const plan = createReadPlan({ followed, feed, stream, now, pollMs, refreshMs, verifyMs, quietMs });
  let polling = false;
  let failing = false;
  /** True until everything is read that has just come to depend on reads. */
  let urgent = false;
  let wasQuiet = false;
  let doubtedAtMs = Number.NEGATIVE_INFINITY;

  /** Slots have joined the chain or left it. */
  function turn(slots: readonly bigint[]): void {
    if (slots.length === 0) return;
    counters.forks += 1;
    followed.turn(slots);
  }

  /** Up to when the stream has told of everything that changed in the account, were it told of completely. */
  const toldAtMs = (entry: FollowedAccount) => Math.min(feed.liveAtMs(entry.address), stream.toldUpToMs());

  function uncover(entry: FollowedAccount): void {
    if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, toldAtMs(entry));
    entry.coveredFrom = undefined;
    followed.doubt(entry);
    urgent = true;
  }

  feed.listen({
    onAccount({ address, account, slot, epoch, order }) {
      const entry = followed.get(address);
      if (entry === undefined) return;
      counters.notices += 1;
      if (stream.isFarAhead(slot)) {
        counters.disbelieved += 1;
        return;
      }
      followed.add(entry, { slot, epoch, order, account });
      // A notice is the whole state, and those that follow it are all told of: as good as a read.
      if (entry.coveredFrom !== undefined && slot >= entry.coveredFrom && tree.isOnChain(slot)) followed.trust(entry);
    },
    onSlot(slot, parent) {
      if (stream.isFarAheadOfOthers(slot)) {
        counters.disbelieved += 1;
        return;
      }
      const beforeMs = stream.heardAtMs;
      const toldUpTo = stream.toldUpToMs();
      const { turned, isGap } = tree.begin(slot, parent);
      stream.hear(slot);
      turn(turned);
      if (!isGap) return;
      counters.gaps += 1;
      warn(`The stream of slots has a gap before slot ${slot}; everything followed is read again.`);
      urgent = true;
      for (const entry of followed.values()) {
        const aliveAtMs = Math.min(feed.liveAtMs(entry.address), beforeMs, toldUpTo);
        if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, aliveAtMs);
        if (entry.coveredFrom !== undefined) entry.coveredFrom = slot;
        followed.doubt(entry);
      }
    },
    onDead: (slot) => turn(tree.kill(slot)),
    onReplaced(slot, addresses) {
      counters.forks += 1;
      followed.discard(slot, addresses);
    },
    onConfirmed: (slot) => turn(tree.confirm(slot)),
    onRoot(slot) {
      if (slot <= tree.root || slot > tree.head) return;
      followed.settle(slot);
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

  function poll(): void {
    urgent = false;
    const due = plan.due();
    if (due.length > 0) void readDue(due);
  }

  async function readDue(due: readonly FollowedAccount[]): Promise<void> {
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
    const lagMs = stream.lagMs();
    const isFeedQuiet = now() - feed.leastLiveAtMs() > quietMs;
    const isQuiet = lagMs > quietMs || isFeedQuiet;
    const isNews = urgent || (isQuiet && !wasQuiet);
    wasQuiet = isQuiet;
    // It speaks, and yet tells less than others do: a node that lags, or is wrong about its slot.
    if (lagMs > 2 * quietMs && !isFeedQuiet) doubtFeed();
    if (isNews && !polling) poll();
  }

  /** Not again and again: the next one has to come up, and everything to be followed there. */
  function doubtFeed(): void {
    if (now() < doubtedAtMs + DISTRUST_MS) return;
    doubtedAtMs = now();
    feed.doubt();
  }

  function compare(): void {
    const wrong = audit.compare();
    if (wrong.size === 0) return;
    const [first] = wrong;
    warn(
      `The stream did not tell of changes in ${wrong.size} accounts, such as ${first!.address}; for ${DISTRUST_MS / 1_000} s everything followed is read.`,
    );
    followed.distrustUntil(now() + DISTRUST_MS);
    urgent = true;
    doubtFeed();
  }

  const pollTimer = setInterval(() => {
    compare();
    if (!polling) poll();
  }, pollMs);
  const urgencyTimer = setInterval(pollIfUrgent, pollMs / 4);
  const auditTimer = setInterval(() => void audit.takeSample(), auditMs);

  return {
    onAccount(heard) {
      followed.listener = heard;
    },
    async follow(addresses, known) {
      const added = addresses.filter((address) => followed.get(address) === undefined);
      for (const address of added) followed.start(address);
      feed.follow(added);
      if (known !== undefined) for (const address of added) begin(followed.get(address)!, known.get(address));
      await read(addresses.map((address) => followed.get(address)!).filter(({ delivered }) => delivered === undefined));
    },
    unfollow(addresses) {
      const gone: Address[] = [];
      for (const address of addresses) {
        const entry = followed.get(address);
        if (entry === undefined) continue;
        followed.stop(entry);
        gone.push(address);
      }
      feed.unfollow(gone);
    },
    use(addresses) {
      const atMs = now();
      for (const address of addresses) {
        const entry = followed.get(address);
        if (entry !== undefined && plan.use(entry, atMs)) urgent = true;
      }
    },
    refresh: (addresses) => read(addresses.flatMap((address) => followed.get(address) ?? [])),
    currentAtMs(address) {
      const entry = followed.get(address);
      if (entry === undefined) return 0;
      if (!entry.streamed) return entry.provenAtMs;
      stream.noteHead();
      return Math.max(entry.provenAtMs, toldAtMs(entry));
    },
    counts: () => ({
      accounts: followed.size,
      streamed: followed.size - followed.unstreamed.size,
      ...counters,
    }),
    spareVersions: () => followed.spareVersions(),
    close() {
      clearInterval(pollTimer);
      clearInterval(urgencyTimer);
      clearInterval(auditTimer);
      feed.close();
      followed.clear();
      plan.clear();
    },
  };
}
