import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { CheckQueue, type Routine } from "./check-queue.ts";
import { type CheckPorts, type CheckResult, type ProgramBuild, runCheck } from "./check-run.ts";
import { CheckTurns } from "./check-turns.ts";
import type { CheckedEntry, LiveMarket } from "./live-market.ts";
import { MarketRecord, type MarketStanding, Verdicts } from "./verdicts.ts";

interface MarketChecksOptions extends CheckPorts {
  /** False: differences are reported, and nothing is withheld. */
  readonly isGuarding: boolean;
  /** True while the shadow process can be reached. */
  readonly isUp: () => boolean;
  readonly now: Now;
  readonly log: (facts: object, message: string) => void;
}

/** Counts since the start. */
export interface CheckCounts {
  readonly checks: number;
  readonly samples: number;
  readonly differences: number;
  readonly replacements: number;
}

/** How often a market that differs is tried again; doubles up to the bound. */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 10_000;
/** A market whose check ended the process is left alone longer and longer. */
const MAX_CRASH_RETRY_MS = 300_000;
/** With more checks waiting than this, further ones are routine: they keep to the budget. */
const MAX_URGENT = 64;
const UNKNOWN: MarketStanding = {
  backing: { programSlot: undefined, shadowSlot: undefined, checked: false },
  withheld: undefined,
  unitsScale: 1,
  refusesLean: undefined,
};

const isRefusal = (refused: MarketRecord["refusesLean"]): boolean => refused !== undefined && refused !== "none";

/**
 * Checks live markets on the deployed programs: each as it becomes live, at once when one of its programs is replaced, again
 * while it differs, and in turn. What differs is withheld until it agrees.
 */
export class MarketChecks {
  readonly #options: MarketChecksOptions;
  /** The longest unchecked first. */
  readonly #entries = new Map<LiveMarket, CheckedEntry>();
  /** Those that do not agree. */
  readonly #open = new Set<CheckedEntry>();
  readonly #verdicts: Verdicts;
  readonly #queue: CheckQueue<CheckedEntry>;
  readonly #turns: CheckTurns;
  /** Programs replaced since the start, by the newest build. */
  readonly #replaced = new Map<Address, bigint>();
  readonly #counts = { checks: 0, samples: 0, differences: 0, replacements: 0 };

  constructor(options: MarketChecksOptions) {
    this.#options = options;
    this.#verdicts = new Verdicts(options.isGuarding);
    this.#queue = new CheckQueue((entry, routine) => this.#check(entry, routine));
    const { now, fetchAccounts } = options;
    this.#turns = new CheckTurns({ entries: this.#entries, open: this.#open, queue: this.#queue, now, fetchAccounts });
  }

  /** A market has become live: it is checked at once. */
  begin(live: LiveMarket): void {
    if (this.#entries.has(live)) return;
    const record = new MarketRecord(live.venue.id);
    const entry: CheckedEntry = {
      live,
      record,
      extras: new Set(),
      programs: new Set(),
      turn: 0,
      checkedAtMs: 0,
      retryAtMs: 0,
      retryMs: RETRY_MS,
      first: Promise.withResolvers(),
    };
    this.#entries.set(live, entry);
    void this.#options.programs.follow(live.venue.programs).catch(() => {});
    const replaced = live.venue.programs.find((id) => this.#replaced.has(id));
    // The first check of a new build decides; until then none of the venue's markets is known to agree.
    if (replaced !== undefined && this.#verdicts.countsOf(live.venue.id).agrees === 0)
      record.finding = { kind: "replaced", reason: replacedReason(replaced, this.#replaced.get(replaced)!) };
    this.#verdicts.add(record);
    this.#open.add(entry);
    this.#queue.add(entry, this.#queue.size >= MAX_URGENT ? { isSample: true } : undefined);
  }

  /** A market is no longer live. */
  end(live: LiveMarket): void {
    const entry = this.#entries.get(live);
    if (entry === undefined) return;
    this.#entries.delete(live);
    this.#open.delete(entry);
    this.#queue.delete(entry);
    if (this.#verdicts.delete(entry.record)) this.#announce(new Set([entry.record.venueId]));
    entry.first.resolve();
  }

  /** The standing of a market, from memory. */
  standingOf(live: LiveMarket): MarketStanding {
    const entry = this.#entries.get(live);
    return entry === undefined ? UNKNOWN : this.#verdicts.standingOf(entry.record);
  }

  /** Resolves when each of the markets was checked once, or after `waitMs`. */
  async settled(markets: readonly LiveMarket[], waitMs: number): Promise<void> {
    const firsts = markets.flatMap((live) => this.#entries.get(live)?.first.promise ?? []);
    if (firsts.length === 0 || waitMs <= 0 || !this.#options.isUp()) return;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([Promise.all(firsts), over]);
    clearTimeout(timer);
  }

  /** A program runs another build now: what ran on it is withheld until it was checked again. */
  noteReplaced({ id, slot }: ProgramBuild): void {
    this.#replaced.set(id, slot);
    this.#counts.replacements += 1;
    const reason = replacedReason(id, slot);
    const touched = [...this.#entries.values()].filter(
      ({ live, programs }) => programs.has(id) || live.venue.programs.includes(id),
    );
    for (const entry of touched) {
      entry.record.finding = { kind: "replaced", reason };
      entry.retryMs = RETRY_MS;
      this.#open.add(entry);
      this.#queue.add(entry);
    }
    const facts = { program: id.toString(), slot: Number(slot), markets: touched.length };
    this.#options.log(facts, "shadow execution: a program was replaced; its markets are checked again");
    this.#announce(new Set(touched.map(({ live }) => live.venue.id)));
  }

  /**
   * A trade on the market ended unlike its quote, or took more compute units than its bound: it is checked soon.
   *
   * @param unitsRatio use over bound of a trade that moved what was quoted: from now on the market's limits have room for it
   */
  noteLanded(market: Address, unitsRatio = 0): void {
    for (const entry of this.#entries.values()) {
      if (entry.live.address !== market) continue;
      if (entry.record.noteUse(unitsRatio)) entry.live.judged();
      this.#queue.add(entry);
    }
  }

  /** Events since the start. */
  counts(): CheckCounts {
    return this.#counts;
  }

  /** Live markets whose program was found to refuse a leaner form of trades. */
  leanRefusals(): number {
    let refusals = 0;
    for (const { record } of this.#entries.values()) if (isRefusal(record.refusesLean)) refusals++;
    return refusals;
  }

  /** The findings of each venue with live markets. */
  report(): readonly VenueFindings[] {
    return [...this.#verdicts.venueIds()].map((id) => {
      const { unchecked, agrees, differs, replaced } = this.#verdicts.countsOf(id);
      const reason = this.#verdicts.reasonAgainstVenue(id);
      return {
        id,
        agrees,
        unchecked,
        withheld: reason === undefined ? differs + replaced : agrees + unchecked + differs + replaced,
        reason,
      };
    });
  }

  close(): void {
    this.#turns.close();
    this.#queue.close();
  }

  async #check(entry: CheckedEntry, routine: Routine | undefined): Promise<void> {
    const { live, record, extras, programs } = entry;
    entry.turn += 1;
    const market = {
      venueId: live.venue.id,
      address: live.address,
      pair: live.pair,
      held: live.held,
      view: live.view,
      extras,
      programs,
    };
    const { finding } = record;
    const isSample = routine?.isSample === true;
    // Most markets that cannot be checked are dead: however many there are, they take no time from anything else.
    const isIdle = finding.kind === "unchecked" && finding.reason !== undefined;
    const isRoutine = isSample || (routine !== undefined && isIdle);
    const options = { turn: entry.turn, isSample, isRoutine, known: routine?.accounts };
    const wasUp = this.#options.isUp();
    const result = await runCheck(this.#options, market, options).catch(
      (error: unknown): CheckResult => ({ kind: "unable", reason: String(error) }),
    );
    if (!this.#entries.has(live)) return;
    this.#take(entry, record, result, wasUp);
    entry.first.resolve();
  }

  /** @param wasUp false if the process was down before the check began: the check did not end it */
  #take(entry: CheckedEntry, record: MarketRecord, result: CheckResult, wasUp: boolean): void {
    const atMs = this.#options.now();
    if (result.kind === "busy") {
      this.#queue.dropSamples();
      entry.retryAtMs = atMs + entry.retryMs;
      return;
    }
    entry.checkedAtMs = atMs;
    this.#entries.delete(entry.live);
    this.#entries.set(entry.live, entry);
    const before = record.finding;
    const { refusesLean } = record;
    if (result.kind === "checked") {
      this.#counts.checks += 1;
      this.#counts.samples += result.samples;
      if (result.differences.length > 0) this.#counts.differences += 1;
      record.note(result);
    } else if (before.kind === "unchecked" || before.kind === "agrees") {
      // A check that could not be made takes nothing back, and proves nothing.
      if (before.kind === "unchecked" && result.kind === "unable")
        record.finding = { kind: "unchecked", reason: result.reason };
    }
    const isSettled = record.finding.kind === "agrees";
    if (isSettled) this.#open.delete(entry);
    else this.#open.add(entry);
    const mostMs = result.kind === "down" ? MAX_CRASH_RETRY_MS : MAX_RETRY_MS;
    if (isSettled) entry.retryMs = RETRY_MS;
    else if (wasUp) entry.retryMs = Math.min(2 * entry.retryMs, mostMs);
    entry.retryAtMs = atMs + entry.retryMs;
    this.#report(entry, before.kind, result);
    if (record.refusesLean !== refusesLean) this.#reportLean(entry, isRefusal(refusesLean));
    if (before.kind === "differs" && isSettled) this.#hurry(record.venueId);
    entry.live.judged();
    this.#announce(this.#verdicts.settle(record.venueId) ? new Set([record.venueId]) : new Set());
  }

  #report({ live, record }: CheckedEntry, before: string, result: CheckResult): void {
    const { finding } = record;
    const facts = { venue: live.venue.id, market: live.address.toString() };
    const doing = this.#options.isGuarding ? "withheld" : "reported only";
    if (finding.kind === "differs" && before !== "differs")
      this.#options.log({ ...facts, reason: finding.reason }, `shadow execution: a market differs; ${doing}`);
    else if (finding.kind === "agrees" && (before === "differs" || before === "replaced"))
      this.#options.log(
        { ...facts, samples: result.kind === "checked" ? result.samples : 0 },
        "shadow execution: a market agrees again",
      );
  }

  /** What was found of a market's trades in their lean form has changed. */
  #reportLean({ live, record }: CheckedEntry, wasRefused: boolean): void {
    const facts = { venue: live.venue.id, market: live.address.toString() };
    if (isRefusal(record.refusesLean)) {
      const doing = this.#options.isGuarding ? "traded without" : "reported only";
      const message = `shadow execution: a market's leaner form is refused; ${doing}`;
      this.#options.log({ ...facts, forms: record.refusesLean, reason: record.leanDifference }, message);
    } else if (wasRefused && record.refusesLean === "none")
      this.#options.log(facts, "shadow execution: a market's leaner form agrees again");
  }

  /** One market of the venue agrees again: so may the others. */
  #hurry(venueId: string): void {
    for (const entry of this.#entries.values())
      if (entry.record.venueId === venueId && entry.record.finding.kind === "differs") this.#queue.add(entry);
  }

  /** Notifies the markets of these venues that what they may offer has changed. */
  #announce(venueIds: ReadonlySet<string>): void {
    for (const venueId of venueIds) this.#verdicts.settle(venueId);
    for (const { live } of this.#entries.values()) if (venueIds.has(live.venue.id)) live.judged();
  }
}

/** The findings of one venue. */
export interface VenueFindings {
  readonly id: string;
  /** Live markets by finding. */
  readonly agrees: number;
  readonly unchecked: number;
  /** Markets that should not be traded on; in guard, they are not. */
  readonly withheld: number;
  /** Why the venue as a whole is withheld. */
  readonly reason: string | undefined;
}

function replacedReason(program: Address, slot: bigint): string {
  return `its program ${program} was replaced at slot ${slot} and is being checked`;
}
