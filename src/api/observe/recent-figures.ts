import type { VenueCounts } from "../../trade/venue-activity.ts";
import { Histogram, type MetricsSnapshot } from "./metrics.ts";

/** Durations within a time: how many, and below what half and 99 % of them lay. Milliseconds; null without any. */
interface DurationFigures {
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** What the service did in the last minutes. */
export interface RecentFigures {
  /** Minutes that the figures cover. */
  readonly minutes: number;
  readonly quotes: number;
  readonly builds: number;
  readonly submits: number;
  /** Calls that failed, by code, most frequent first. */
  readonly failures: readonly { readonly code: string; readonly count: number }[];
  readonly build: DurationFigures;
  /** Counts per venue, streamed quotes included; venues without any are left out. */
  readonly venues: readonly (VenueCounts & { readonly id: string })[];
  /** Stages of builds and of submits, in their order. */
  readonly buildStages: readonly (DurationFigures & { readonly stage: string })[];
  readonly submitStages: readonly (DurationFigures & { readonly stage: string })[];
  /** From a submit to each event on its way to the chain. */
  readonly landing: readonly (DurationFigures & { readonly event: string })[];
  /** Minute by minute, the oldest first. */
  readonly series: readonly { readonly build: DurationFigures; readonly confirmed: DurationFigures }[];
}

/** The counters that figures are made of. */
interface Counters extends MetricsSnapshot {
  /** Since the start, by venue. */
  readonly venues: ReadonlyMap<string, VenueCounts>;
}

/** Minutes covered, and time between snapshots. */
const MINUTES = 15;
const MINUTE_MS = 60_000;
const BUILDS = ["Buy", "Sell", "Swap"];
const QUOTES = ["Quote"];
const EVENTS = ["sent", "processed", "confirmed"];

/** Figures of the last minutes, from snapshots of the counters: calls themselves pay nothing for them. */
export class RecentMinutes {
  readonly #snapshot: () => Counters;
  readonly #timer: NodeJS.Timeout;
  /** Oldest first; one more than minutes. */
  readonly #kept: Counters[];

  /** Takes a snapshot every minute until closed. */
  constructor(snapshot: () => Counters) {
    this.#snapshot = snapshot;
    this.#kept = [snapshot()];
    this.#timer = setInterval(() => this.tick(), MINUTE_MS);
    this.#timer.unref();
  }

  /** Ends a minute. */
  tick(): void {
    this.#kept.push(this.#snapshot());
    if (this.#kept.length > MINUTES) this.#kept.shift();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** The figures now. */
  figures(): RecentFigures {
    const now = this.#snapshot();
    const first = this.#kept[0]!;
    const calls = (methods: readonly string[]) => countOf(now, methods) - countOf(first, methods);
    const marks = [...this.#kept, now];
    return {
      minutes: this.#kept.length,
      quotes: calls(QUOTES),
      builds: calls(BUILDS),
      submits: calls(["Submit"]),
      failures: failuresBetween(first, now),
      venues: venuesBetween(first, now),
      build: figuresOf(durations(first, BUILDS), durations(now, BUILDS)),
      buildStages: stagesBetween(first, now, BUILDS),
      submitStages: stagesBetween(first, now, ["Submit"]),
      landing: EVENTS.map((event) => ({ event, ...figuresOf(landing(first, event), landing(now, event)) })),
      series: marks.slice(1).map((end, i) => ({
        build: figuresOf(durations(marks[i]!, BUILDS), durations(end, BUILDS)),
        confirmed: figuresOf(landing(marks[i]!, "confirmed"), landing(end, "confirmed")),
      })),
    };
  }
}

function countOf({ calls }: MetricsSnapshot, methods: readonly string[]): number {
  return methods.reduce((sum, method) => sum + [...(calls.get(method)?.values() ?? [])].reduce((a, b) => a + b, 0), 0);
}

const durations = (at: MetricsSnapshot, methods: readonly string[]) =>
  methods.flatMap((method) => at.durations.get(method) ?? []);
const landing = (at: MetricsSnapshot, event: string) => [at.landing.get(event) ?? []].flat();

function failuresBetween(first: MetricsSnapshot, now: MetricsSnapshot): RecentFigures["failures"] {
  const counts = new Map<string, number>();
  for (const [method, codes] of now.calls) {
    for (const [code, count] of codes) {
      const more = count - (first.calls.get(method)?.get(code) ?? 0);
      if (code !== "OK" && more > 0) counts.set(code, (counts.get(code) ?? 0) + more);
    }
  }
  return Array.from(counts, ([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count);
}

function venuesBetween({ venues: before }: Counters, { venues: after }: Counters): RecentFigures["venues"] {
  return Array.from(after, ([id, counts]) => {
    const more = (field: keyof VenueCounts) => counts[field] - (before.get(id)?.[field] ?? 0);
    return {
      id,
      quotes: more("quotes"),
      builds: more("builds"),
      landed: more("landed"),
      withheld: more("withheld"),
      refused: more("refused"),
      slippage: more("slippage"),
      failed: more("failed"),
    };
  }).filter(({ id, ...counts }) => Object.values(counts).some((count) => count > 0));
}

function stagesBetween(first: MetricsSnapshot, now: MetricsSnapshot, methods: readonly string[]) {
  const names = new Set(methods.flatMap((method) => [...(now.stages.get(method)?.keys() ?? [])]));
  const of = (at: MetricsSnapshot, name: string) => methods.flatMap((method) => at.stages.get(method)?.get(name) ?? []);
  return Array.from(names, (stage) => ({ stage, ...figuresOf(of(first, stage), of(now, stage)) }));
}

/** The figures of what came between two times; histograms of several methods are added up. */
function figuresOf(before: readonly Histogram[], after: readonly Histogram[]): DurationFigures {
  const more = new Histogram();
  for (const histogram of after) more.add(histogram, 1);
  for (const histogram of before) more.add(histogram, -1);
  const count = more.count();
  const ms = (part: number) => (count === 0 ? null : Math.round(more.quantile(part) * 1e6) / 1e3);
  return { count, p50Ms: ms(0.5), p99Ms: ms(0.99) };
}
