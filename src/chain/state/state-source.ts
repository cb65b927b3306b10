import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { minOf } from "../../primitives/integer.ts";
import type { AccountReader, FollowedRecord, KnownAccount, StateSource } from "../port.ts";
import type { AccountFeed, AccountNotice, FeedListener } from "./account-feed.ts";
import { DoubtedAccounts } from "./compare/doubted-accounts.ts";
import { isGone } from "./compare/gone-account.ts";
import { NodeComparison } from "./compare/node-comparison.ts";
import type { StateWitness } from "./compare/witness-nodes.ts";
import type { WitnessSource } from "./compare/witness-stream.ts";
import type { FollowedAccount, Standing } from "./followed-account.ts";
import { FollowedAccounts } from "./followed-accounts.ts";
import { AgreedReads } from "./reads/agreed-reads.ts";
import { AwaitedWrites } from "./reads/awaited-writes.ts";
import { FollowedReads } from "./reads/followed-reads.ts";
import { Polls } from "./reads/polls.ts";
import { ReadPlan } from "./reads/read-plan.ts";
import { SlotTree } from "./slots/slot-tree.ts";
import { createStateCounters, type StateCounts } from "./state-counts.ts";
import { StreamAudit } from "./stream/stream-audit.ts";
import { StreamProgress } from "./stream/stream-progress.ts";
import { StreamSuspension } from "./stream/stream-suspension.ts";
import { StreamTrust } from "./stream/stream-trust.ts";

/** A source of account state until closed, with its counts. */
export interface LiveStateSource extends StateSource {
  /** Events since the start; and now, how many accounts are followed, how many of them are streamed, and how many contested. */
  counts(): StateCounts & { readonly accounts: number; readonly streamed: number; readonly contested: number };
  /** Time since the nodes were last asked about the account in use that has waited longest. Milliseconds. */
  comparedAgoMs(): number;
  /** Versions held besides the newest of each account; walks all of them. */
  spareVersions(): number;
}

/** What any source of account state is made of: reads, a feed of changes, and what tells whether these are right. */
export interface StateSourceOptions {
  readonly reader: AccountReader;
  readonly feed: AccountFeed;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** The newest slot known from other sources: a stream far behind it is not relied on. */
  readonly headSlot?: () => bigint;
  /** The slot that at least two of three or more nodes have reached; undefined with fewer nodes: any one then moves the newest slot. */
  readonly slotByNodes?: () => bigint | undefined;
  /** How often accounts that no stream covers are read. */
  readonly pollMs?: number;
  /** How often even a streamed account is re-read, to heal what a stream has lost. */
  readonly refreshMs?: number;
  /** How often accounts that trades are built on are re-read: bounds the age of a change that the stream lost. */
  readonly verifyMs?: number;
  /** Silence after which the stream is considered stale and everything is read. */
  readonly quietMs?: number;
  /** Slots behind the newest known at which a read closes no gap, and a stream is not relied on. */
  readonly maxLagSlots?: bigint;
  /** Slots ahead of everything known at which a read or notice is discarded. */
  readonly maxLeadSlots?: bigint;
  /** The nodes, each to be read by itself; with fewer than two nothing is compared between them. */
  readonly witnesses?: readonly StateWitness[];
  /** Nodes whose streams can be compared with the one that is followed. */
  readonly witnessStreams?: readonly WitnessSource[];
  /** Host of the stream that is followed, if it is one of them. */
  readonly followedHost?: () => string | undefined;
  /** Upper bound of calls per second, over all nodes, for that comparison. */
  readonly comparisonsPerSecond?: number;
  /** 0 ≤ result < 1: draws when the nodes are compared next to a stream that reports every change; absent: always the longest time. */
  readonly random?: () => number;
  /** How often a sample of accounts is compared with the chain. Milliseconds. */
  readonly auditMs?: number;
}

const DEFAULT_POLL_MS = 400;
const DEFAULT_REFRESH_MS = 10_000;
const DEFAULT_VERIFY_MS = 800;
const DEFAULT_QUIET_MS = 1_000;
const DEFAULT_MAX_LAG_SLOTS = 10n;
const DEFAULT_MAX_LEAD_SLOTS = 64n;
const DEFAULT_COMPARISONS_PER_SECOND = 40;
const DEFAULT_AUDIT_MS = 5_000;
/** Accounts compared with the chain at a time. */
const SAMPLE_SIZE = 100;
/**
 * Follows accounts by a stream of changes, with reads to start from, to bridge lost connections, and to heal.
 *
 * The stream is subscribed to first. An account counts as streamed only after a read from a slot later than the beginning of
 * the stream, so that no change falls between the two. Versions are kept slot by slot until rooted: when the chain turns to
 * another branch, each account falls back to its newest version there, and one without any is unknown until read again.
 * A missing slot makes every account depend on reads until it has been read, and so does a change the stream did not report.
 *
 * State is as old as its slot: it is current up to the moment when any source first reported a newer slot.
 */
export function createStateSource(options: StateSourceOptions): LiveStateSource {
  return new StreamedStateSource(options);
}

class StreamedStateSource implements LiveStateSource {
  readonly #feed: AccountFeed;
  readonly #now: Now;
  readonly #warn: (message: string) => void;
  readonly #tree = new SlotTree();
  readonly #stream: StreamProgress;
  readonly #followed: FollowedAccounts;
  readonly #counters = createStateCounters();
  readonly #suspension: StreamSuspension;
  readonly #doubted: DoubtedAccounts;
  readonly #reads: FollowedReads;
  readonly #writes: AwaitedWrites;
  readonly #plan: ReadPlan;
  readonly #polls: Polls;
  readonly #trust: StreamTrust;
  readonly #comparison: NodeComparison;
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(options: StateSourceOptions) {
    const { reader, feed, now, warn, headSlot = () => 0n, slotByNodes = () => undefined } = options;
    const { pollMs = DEFAULT_POLL_MS, auditMs = DEFAULT_AUDIT_MS, quietMs = DEFAULT_QUIET_MS } = options;
    const { refreshMs = DEFAULT_REFRESH_MS, verifyMs = DEFAULT_VERIFY_MS } = options;
    const { maxLagSlots = DEFAULT_MAX_LAG_SLOTS, maxLeadSlots = DEFAULT_MAX_LEAD_SLOTS } = options;
    this.#feed = feed;
    this.#now = now;
    this.#warn = warn;
    const tree = this.#tree;
    const counters = this.#counters;
    const stream = new StreamProgress({ tree, now, headSlot, slotByNodes, quietMs, maxLagSlots, maxLeadSlots });
    // What a stream repeats, or catches up with, has not begun only now.
    const begunAtMs = (slot: bigint, address: Address) => Math.min(stream.begunAtMs(slot), feed.liveAtMs(address));
    const followed = new FollowedAccounts(tree, now, feed.reportsEveryChange, begunAtMs);
    const audit = new StreamAudit({ reader, followed, tree, stream, counters, sampleSize: SAMPLE_SIZE });
    this.#stream = stream;
    this.#followed = followed;
    this.#doubted = new DoubtedAccounts({ followed, stream, now });
    const suspension = new StreamSuspension({ followed, stream, now, warn });
    this.#suspension = suspension;
    const onDifference = (entry: FollowedAccount) => this.#comparison.suspect(entry);
    this.#reads = new FollowedReads({
      ...{ reader, feed, followed, tree, stream, audit, suspension, counters, now, onDifference },
      isCompared: () => this.#comparison.isOn,
    });
    const { witnesses = [], witnessStreams: streams = [], followedHost = () => undefined, random = () => 1 } = options;
    const { comparisonsPerSecond: callsPerSecond = DEFAULT_COMPARISONS_PER_SECOND } = options;
    const onWrongStream = () => this.#trust.leave();
    const tickMs = pollMs / 4;
    this.#comparison = new NodeComparison({
      ...{ witnesses, callsPerSecond, followed, reads: this.#reads, tree, stream, counters, now, warn, onWrongStream },
      ...{ tickMs, random, streams, followedHost },
      ...{ doubted: this.#doubted, isComplete: feed.reportsEveryChange, isSuspended: () => suspension.isOn },
    });
    // If nodes are compared, that verifies an account in use better than one more read.
    const isCompared = this.#comparison.isOn;
    const agreed = isCompared ? new AgreedReads({ witnesses, followed, reads: this.#reads, stream, now }) : undefined;
    this.#writes = new AwaitedWrites({ followed, feed, stream, reads: this.#reads, now, agreed });
    const verifyInUseMs = isCompared ? Number.POSITIVE_INFINITY : verifyMs;
    this.#plan = new ReadPlan({ followed, feed, stream, now, pollMs, refreshMs, verifyMs: verifyInUseMs, quietMs });
    this.#polls = new Polls({ plan: this.#plan, reads: this.#reads, stream, feed, now, warn, quietMs, isCompared });
    const onUrgent = () => this.#polls.hurry();
    this.#trust = new StreamTrust({ feed, followed, stream, audit, suspension, now, warn, quietMs, onUrgent });
    feed.listen(this.#feedListener());
    this.#timers = [
      setInterval(() => this.#tick(), pollMs),
      setInterval(() => this.#tickBetween(), tickMs),
      setInterval(() => this.#comparison.tick(), tickMs),
      ...(isCompared ? [] : [setInterval(() => void audit.takeSample(), auditMs)]),
    ];
  }

  onAccount(listener: Parameters<StateSource["onAccount"]>[0]): void {
    this.#followed.listener = listener;
  }

  async follow(addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void> {
    const followed = this.#followed;
    const added = addresses.filter((address) => followed.get(address) === undefined);
    for (const address of added) this.#writes.begin(followed.start(address));
    this.#feed.follow(added);
    if (known !== undefined) for (const address of added) this.#reads.begin(followed.get(address)!, known.get(address));
    const entries = addresses.map((address) => followed.get(address)!);
    await this.#reads.read(entries.filter(({ delivered }) => delivered === undefined));
  }

  unfollow(addresses: readonly Address[]): void {
    const gone = this.#entriesOf(addresses);
    for (const entry of gone) this.#followed.stop(entry);
    this.#feed.unfollow(gone.map(({ address }) => address));
  }

  use(addresses: Iterable<Address>): void {
    const atMs = this.#now();
    for (const address of addresses) {
      const entry = this.#followed.get(address);
      if (entry === undefined) continue;
      this.#comparison.use(entry);
      if (this.#plan.use(entry, atMs)) this.#polls.hurry();
    }
  }

  contested(): ReadonlySet<Address> {
    return this.#comparison.contested;
  }

  comparedAgoMs(): number {
    return this.#comparison.oldestMs();
  }

  refresh(addresses: readonly Address[]): Promise<void> {
    return this.#reads.read(this.#entriesOf(addresses));
  }

  noteWritten(addresses: readonly Address[], slot: bigint): void {
    this.#writes.note(addresses, slot);
  }

  catchUp(addresses: readonly Address[]): Promise<void> | undefined {
    return this.#writes.catchUp(addresses);
  }

  recordOf(address: Address): FollowedAccount | undefined {
    return this.#followed.get(address);
  }

  /** @param record as `recordOf` answered */
  currentAtMs(address: Address, record?: FollowedRecord, enoughMs = Number.POSITIVE_INFINITY): number {
    const entry = (record as FollowedAccount | undefined) ?? this.#followed.get(address);
    if (entry === undefined || this.#writes.isBehind(entry)) return 0;
    if (!entry.streamed) return entry.provenAtMs;
    this.#stream.noteHead();
    const upToMs = this.#streamedUpToMs(entry);
    return upToMs >= enoughMs ? upToMs : Math.max(entry.provenAtMs, upToMs);
  }

  get setbacks(): number {
    return this.#followed.setbacks;
  }

  counts(): StateCounts & { readonly accounts: number; readonly streamed: number; readonly contested: number } {
    const accounts = this.#followed.size;
    const contested = this.#comparison.contested.size;
    return { accounts, streamed: accounts - this.#followed.unstreamed.size, contested, ...this.#counters };
  }

  spareVersions(): number {
    return this.#followed.spareVersions();
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#feed.close();
    this.#followed.clear();
    this.#writes.clear();
    this.#plan.clear();
    this.#comparison.clear();
    this.#doubted.clear();
  }

  #entriesOf(addresses: readonly Address[]): readonly FollowedAccount[] {
    return addresses.flatMap((address) => this.#followed.get(address) ?? []);
  }

  #feedListener(): FeedListener {
    const tree = this.#tree;
    return {
      onAccount: (notice) => this.#receiveAccount(notice),
      onSlot: (slot, parent) => this.#receiveSlot(slot, parent),
      onDead: (slot) => this.#turn(tree.kill(slot)),
      onReplaced: (slot, addresses) => {
        this.#counters.forks += 1;
        this.#comparison.noteReplaced(slot);
        this.#followed.discard(slot, addresses);
      },
      onConfirmed: (slot) => this.#turn(tree.confirm(slot)),
      onRoot: (slot) => {
        if (slot <= tree.root || slot > tree.head) return;
        tree.rootAt(slot);
        this.#followed.settle();
      },
      onCovered: (addresses, fromSlot) => {
        for (const address of addresses) {
          const entry = this.#followed.get(address);
          if (entry !== undefined) entry.coveredFrom = fromSlot;
        }
      },
      onUncovered: (addresses, fromSlot) => {
        if (addresses === undefined) this.#uncoverAll();
        else this.#uncover(addresses, fromSlot);
      },
      onRestart: () => {
        tree.restart();
        this.#stream.preferSlot(0n);
      },
    };
  }

  #receiveAccount(notice: AccountNotice): void {
    const { address, account, slot, epoch, order } = notice;
    const entry = this.#followed.get(address);
    if (entry === undefined) return;
    this.#counters.notices += 1;
    const isFarAhead = this.#stream.isFarAhead(slot);
    // Recorded even while the stream does not count, so that one that goes on lying stays untrusted.
    if (!isFarAhead) this.#comparison.noteChange(entry, notice);
    if (!isFarAhead && !this.#feed.reportsEveryChange) this.#stream.preferSlot(slot);
    if (isFarAhead || this.#suspension.isOn || entry.isDoubted || this.#trust.isFlooded()) {
      this.#counters.disbelieved += 1;
      if (isFarAhead) this.#disbelieve(entry, slot);
      return;
    }
    if (this.#comparison.isOn && entry.isLasting && isGone(entry.delivered?.account, account)) {
      this.#leaveToReads(entry, slot);
      this.#comparison.suspect(entry);
      return;
    }
    this.#followed.add(entry, { slot, epoch, order, account, isStreamed: true });
    // Most notices concern accounts that the stream already suffices for.
    if (entry.streamed) return;
    // A notice holds the whole state, and every later change is reported: as good as a read.
    const isCovered = entry.coveredFrom !== undefined && slot >= entry.coveredFrom;
    if (isCovered && this.#tree.isOnChain(slot)) this.#followed.trust(entry);
  }

  /** What the stream says of the account in this slot is discarded: it does not suffice until the account was read after that. */
  #leaveToReads(entry: FollowedAccount, slot: bigint): void {
    if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, this.#streamedUpToMs(entry));
    this.#followed.doubtUpTo(entry, slot);
    this.#polls.hurry();
  }

  /** The same of a slot far ahead. One that cannot exist is waited for no longer than any that can, and its stream is left. */
  #disbelieve(entry: FollowedAccount, slot: bigint): void {
    const furthest = this.#stream.furthestSlot();
    this.#leaveToReads(entry, minOf(slot, furthest));
    if (slot > furthest) this.#trust.doubt();
  }

  #receiveSlot(slot: bigint, parent: bigint): void {
    const stream = this.#stream;
    if (stream.isFarAheadOfOthers(slot)) {
      this.#counters.disbelieved += 1;
      stream.discard();
      // A stream that has named credible slots before falls behind, and is left for that reason.
      if (stream.slot === 0n) this.#trust.doubt();
      return;
    }
    const completeUpToMs = Math.min(stream.receivedAtMs, stream.completeUpToMs());
    const { root } = this.#tree;
    const { turned, isGap } = this.#tree.begin(slot, parent);
    if (this.#tree.root > root) this.#followed.settle();
    stream.receive(slot);
    // Even if no known slot changed branch: a missing slot may be on the chain now.
    this.#turn(turned);
    if (isGap) this.#bridgeGap(slot, completeUpToMs);
  }

  /** Slots before this one are missing: every account depends on reads until it has been read. */
  #bridgeGap(slot: bigint, completeUpToMs: number): void {
    this.#counters.gaps += 1;
    this.#warn(`The stream of slots has a gap before slot ${slot}; all followed accounts are read again.`);
    this.#polls.hurry();
    const liveAtMs = this.#feed.liveTimes();
    this.#followed.upset((standing, address) => {
      proveUpTo(standing, Math.min(liveAtMs(address), completeUpToMs));
      if (standing.coveredFrom !== undefined) standing.coveredFrom = slot;
    });
  }

  /** @param slots those known before that have joined the chain or left it */
  #turn(slots: readonly bigint[]): void {
    this.#stream.noteTurn();
    this.#followed.turn();
    if (slots.length === 0) return;
    this.#counters.forks += 1;
    // Accounts that changed in dropped versions may now depend on reads.
    this.#polls.hurry();
  }

  /** The accounts of one stream depend on reads: thousands in one turn, so values shared by all are computed once. */
  #uncover(addresses: readonly Address[], fromSlot: bigint | undefined): void {
    const [first] = addresses;
    if (first === undefined) return;
    const upToMs = this.#stream.completeUpToMs(this.#feed.liveAtMs(first));
    for (const address of addresses) {
      const entry = this.#followed.get(address);
      if (entry === undefined) continue;
      if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, upToMs);
      entry.coveredFrom = fromSlot;
      this.#followed.doubt(entry);
    }
    this.#polls.hurry();
  }

  #uncoverAll(): void {
    const liveAtMs = this.#feed.liveTimes();
    const completeUpToMs = this.#stream.completeUpToMs(this.#feed.leastLiveAtMs());
    this.#followed.upset((standing, address) => {
      proveUpTo(standing, Math.min(liveAtMs(address), completeUpToMs));
      standing.coveredFrom = undefined;
    });
    this.#stream.restart();
    this.#polls.hurry();
  }

  /** Up to when the stream's state of the account is complete, if it has missed no notice. */
  #streamedUpToMs(entry: FollowedAccount): number {
    return this.#stream.completeUpToMs(this.#feed.liveAtMs(entry.address));
  }

  #tick(): void {
    this.#suspension.tick();
    this.#doubted.tick();
    this.#trust.checkLosses();
    this.#writes.tick();
    this.#polls.poll();
  }

  /** Between polls: accounts that have just started to depend on reads do not wait for the next poll. */
  #tickBetween(): void {
    this.#trust.checkLag();
    this.#polls.pollIfUrgent();
  }
}

/** The stream no longer suffices, but its state was complete until then. */
function proveUpTo(standing: Standing, atMs: number): void {
  if (standing.streamed) standing.provenAtMs = Math.max(standing.provenAtMs, atMs);
  standing.streamed = false;
}
