import type { Address } from "../../../primitives/address.ts";
import type { Now } from "../../../primitives/clock.ts";
import { RunningTime } from "../../../primitives/turns/running-time.ts";
import type { AccountNotice } from "../account-feed.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { FollowedReads } from "../reads/followed-reads.ts";
import type { SlotTree } from "../slots/slot-tree.ts";
import type { StateCounters } from "../state-counts.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import { type AccountObservations, agreedBy, type Relation, type Statement } from "./account-observations.ts";
import { CallBudget } from "./call-budget.ts";
import { ComparedAccounts } from "./compared-accounts.ts";
import { ComparedStreams } from "./compared-streams.ts";
import type { DoubtedAccounts } from "./doubted-accounts.ts";
import { StreamVerdicts } from "./stream-verdicts.ts";
import { type StateWitness, WitnessNodes } from "./witness-nodes.ts";
import type { WitnessSource } from "./witness-stream.ts";

interface NodeComparisonOptions {
  readonly witnesses: readonly StateWitness[];
  /** Nodes whose streams can be compared with the one that is followed, and the host of that one if it is one of them. */
  readonly streams: readonly WitnessSource[];
  readonly followedHost: () => string | undefined;
  /** Calls per second, over all nodes. 0: nothing is compared. */
  readonly callsPerSecond: number;
  readonly followed: FollowedAccounts;
  readonly reads: Pick<FollowedReads, "accept" | "replace">;
  readonly doubted: DoubtedAccounts;
  /** True if the stream reports every change, not only the state at the end of a slot. */
  readonly isComplete: boolean;
  /** True while nothing that the stream reports counts, because it was found wrong. */
  readonly isSuspended: () => boolean;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly counters: StateCounters;
  readonly now: Now;
  /** How often `tick` is called. Milliseconds. */
  readonly tickMs: number;
  /** 0 ≤ result ≤ 1: when the next round comes. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** The nodes agree on states that the stream has not reported. */
  readonly onWrongStream: () => void;
}

/** Disagreement that cannot be decided stops builds after this long and this many rounds. */
const OPEN_MS = 1_200;
const OPEN_ROUNDS = 3;
/** How late a tick may be, in ticks: if it is later, the process stood still, and what it waits for may already have arrived. */
const LONGEST_TICKS = 1.5;
/** Pause between two lines in the log about contradictions. Milliseconds. */
const WARN_EVERY_MS = 10_000;

/**
 * Compares what the nodes say about the accounts that trades are built on, so that no single node's word prices a trade for long. A node
 * cannot be asked about a past slot, so each answer is compared with the state known for its slot, between the change before it and the
 * next. The majority's state is adopted. If two contradict each other, the account is contested, and nothing is built on it until a further
 * node or later answers settle it.
 */
export class NodeComparison {
  readonly #options: NodeComparisonOptions;
  readonly #clock: Now;
  readonly #time: RunningTime;
  readonly #nodes: WitnessNodes;
  readonly #budget: CallBudget;
  readonly #accounts: ComparedAccounts;
  readonly #verdicts: StreamVerdicts;
  readonly #streams: ComparedStreams;
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodeComparisonOptions) {
    this.#clock = options.now;
    this.#time = new RunningTime(options.now, LONGEST_TICKS * options.tickMs);
    const { now } = this.#time;
    this.#options = { ...options, now };
    this.#nodes = new WitnessNodes(options.witnesses, now, options.warn);
    this.#budget = new CallBudget(options.callsPerSecond, now);
    this.#accounts = new ComparedAccounts({
      ...{ followed: options.followed, isComplete: options.isComplete, now, random: options.random },
      onForgotten: (observations) => this.#streams.unfollow(observations),
    });
    this.#verdicts = new StreamVerdicts({
      ...this.#options,
      warn: (message) => this.#warn(message),
      needed: () => this.#neededToBlame(),
    });
    this.#streams = new ComparedStreams({
      ...{ sources: options.streams, followedHost: options.followedHost },
      ...{ tree: options.tree, stream: options.stream, now, warn: options.warn },
      needed: () => this.#neededToBlame(),
      onContradiction: (observations, slot) => this.#readInstead(observations, slot),
    });
  }

  /** True if there is more than one node, and a budget to ask them. */
  get isOn(): boolean {
    return this.#nodes.size > 1 && this.#options.callsPerSecond > 0;
  }

  /** Accounts that nothing may be built on now: the nodes contradict each other. */
  get contested(): ReadonlySet<Address> {
    return this.#accounts.contested;
  }

  /** How long the account in use that was compared longest ago has waited. Milliseconds. */
  oldestMs(): number {
    return this.#accounts.oldestMs();
  }

  /** A trade is about to be built on the account. */
  use(entry: FollowedAccount): void {
    if (this.isOn) this.#accounts.use(entry);
  }

  /** The stream reports a change. */
  noteChange(entry: FollowedAccount, notice: AccountNotice): void {
    const observations = this.#accounts.get(entry);
    if (observations === undefined) return;
    observations.streamRecord.note(notice.slot, notice.account);
    this.#streams.note(notice);
  }

  /** The bank of the slot was replaced. */
  noteReplaced(slot: bigint): void {
    this.#verdicts.noteReplaced(slot);
    this.#streams.noteReplaced(slot);
  }

  /** A read differs from the stream: the nodes decide. */
  suspect(entry: FollowedAccount): void {
    this.#accounts.open(entry);
  }

  /** Asks the nodes about due accounts, and decides what can be decided by now. Called several times a second. */
  tick(): void {
    if (!this.isOn) return;
    this.#time.turn();
    this.#verdicts.tick();
    this.#streams.tick();
    for (const observations of this.#accounts.nextOpen()) this.#judge(observations);
    for (let batch = this.#accounts.due(); batch.length > 0; batch = this.#accounts.due()) {
      const nodes = this.#nodes.free();
      if (nodes.length < 2 || !this.#budget.take(nodes.length)) return;
      this.#ask(nodes, batch);
    }
  }

  clear(): void {
    this.#verdicts.clear();
    this.#streams.clear();
    this.#accounts.clear();
  }

  #ask(nodes: readonly number[], batch: readonly AccountObservations[]): void {
    const { now, counters } = this.#options;
    const sentAtMs = this.#clock();
    for (const observations of this.#accounts.beginRound(batch)) this.#streams.follow(observations);
    counters.compared += batch.length;
    const addresses = batch.map(({ entry }) => entry.address);
    for (const node of nodes)
      void this.#nodes.ask(node, addresses).then((answer) => {
        if (answer === undefined) return;
        const receivedAtMs = now();
        batch.forEach((observations, i) => {
          const account = answer.accounts[i] ?? null;
          const slot = account?.slot ?? answer.slot;
          this.#receive(observations, { node, slot, account, sentAtMs, receivedAtMs });
        });
      });
  }

  #receive(observations: AccountObservations, statement: Statement): void {
    const { followed, stream, counters } = this.#options;
    if (!followed.has(observations.entry)) return;
    if (stream.isFarAhead(statement.slot)) {
      counters.disbelieved += 1;
      return;
    }
    observations.add(statement);
    this.#checkStream(observations, statement);
    this.#judge(observations);
  }

  /**
   * Nodes that are slots apart never agree at one moment on an account that changes. About a slot that each has passed they do, which shows
   * what the stream should have reported for it.
   */
  #checkStream(observations: AccountObservations, statement: Statement): void {
    const { entry } = observations;
    if (entry.delivered === undefined || !this.#nodes.counts(statement.node)) return;
    const agreeing = observations.agreeingOn(statement).filter(({ node }) => this.#nodes.counts(node));
    const needed = this.#neededToBlame();
    if (agreeing.length < needed) {
      this.#verdicts.noteClaim(observations, statement);
      return;
    }
    if (this.#verdicts.check(observations, agreeing, needed)) this.#verdicts.blame(entry, agreeing.length);
  }

  /** Neither a single node's word nor a minority's counts against the stream. */
  #neededToBlame(): number {
    return Math.max(2, this.#nodes.needed());
  }

  /** Decides what the last statements of the nodes mean for the account. */
  #judge(observations: AccountObservations): void {
    const { tree, stream, now } = this.#options;
    const { entry } = observations;
    if (entry.delivered === undefined) return;
    const atMs = now();
    const all = observations.latest(atMs);
    const statements = all.filter(({ node }) => this.#nodes.counts(node));
    if (statements.length === 0) return;
    const trusted = statements.find(({ node }) => this.#nodes.isTrusted(node));
    const agreed = trusted === undefined ? agreedBy(statements, this.#nodes.needed()) : [trusted];
    if (agreed !== undefined) {
      this.#followAgreed(observations, agreed, all);
      return;
    }
    const relations = statements.map((one) => observations.relationOf(one, { tree, stream, atMs }));
    const against = relations.indexOf("differs");
    const [first] = statements;
    const contradicting = statements.find(
      (other) => other !== first && observations.isContradicted(first!, other, tree),
    );
    if (against >= 0) this.#contest(observations, statements[against]!);
    else if (contradicting !== undefined) this.#contest(observations, contradicting);
    else if (this.#isExplained(observations, statements, relations)) this.#accounts.settle(observations);
    else this.#leaveOpen(observations, statements[Math.max(0, relations.indexOf("open"))]!);
  }

  /**
   * The streams of two nodes contradict each other about a slot, so one of them lies: the state on which both agreed before holds until the
   * account has been read, and reads decide from then on.
   */
  #readInstead(observations: AccountObservations, slot: bigint): void {
    const { followed, stream, doubted, counters } = this.#options;
    const { entry } = observations;
    const isNew = !entry.isDoubted;
    if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, stream.begunAtMs(slot));
    doubted.begin(entry);
    if (!isNew) return;
    followed.dropStreamed(entry, slot);
    counters.contradicted += 1;
    const { address, delivered } = entry;
    this.#warn(
      `The stream and the WebSocket of ${this.#streams.host} contradict each other about account ${address}, which is read instead.`,
    );
    this.#accounts.hold(observations);
    // At once.
    observations.askedAtMs = Number.NEGATIVE_INFINITY;
    if (delivered?.isStreamed === true && delivered.slot >= slot) this.#accounts.contest(observations);
  }

  /** True if the known state explains what every node says, and the nodes have recently agreed. */
  #isExplained(
    observations: AccountObservations,
    statements: readonly Statement[],
    relations: readonly Relation[],
  ): boolean {
    if (!relations.every((relation) => relation === "same" || relation === "old")) return false;
    if (!relations.includes("same")) return false;
    const nodes = statements.map(({ node }) => node);
    return nodes.length < 2 || observations.isShared(nodes, this.#options.now());
  }

  /** Most nodes agree: their state is adopted, unless the known state is newer than theirs. */
  #followAgreed(
    observations: AccountObservations,
    agreed: readonly Statement[],
    statements: readonly Statement[],
  ): void {
    const { tree, stream, now, reads, isComplete } = this.#options;
    const { entry, streamRecord } = observations;
    const newest = agreed[0]!;
    const context = { tree, stream, atMs: now() };
    const needed = this.#nodes.isTrusted(newest.node) ? 1 : this.#neededToBlame();
    const isStreamWrong = agreed.length >= needed && this.#verdicts.check(observations, agreed, needed);
    const differing = agreed.filter((one) => observations.relationOf(one, context) === "differs").length;
    const isWrong = differing > 0;
    if (isWrong || isStreamWrong) this.#options.counters.contradicted += 1;
    const isBlamed = (isComplete ? differing >= needed : isWrong) && entry.delivered!.isStreamed === true;
    if (isStreamWrong || isBlamed) this.#verdicts.blame(entry, agreed.length);
    const isOpenTooLong = this.#isOpenTooLong(observations);
    // If the stream's complete record explains the statements, the stream is right: nodes may answer from within slots.
    const isUnexplained = isOpenTooLong && (!isComplete || streamRecord.wrong > 0);
    if (isUnexplained && entry.delivered!.isStreamed === true) this.#verdicts.doubt(entry);
    const isVoid = (entry.isDoubted || isStreamWrong) && entry.delivered!.isStreamed === true;
    // Of the slots that they name, only the oldest is certain: a later one may be a lie, and would hide what the stream reports in between.
    if (newest.slot > entry.delivered!.slot) reads.accept(entry, isComplete ? agreed.at(-1)! : newest);
    // A read is newer than an earlier agreement of the nodes and is not replaced by it.
    else if (isWrong || isVoid || isOpenTooLong) reads.replace(entry, newest);
    if (observations.relationOf(newest, context) !== "same") {
      this.#leaveOpen(observations, newest);
      return;
    }
    const nodes = agreed.map(({ node }) => node);
    for (const other of statements) {
      if (agreed.includes(other)) continue;
      const isElsewhere = this.#isStreamElsewhere(other.node);
      if (!observations.isOutvoted(other.node, nodes, needed, context, isElsewhere)) continue;
      this.#nodes.setAside(other.node, `its state of account ${entry.address} at slot ${other.slot} differs`);
    }
    this.#accounts.settle(observations);
    if (streamRecord.wrong > 0 || entry.isDoubted) this.#accounts.hold(observations);
  }

  /** True if the followed stream comes from another host than the node's, whatever the ports. */
  #isStreamElsewhere(node: number): boolean {
    const host = this.#options.followedHost();
    return host !== undefined && withoutPort(host) !== withoutPort(this.#nodes.nameOf(node));
  }

  #leaveOpen(observations: AccountObservations, other: Statement): void {
    const atMs = this.#options.now();
    observations.openSinceMs ??= atMs;
    this.#accounts.hold(observations);
    if (this.#isOpenTooLong(observations)) this.#contest(observations, other);
  }

  #isOpenTooLong({ openSinceMs, openRounds }: AccountObservations): boolean {
    return openSinceMs !== undefined && this.#options.now() - openSinceMs >= OPEN_MS && openRounds >= OPEN_ROUNDS;
  }

  #contest(observations: AccountObservations, other: Statement): void {
    if (!this.#accounts.contest(observations)) return;
    this.#options.counters.contradicted += 1;
    this.#warn(
      `The Solana node ${this.#nodes.nameOf(other.node)} contradicts the known state of account ${observations.entry.address} at slot ${other.slot}; nothing is built on it until the nodes agree.`,
    );
  }

  #warn(message: string): void {
    const atMs = this.#options.now();
    if (atMs - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = atMs;
    this.#options.warn(message);
  }
}

const withoutPort = (host: string): string => host.replace(/:\d+$/, "");
