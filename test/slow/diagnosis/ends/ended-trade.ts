import { randomFillSync } from "node:crypto";
import { vi } from "vitest";
import type { Submissions } from "../../../../src/accounts/port.ts";
import { createLanding } from "../../../../src/chain/landing/landing.ts";
import { STATUS_CACHE_BLOCKS } from "../../../../src/chain/landing/outcome/expiry.ts";
import { createNodeSender } from "../../../../src/chain/landing/sender.ts";
import { createRpcPool } from "../../../../src/chain/rpc/rpc-pool.ts";
import { Witnesses } from "../../../../src/chain/rpc/witnesses.ts";
import { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import { hex } from "../../../../src/primitives/bytes.ts";
import { createRandom, type Random } from "../../../../src/primitives/random.ts";
import { createTokenSealer, type TokenSealer } from "../../../../src/trade/build/token/submission-token.ts";
import { createSubmitter, type Submitter } from "../../../../src/trade/submit/submit-trade.ts";
import type { SubmittedTrade } from "../../../../src/trade/trade.ts";
import { fakeSubscriptions } from "../../../support/fake-chain.ts";
import { createMemorySubmissions, type MemorySubmissions } from "../../../support/memory-submissions.ts";
import { signedTrade, wallet } from "../lies/signed-trade.ts";
import { drawHonest, drawLiar, drawTruth, METHODS, type Moments, type Story } from "../lies/stories.ts";
import {
  type Fate,
  FINAL_AFTER,
  FIRST_HEIGHT,
  FIRST_SLOT,
  type Heights,
  SLOT_MS,
  type Told,
  ToldNode,
} from "../lies/told-node.ts";
import { EndJudge, type Undone } from "./end-judge.ts";
import { type Deviation, drawDeviations } from "./forked-nodes.ts";
import { ProcessTroubles } from "./process-troubles.ts";
import { ReplicatedDatabase } from "./replicated-database.ts";

/** Blocks in which the message can land. */
const LIFE = 150;
const MOST_SLOTS = 1_200;
const STEP_MS = 200;
/** Slots after the last in which it can land, within which all must know how it ended, whatever had failed. */
const KNOWN_WITHIN = FINAL_AFTER + 140;
/** After an outage of the database a process learns within this time what another one has written. Milliseconds. */
const LEARNT_MS = 10_000;
/** Slots for which a node that starts again is away: it loads a snapshot. */
const AWAY = [15, 60, 400, 700] as const;
/** After something was said first, how long a failover is likely. Milliseconds. */
const NEWS_MS = 1_500;
/** What an answer that names the end is read with. */
const READS: readonly string[] = ["bySignature", "standingOf", "byMessageHash"];
const RETRIED_MS = 1_000;
/** By how much clocks are wrong, or are set forward or back. Milliseconds. */
const SKEWS_MS = [-3_600_000, -20_000, 20_000, 3_600_000];
/** How long after a process has said how the trade ended it may still send it. Milliseconds. */
const SENT_UNTIL_MS = 100;
const FOREVER = new Promise<never>(() => {});
/** What a node says to a transaction that it has in a block, or whose blockhash it does not know yet. */
const SEND_ERRORS = ["AlreadyProcessed", "BlockhashNotFound"];
/** Pauses between the last looks: the first may have an undone end corrected, which the next ones see. Milliseconds. */
const LAST_LOOKS_MS = [12_000, 12_000, 5_000];
const PRINCIPAL = { accountId: "acc", keyId: "key", wallet: wallet.address };

/** What kind of troubles a case has. */
export type How = "together" | "apart" | "forked" | "failover";

/** How a case went: what was said that was false, or contradicts what was said before, and whether it was known at the end. */
export interface Verdict {
  readonly faults: readonly string[];
  readonly isDecided: boolean;
  /** Whether a process still reported an end at the last that was undone. */
  readonly isUncorrected: boolean;
}

/**
 * Submits one trade, under two signatures, to processes that die and others that take over, on one database whose answers may be lost, over
 * nodes that lag, forget, stop for ever and follow branches that are dropped, perhaps several behind one address; of three, one may lie. Blocks are skipped,
 * and a confirmed one may be undone: the network then continues from the block before it. Needs fake timers.
 *
 * @param how "apart": processes differ, each may stand still, or reach no database for a while; each has some of the nodes, which may show it
 * another branch; a standby that takes over has an earlier state of the database. "forked": nodes deviate from the chain. "failover": the
 * database has a standby that lacks what was written last as it takes over, and processes that use the old primary for a while.
 */
export async function runEnds(
  seed: number,
  log: (line: string) => void = () => {},
  how: How = "together",
): Promise<Verdict> {
  const run = new EndedTrade(seed, log, how);
  return await run.run();
}

/** Nodes that start again: the slots in which they are away, and of which they then have no blocks. */
interface Restart {
  readonly from: number;
  readonly until: number;
  readonly gap: readonly [number, number] | undefined;
}

interface Process {
  readonly name: string;
  readonly submitter: Submitter;
  readonly troubles: ProcessTroubles | undefined;
  kill(): void;
  /** Notes that it has said how the trade ended. */
  end(): void;
  readonly isDead: boolean;
}

class EndedTrade {
  readonly #random: Random;
  readonly #log: (line: string) => void;
  readonly #heights: Heights;
  readonly #last: number;
  readonly #truth: Fate;
  readonly #undone: Undone | undefined;
  readonly #stories: readonly Story[];
  readonly #signed: ReturnType<typeof signedTrade>;
  readonly #database: MemorySubmissions;
  readonly #sealer: TokenSealer;
  readonly #token: string;
  readonly #judge: EndJudge;
  readonly #submitted: number;
  /** How far the machine's clock is ahead, which processes on an embedded database share with it. Milliseconds. */
  #aheadMs = 0;
  /** True if the database has a clock of its own, and each process another one. */
  readonly #hasClocks: boolean;
  /** The slot from which every node answers again. */
  #answeredFrom = 0;
  #processes: Process[] = [];
  /** The slots from and up to which no process runs. */
  #idle: readonly [number, number] = [0, 0];
  #started = 0;
  /** Machines behind each address; each call is answered by one of them, some slots behind the others. */
  readonly #machines: number;
  readonly #liars: number;
  readonly #deviations: readonly Deviation[];
  /** Undefined: the database is one server. */
  readonly #replicated: ReplicatedDatabase | undefined;
  /** False in most worlds whose database fails over: a process that dies then may leave nobody who knows what the standby lacks. */
  readonly #hasKills: boolean;
  #submittedAtMs = Number.NEGATIVE_INFINITY;
  #diedAtMs = Number.NEGATIVE_INFINITY;
  /** What draws how processes differ; undefined: they do not. */
  readonly #apart: Random | undefined;
  /** False in most worlds of processes that differ: after it, one may be excused for ever for not knowing an end. */
  readonly #losesRecords: boolean;
  /** Restores the database as it was at a moment. */
  #restoreDatabase: (() => void) | undefined;
  /** When troubles end. Epoch milliseconds. */
  #troubledUntilMs = 0;

  constructor(seed: number, log: (line: string) => void, how: How) {
    const random = createRandom(seed);
    this.#random = random;
    this.#apart = how === "apart" ? createRandom(seed + 1) : undefined;
    const failover = how === "failover" ? createRandom(seed + 3) : undefined;
    const forked = how === "forked" ? createRandom(seed + 2) : undefined;
    this.#losesRecords = this.#apart?.chance(0.3) ?? true;
    const startMs = Date.now();
    this.#log = (line) => log(`${(Date.now() - startMs) / SLOT_MS} ${line}`);
    const skip = random.pick([0, 0.05, 0.3, 0.5]);
    // The height at the end of each slot.
    const heightOf: number[] = [FIRST_HEIGHT];
    for (let slot = 1; slot < MOST_SLOTS; slot++) heightOf.push(heightOf[slot - 1]! + (random.chance(skip) ? 0 : 1));
    const lastHeight = FIRST_HEIGHT + LIFE;
    const lastSlot = () => heightOf.findLastIndex((height) => height <= lastHeight);
    this.#submitted = Number(random.between(1n, random.chance(0.2) ? BigInt(lastSlot()) : 20n));
    const undone = random.chance(0.35) ? drawUndone(random, heightOf, this.#submitted, lastSlot()) : undefined;
    this.#undone = undone;
    const heightAt = (slot: number) =>
      slot < 0 ? FIRST_HEIGHT + slot : (heightOf[slot] ?? heightOf.at(-1)! + slot - MOST_SLOTS + 1);
    const isUndone = (slot: number) => undone !== undefined && slot >= undone.slot && slot < undone.until;
    this.#heights = {
      get slot() {
        return Math.floor((Date.now() - startMs) / SLOT_MS);
      },
      heightAt,
      finalAt(slot) {
        const at = slot - FINAL_AFTER;
        return isUndone(at) ? undone!.slot - 1 : at;
      },
      isUndone,
    };
    this.#last = lastSlot();
    const moments = { submitted: undone?.until ?? this.#submitted, last: this.#last };
    this.#truth = this.#drawEnd(moments);
    const nodes = random.pick([1, 2, 3]);
    const mayRestart = forked === undefined && random.chance(0.25);
    const restarted = mayRestart ? { ...this.#drawRestart(moments), isOne: random.chance(0.5) } : undefined;
    const forgetful = random.chance(0.4);
    const mayLie = nodes === 3 || (nodes === 2 && forked?.chance(0.5) === true);
    const liars = mayLie && restarted === undefined && random.chance(0.5) ? 1 : 0;
    this.#liars = liars;
    this.#stories = Array.from({ length: nodes }, (_, i) => {
      if (i < liars) return drawLiar(random, this.#truth, moments);
      const story = drawHonest(random, this.#truth, moments);
      const told = undone === undefined ? this.#withBranches(story) : this.#withUndone(story, undone);
      const searching = forgetful
        ? told.map((one) => ({ ...one, told: { ...one.told, searchesStatuses: false } }))
        : told;
      const lasting =
        restarted === undefined || (restarted.isOne && i > 0) ? searching : this.#withRestart(searching, restarted);
      return liars > 0 || i === 0 || forked !== undefined ? lasting : this.#withLasting(lasting, moments);
    });
    this.#deviations = forked !== undefined && liars === 0 ? drawDeviations(forked, nodes, this.#truth, moments) : [];
    for (const { node, from, until, change } of this.#deviations)
      this.#log(`node ${node} from ${from} until ${until}: ${JSON.stringify(change)}`);
    this.#machines = random.chance(0.25) ? 2 : 1;
    if (this.#machines > 1) this.#log("each address serves two machines");
    if (random.chance(0.3)) {
      const from = this.#submitted + (random.u32() % (this.#last + 40 - this.#submitted));
      this.#idle = [from, from + random.pick(AWAY)];
      this.#answeredFrom = Math.max(this.#answeredFrom, this.#idle[1]);
      this.#log(`no process from ${this.#idle}; nodes search statuses: ${!forgetful}`);
    }
    this.#signed = signedTrade(lastHeight);
    this.#hasClocks = random.chance(0.5);
    this.#replicated = failover && new ReplicatedDatabase(failover);
    this.#hasKills = failover === undefined || failover.chance(0.3);
    this.#database = createMemorySubmissions(() => Date.now() + (this.#hasClocks ? 0 : this.#aheadMs));
    const keys = [{ id: "k", secret: hex("07".repeat(32)), seals: true }];
    this.#sealer = createTokenSealer({ keys, genesisHash: "virtual", now: Date.now, fillRandom: randomFillSync });
    this.#token = this.#sealer.seal(this.#signed.sealed, PRINCIPAL.accountId);
    this.#judge = new EndJudge(this.#truth, this.#undone, this.#heights, this.#last, this.#log);
    const told = `truth ${JSON.stringify(this.#truth)}, undone ${JSON.stringify(this.#undone)}`;
    this.#log(
      `${nodes} nodes, ${liars} of them lies, skips ${skip}, submitted ${this.#submitted}, last ${this.#last}, ${told}`,
    );
  }

  /** The node may stand still or fall silent for ever, or refuse a method. */
  #withLasting(story: Story, { submitted, last }: Moments): Story {
    const random = this.#random;
    if (random.chance(0.6)) return story;
    const from = submitted + (random.u32() % (last + 60 - submitted));
    const change = random.pick<Partial<Told>>([
      { isSilent: true },
      { standsAt: from },
      { standsAt: -10 },
      { refused: random.pick(METHODS) },
    ]);
    this.#log(`from ${from} one node for ever: ${JSON.stringify(change)}`);
    const at = story.findLast((one) => one.from <= from)!.told;
    return [
      ...story.filter((one) => one.from <= from),
      { from, told: { ...at, ...change } },
      ...story.filter((one) => one.from > from).map((one) => ({ ...one, told: { ...one.told, ...change } })),
    ];
  }

  /** A trade lands in a slot that has a block. */
  #drawEnd(moments: Moments): Fate {
    const truth = drawTruth(this.#random, moments);
    if (truth.slot === undefined) return truth;
    const { heightAt } = this.#heights;
    const first = (this.#undone?.until ?? 0) + 1;
    let slot = Math.max(first, truth.slot);
    while (slot > first && heightAt(slot) === heightAt(slot - 1)) slot -= 1;
    return { ...truth, slot };
  }

  /** The node has the trade in the block that is undone, until the network starts again. */
  #withUndone(story: Story, undone: Undone): Story {
    const until = undone.until + (this.#random.u32() % 3);
    const { slot, error, moreFee, moreOutput } = undone;
    const fate = { slot, error, form: 0 as const, moreFee, moreOutput };
    const before = story.filter(({ from }) => from < until);
    return [
      ...before.map(({ from, told }) => ({ from, told: { ...told, fate } })),
      { from: until, told: before.at(-1)!.told },
      ...story.filter(({ from }) => from >= until),
    ];
  }

  /** The node also follows branches that are dropped, on which the trade has landed, or has not, or has failed. */
  #withBranches(story: Story, random = this.#random): Story {
    const all = [...story];
    for (let times = random.chance(0.6) ? 1 + (random.u32() % 2) : 0; times > 0; times--) {
      const from = this.#submitted + 1 + (random.u32() % Math.max(1, this.#last - this.#submitted));
      const until = from + 1 + (random.u32() % 8);
      const before = all.findLast((one) => one.from <= from)!.told;
      const after = all.findLast((one) => one.from <= until)!.told;
      // What is final, or confirmed, is on every branch.
      const { slot } = this.#truth;
      if (slot !== undefined && slot <= from - 2) continue;
      const error = random.chance(0.3) ? "AccountInUse" : null;
      const fate = { ...this.#truth, slot: random.chance(0.7) ? from : undefined, error };
      all.push({ from, told: { ...before, fate, confirmedAfter: 1_000, finalAfter: 1_000 } });
      for (const [i, one] of all.entries())
        if (one.from > from && one.from < until)
          all[i] = { ...one, told: { ...one.told, fate, confirmedAfter: 1_000, finalAfter: 1_000 } };
      all.push({ from: until, told: { ...after, fate: this.#truth } });
      all.sort((a, b) => a.from - b.from);
    }
    return all;
  }

  /**
   * When nodes start again, and whether they do from a snapshot of others: they then lack the blocks in between. Nothing has them back within
   * the time for which nodes remember the trade.
   */
  #drawRestart({ submitted, last }: Moments): Restart {
    const random = this.#random;
    const from = submitted + Math.floor((random.u32() / 2 ** 32) * (last + 30 - submitted));
    const until = from + random.pick(AWAY);
    const isForgotten = this.#heights.heightAt(until - FINAL_AFTER) > FIRST_HEIGHT + LIFE + Number(STATUS_CACHE_BLOCKS);
    const gap = isForgotten && random.chance(0.8) ? ([from - 1, until - 1 - (random.u32() % 12)] as const) : undefined;
    this.#answeredFrom = until;
    this.#log(`nodes start again: away from ${from} to ${until}, without the blocks ${gap}`);
    return { from, until, gap };
  }

  #withRestart(story: Story, { from, until, gap }: Restart): Story {
    const before = story.filter((one) => one.from < from);
    const at = story.findLast((one) => one.from <= until)!.told;
    const back = { isSilent: false, gap };
    return [
      ...before,
      { from, told: { ...before.at(-1)!.told, isSilent: true } },
      { from: until, told: { ...at, ...back } },
      ...story.filter((one) => one.from > until).map((one) => ({ ...one, told: { ...one.told, ...back } })),
    ];
  }

  async run(): Promise<Verdict> {
    const random = this.#random;
    this.#start();
    await this.#pass(this.#submitted);
    this.#submit();
    this.#submittedAtMs = Date.now();
    const end = Math.max(this.#last, this.#submitted, this.#answeredFrom) + KNOWN_WITHIN;
    const troubled = end - 90;
    this.#troubledUntilMs = Date.now() + (troubled - this.#heights.slot) * SLOT_MS;
    while (this.#heights.slot < end) {
      const isTroubled = this.#heights.slot < troubled;
      if (isTroubled && random.chance(0.01) && this.#hasKills) this.#kill();
      if (isTroubled && random.chance(0.01)) this.#outage();
      if (isTroubled && random.chance(0.004) && this.#losesRecords && this.#replicated === undefined)
        this.#loseRecord();
      if (this.#replicated !== undefined) this.#replicate(this.#replicated, isTroubled);
      if (isTroubled && random.chance(0.004)) this.#setClock();
      if (isTroubled && this.#apart?.chance(0.02)) this.#trouble();
      if (this.#apart?.chance(0.05)) this.#restoreDatabase = this.#database.copy();
      const isIdle = this.#heights.slot >= this.#idle[0] && this.#heights.slot < this.#idle[1];
      if (isIdle) for (const process of this.#processes) process.kill();
      else if (this.#processes.every(({ isDead }) => isDead) || (random.chance(0.01) && this.#processes.length < 3))
        this.#start();
      if (random.chance(0.03)) this.#submit();
      if (random.chance(0.1)) this.#find();
      if (random.chance(0.02)) this.#list();
      if (random.chance(0.01)) this.#watch();
      await vi.advanceTimersByTimeAsync(STEP_MS);
    }
    // All who ask now get it.
    for (const ms of LAST_LOOKS_MS) {
      this.#judge.isLast = ms === LAST_LOOKS_MS.at(-1);
      for (const { isDead, submitter } of this.#processes) if (!isDead) this.#ask(submitter, "find", "last");
      await vi.advanceTimersByTimeAsync(ms);
    }
    const { isDecided, uncorrected } = this.#judge;
    for (const process of this.#processes) process.kill();
    vi.clearAllTimers();
    return { faults: this.#judge.faults, isDecided, isUncorrected: uncorrected > 0 };
  }

  async #pass(untilSlot: number): Promise<void> {
    while (this.#heights.slot < untilSlot) await vi.advanceTimersByTimeAsync(STEP_MS);
  }

  /** A process of its own, with its own view of the nodes, which may die within any call to the database. */
  #start(): void {
    const random = this.#random;
    const name = `process ${++this.#started}`;
    this.#log(`START ${name}`);
    let isDead = false;
    let endedAtMs = Number.POSITIVE_INFINITY;
    const troubles = this.#apart && new ProcessTroubles(this.#apart);
    const endpoints = this.#storiesOfOne().map((story, i) => {
      const sendError = random.chance(0.3) ? random.pick(SEND_ERRORS) : undefined;
      const lags = Array.from({ length: this.#machines }, (_, m) => (m === 0 ? 0 : random.u32() % 50));
      const toldBy = () => {
        const { slot } = this.#heights;
        const usual = story.findLast(({ from }) => slot >= from)!.told;
        const changes = this.#deviations
          .filter(({ node, from, until }) => node === i && slot >= from && slot < until)
          .map(({ change }) => change);
        const told: Told = Object.assign({}, usual, ...changes);
        return { ...told, sendError, lag: told.lag + (lags.length > 1 ? random.pick(lags) : 0) };
      };
      const node = new ToldNode(`node ${i}`, this.#heights, this.#signed.trade, toldBy);
      const { call } = node;
      node.call = async (...params) => {
        if (isDead) return FOREVER;
        if (params[0] === "sendTransaction" && Date.now() > endedAtMs + SENT_UNTIL_MS) this.#judge.hearSent(name);
        await troubles?.thawed();
        if (isDead) return FOREVER;
        const answer = await call.apply(node, params).catch((error) => {
          if (isDead) return FOREVER;
          throw error;
        });
        await troubles?.thawed();
        return isDead ? FOREVER : answer;
      };
      return node;
    });
    const skewMs = this.#hasClocks && random.chance(0.5) ? random.pick(SKEWS_MS) : 0;
    const now = () => Date.now() + this.#aheadMs + skewMs;
    const pool = createRpcPool({ endpoints, now, warn: () => {} });
    const error = BigInt(Math.floor((random.u32() / 2 ** 32) * 11)) - 5n;
    const head = {
      blockHeight: () => BigInt(this.#heights.heightAt(this.#heights.slot - 1)) + error,
      slot: () => BigInt(FIRST_SLOT + this.#heights.slot - 1),
      slotMs: () => SLOT_MS,
    };
    const shared = { now, warn: () => {} };
    const landing = createLanding({
      ...{ ...shared, pool, head, witnesses: new Witnesses({ ...shared, pool, now: Date.now }) },
      senders: endpoints.map((endpoint, i) => createNodeSender(endpoint, i, shared)),
      subscriptions: fakeSubscriptions(),
      monotonicMs: Date.now,
      random: () => 0.5,
    });
    const route = this.#replicated?.connect() ?? { server: () => this.#database, isCut: () => false };
    let lethal = this.#hasKills && random.chance(0.3) ? 1 + (random.u32() % 12) : 0;
    const isLate = random.chance(0.5);
    const submissions = new Proxy(this.#database, {
      get: (_, property: keyof MemorySubmissions) => {
        if (property === "nowMs") return () => route.server().nowMs();
        if (typeof this.#database[property] !== "function") return this.#database[property];
        return async (...params: unknown[]) => {
          if (isDead) return FOREVER;
          await troubles?.reach();
          if (isDead) return FOREVER;
          const isLast = --lethal === 0;
          if (isLast && !isLate) kill(`before ${property}`);
          if (isDead) return FOREVER;
          await new Promise((resolve) => setTimeout(resolve, random.chance(0.1) ? 100 : 2));
          if (isDead) return FOREVER;
          const to = route.server();
          const result = await (to[property] as (...all: unknown[]) => Promise<unknown>).apply(to, params);
          if (isLast) kill(`after ${property}`);
          if (isDead) return FOREVER;
          await new Promise((resolve) => setTimeout(resolve, 2));
          await troubles?.thawed();
          if (isDead) return FOREVER;
          if (route.isCut(to)) throw new TradewireError("UPSTREAM_ERROR", "The connection was reset.");
          if (!random.chance(0.02)) return result;
          this.#log(`LOST the answer to ${property} of ${name}`);
          // A look-up or submit that cannot read the record says what its process knows.
          const { excusedUntilMs } = this.#judge;
          if (READS.includes(property)) this.#judge.excusedUntilMs = Math.max(excusedUntilMs, Date.now() + RETRIED_MS);
          throw new TradewireError("UPSTREAM_ERROR", "The answer of the database was lost.");
        };
      },
    }) as Submissions;
    const submitter = createSubmitter({
      ...{ ...shared, sealer: this.#sealer, landing, submissions, venues: [], owner: name, monotonicMs: Date.now },
      settings: { answerMs: 25_000, historyMs: 86_400_000, leaseMs: 5_000, claimTimeoutMs: 50 },
    });
    const kill = (why = "at the end") => {
      if (isDead) return;
      isDead = true;
      this.#log(`KILL ${name} ${why}`);
      // What it has said may be written nowhere, and the nodes may be away.
      this.#diedAtMs = Date.now();
      if (
        this.#isFailingOver ||
        (this.#replicated?.primary ?? this.#database).isDown ||
        troubles?.isCut ||
        troubles?.isFrozen ||
        why === "before finish"
      )
        this.#judge.excusedUntilMs = Number.POSITIVE_INFINITY;
      void submitter.close();
      landing.close();
    };
    this.#processes = [
      ...this.#processes.filter((one) => !one.isDead),
      {
        name,
        submitter,
        troubles,
        kill,
        end() {
          endedAtMs = Math.min(endedAtMs, Date.now());
        },
        get isDead() {
          return isDead;
        },
      },
    ];
  }

  #kill(): void {
    const living = this.#processes.filter(({ isDead }) => !isDead);
    if (living.length > 0) this.#random.pick(living).kill();
  }

  /** What the nodes of one process say: it may have some of those of the others, which may tell it of other branches. */
  #storiesOfOne(): readonly Story[] {
    const apart = this.#apart;
    if (apart === undefined || this.#liars > 0) return this.#stories;
    const some = this.#stories.filter(() => apart.chance(0.7));
    const stories = some.length === 0 ? [apart.pick(this.#stories)] : some;
    if (this.#undone !== undefined) return stories;
    return stories.map((story) => (apart.chance(0.5) ? this.#withBranches(story, apart) : story));
  }

  /** One process stands still, or the database is slow or away for it alone. */
  #trouble(): void {
    const living = this.#processes.filter(({ isDead }) => !isDead);
    if (living.length === 0) return;
    const { name, troubles } = this.#apart!.pick(living);
    const { what, untilMs } = troubles!.draw(this.#troubledUntilMs);
    this.#log(`${name} ${what} for ${untilMs - Date.now()} ms`);
    const { excusedUntilMs } = this.#judge;
    this.#judge.excusedUntilMs = Math.max(excusedUntilMs, untilMs + LEARNT_MS);
  }

  /** No process reaches the database for a while. */
  #outage(): void {
    const ms = 200 + (this.#random.u32() % 8_000);
    this.#log(`database away for ${ms} ms`);
    const database = this.#replicated?.primary ?? this.#database;
    database.isDown = true;
    const { excusedUntilMs } = this.#judge;
    this.#judge.excusedUntilMs = Math.max(excusedUntilMs, Date.now() + ms + LEARNT_MS);
    setTimeout(() => {
      database.isDown = false;
    }, ms);
  }

  #setClock(): void {
    this.#aheadMs += this.#random.pick(SKEWS_MS);
    this.#log(`clocks set: ${this.#aheadMs} ms ahead`);
  }

  /** Fails over at any time, and often just after something was written. */
  #replicate(database: ReplicatedDatabase, isTroubled: boolean): void {
    const sinceMs = Date.now() - Math.max(this.#submittedAtMs, this.#judge.newsAtMs);
    const isNews = sinceMs < NEWS_MS;
    database.replicate();
    if (isTroubled && database.random.chance(isNews ? 0.15 : 0.003)) this.#failOver(database);
  }

  /** A standby takes over that lacks what was written last; processes learn of it one after the other, and write again what they know. */
  #failOver(database: ReplicatedDatabase): void {
    if (this.#isFailingOver) return;
    const behindMs = database.failOver();
    this.#log(`failover, ${behindMs} ms lost, old primary left at ${database.leftAtMs - Date.now()} ms`);
    const hasDied = this.#diedAtMs >= Date.now() - behindMs;
    const { excusedUntilMs } = this.#judge;
    const learntAtMs = hasDied ? Number.POSITIVE_INFINITY : database.leftAtMs + LEARNT_MS;
    this.#judge.excusedUntilMs = Math.max(excusedUntilMs, learntAtMs);
  }

  /** True while what the standby lacked may be written nowhere. */
  get #isFailingOver(): boolean {
    return this.#replicated !== undefined && Date.now() < this.#replicated.leftAtMs + LEARNT_MS;
  }

  /** A standby takes over that lacks what was written last. */
  #loseRecord(): void {
    this.#log("record lost");
    this.#judge.excusedUntilMs = Number.POSITIVE_INFINITY;
    if (this.#restoreDatabase !== undefined && this.#apart?.chance(0.7)) this.#restoreDatabase();
    else this.#database.rows.clear();
  }

  #living(): Submitter | undefined {
    const living = this.#processes.filter(({ isDead }) => !isDead);
    return living.length === 0 ? undefined : this.#random.pick(living).submitter;
  }

  /** False once its process is dead, and tells nobody anything. */
  #isLiving(submitter: Submitter): boolean {
    return this.#processes.some((one) => one.submitter === submitter && !one.isDead);
  }

  #noteEnd(submitter: Submitter): void {
    this.#processes.find((one) => one.submitter === submitter)?.end();
  }

  #submit(): void {
    const submitter = this.#living();
    if (submitter !== undefined) this.#ask(submitter, "submit", "submit");
  }

  #find(): void {
    const submitter = this.#living();
    if (submitter !== undefined) this.#ask(submitter, "find", "find");
  }

  #list(): void {
    const query = { most: 10, after: undefined, sinceMs: undefined, untilMs: undefined, statuses: new Set<never>() };
    void this.#living()
      ?.list(PRINCIPAL, query)
      .then(
        ({ trades }) => {
          for (const listed of trades) this.#judge.hearListed(listed);
        },
        () => {},
      );
  }

  /** Follows a stream, which is cut after a while. */
  #watch(): void {
    const submitter = this.#living();
    if (submitter === undefined) return;
    const cut = new AbortController();
    setTimeout(() => cut.abort(), 1_000 + (this.#random.u32() % 60_000));
    const follow = async () => {
      const [{ signature }] = this.#signed.trade.forms;
      for await (const told of submitter.watch(PRINCIPAL, signature, cut.signal))
        if (this.#isLiving(submitter)) this.#judge.hear(told, "watch");
    };
    void follow().catch((error) => {
      if (!(error instanceof TradewireError)) throw error;
      if (this.#isLiving(submitter)) this.#judge.hearError(error, "watch");
    });
  }

  #ask(submitter: Submitter, method: "submit" | "find", why: string): void {
    const { trade } = this.#signed;
    const form = method === "submit" && this.#random.chance(0.15) ? 1 : 0;
    const { signature, transaction: signedTransaction } = trade.forms[form];
    const submissionToken = this.#token;
    const answer: Promise<SubmittedTrade> =
      method === "submit"
        ? submitter.submit({ principal: PRINCIPAL, submissionToken, signedTransaction })
        : submitter.find(PRINCIPAL, signature);
    const troubles = this.#processes.find((one) => one.submitter === submitter)?.troubles;
    let wasFrozen = troubles?.isFrozen === true;
    const delivered = async () => {
      try {
        return await answer;
      } finally {
        wasFrozen ||= troubles?.isFrozen === true;
        await troubles?.thawed();
      }
    };
    void delivered().then(
      (said) => {
        if (!this.#isLiving(submitter)) return;
        // What it knew as it was asked, before it stood still.
        if (wasFrozen && said.result === undefined) return;
        this.#judge.hear(said, why);
        if (method === "submit" && said.result !== undefined) this.#noteEnd(submitter);
      },
      (error) => {
        if (!(error instanceof TradewireError)) throw error;
        if (!this.#isLiving(submitter)) return;
        this.#judge.hearError(error, why);
        if (method === "submit" && error.facts.safeToRebuild !== undefined) this.#noteEnd(submitter);
      },
    );
  }
}

/**
 * A block after the submit that has the trade and is undone before it is final. From then on the heights continue from the block before
 * it. Undefined if there is no room for it.
 */
function drawUndone(random: Random, heightOf: number[], submitted: number, last: number): Undone | undefined {
  const slot = submitted + 1 + (random.u32() % 12);
  const until = slot + 3 + (random.u32() % (FINAL_AFTER - 6));
  if (slot > last || heightOf[slot] === heightOf[slot - 1]) return undefined;
  const fork = heightOf[slot - 1]!;
  const before = heightOf[until]! - 1;
  for (let at = until; at < heightOf.length; at++) heightOf[at]! += fork - before;
  const error = random.chance(0.6) ? { InstructionError: [0, { Custom: 1 }] } : null;
  return { slot, until, error, moreFee: 0, moreOutput: error === null ? 1 : 0 };
}
