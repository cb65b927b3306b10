import type { CallRecord } from "../call/call-record.ts";

/** Upper bounds of the buckets in seconds: a warm build takes a fraction of a millisecond, a submit several seconds. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

/** How often values lay in each bucket. */
export class Histogram {
  readonly counts = new Float64Array(BOUNDS.length + 1);
  sum = 0;

  observe(seconds: number): void {
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
    this.counts[at]!++;
    this.sum += seconds;
  }

  /** Adds another one's values, or with -1 takes them away. */
  add(other: Histogram, times: 1 | -1): void {
    for (let i = 0; i < this.counts.length; i++) this.counts[i]! += times * other.counts[i]!;
    this.sum += times * other.sum;
  }

  count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** Seconds below which this part of the values lies, even within its bucket; 25 at most. @param part 0 < part ≤ 1 */
  quantile(part: number): number {
    let left = part * this.count();
    for (let i = 0; i < BOUNDS.length; i++) {
      const from = i === 0 ? 0 : BOUNDS[i - 1]!;
      const count = this.counts[i]!;
      if (left <= count && count > 0) return from + (BOUNDS[i]! - from) * (left / count);
      left -= count;
    }
    return BOUNDS.at(-1)!;
  }

  copy(): Histogram {
    const copy = new Histogram();
    copy.add(this, 1);
    return copy;
  }
}

/** The counters of calls and submissions at one time. */
export interface MetricsSnapshot {
  /** By method and code. */
  readonly calls: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By method. */
  readonly durations: ReadonlyMap<string, Histogram>;
  /** By method and stage. */
  readonly stages: ReadonlyMap<string, ReadonlyMap<string, Histogram>>;
  /** By event on the way to the chain. */
  readonly landing: ReadonlyMap<string, Histogram>;
}

/** A submission that this process brought to its end. Times are in epoch milliseconds. */
interface SubmissionReport {
  /** OK, or its error code. */
  readonly code: string;
  readonly startedAtMs: number;
  readonly events: readonly { readonly kind: string; readonly atMs: number; readonly sender?: string }[];
  /** False if the first broadcast did not wait until the claim was written. */
  readonly durable: boolean;
}

/** A value that is read at each scrape. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  /** The value, or one for each set of labels, such as `venue="pump_fun"`. */
  read(): number | readonly (readonly [labels: string, value: number])[];
}

/** Where the last call of a method was counted, by the stages it had. Most calls go the same way, and take no look-up for each stage. */
interface Way {
  readonly names: readonly string[];
  readonly codes: Map<string, number>;
  readonly duration: Histogram;
  /** In the order of the names. */
  readonly stages: readonly Histogram[];
}

/** Counters and histograms of calls and submissions, and gauges of everything else, in the text format of Prometheus. */
export class Metrics {
  readonly #calls = new Map<string, Map<string, number>>();
  readonly #durations = new Map<string, Histogram>();
  readonly #stages = new Map<string, Map<string, Histogram>>();
  /** By method. */
  readonly #ways = new Map<string, Way>();
  readonly #submissions = new Map<string, number>();
  readonly #broadcasts = new Map<string, number>();
  readonly #landing = new Map<string, Histogram>();
  #unclaimed = 0;
  readonly #gauges: Gauge[] = [];

  /** @param methods whose internal errors are written with 0 until there is one: an increase can be had from the first one on */
  constructor(methods: readonly string[] = []) {
    for (const method of methods) this.#calls.set(method, new Map([["INTERNAL_ERROR", 0]]));
  }

  /** Adds gauges. */
  watch(gauges: readonly Gauge[]): void {
    this.#gauges.push(...gauges);
  }

  /** A copy of the counters as they stand. */
  snapshot(): MetricsSnapshot {
    return {
      calls: mapOf(this.#calls, (codes) => new Map(codes)),
      durations: mapOf(this.#durations, (histogram) => histogram.copy()),
      stages: mapOf(this.#stages, (stages) => mapOf(stages, (histogram) => histogram.copy())),
      landing: mapOf(this.#landing, (histogram) => histogram.copy()),
    };
  }

  /** Counts a finished call. */
  record({ method, code, durationMs, stages: { names, startMs, endsMs } }: CallRecord): void {
    const known = this.#ways.get(method);
    const { codes, duration, stages } = known?.names === names ? known : this.#wayOf(method, names);
    codes.set(code, (codes.get(code) ?? 0) + 1);
    duration.observe(durationMs / 1_000);
    let fromMs = startMs;
    for (let i = 0; i < stages.length; i++) {
      const endMs = endsMs[i]!;
      stages[i]!.observe((endMs - fromMs) / 1_000);
      fromMs = endMs;
    }
  }

  #wayOf(method: string, names: readonly string[]): Way {
    const codes = madeOnce(this.#calls, method, () => new Map<string, number>());
    const ofMethod = madeOnce(this.#stages, method, () => new Map<string, Histogram>());
    const stages = names.map((name) => histogramOf(ofMethod, name));
    const way = { names, codes, duration: histogramOf(this.#durations, method), stages };
    this.#ways.set(method, way);
    return way;
  }

  /** Counts a submission that was brought to its end. */
  recordSubmission({ code, startedAtMs, events, durable }: SubmissionReport): void {
    count(this.#submissions, `code="${code}"`);
    if (!durable) this.#unclaimed++;
    const seen = new Set<string>();
    for (const { kind, sender, atMs } of events) {
      if (sender !== undefined) count(this.#broadcasts, `sender="${sender}",result="${kind}"`);
      if (kind === "refused" || seen.has(kind)) continue;
      seen.add(kind);
      histogramOf(this.#landing, kind).observe(Math.max(0, atMs - startedAtMs) / 1_000);
    }
  }

  /** All metrics, for one scrape. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
  describe(): string {
    const lines: string[] = [];
    const calls = [...this.#calls].flatMap(([method, codes]) =>
      Array.from(codes, ([code, count]) => [`method="${method}",code="${code}"`, count] as const),
    );
    const finished = "Finished calls by method and code.";
    describeLabelled(lines, { name: "tradewire_calls_total", help: finished, type: "counter" }, calls);
    const durations = labelled("method", this.#durations);
    describeHistograms(lines, "tradewire_call_seconds", "Duration of a call.", durations);
    const stages = [...this.#stages].flatMap(([method, ofMethod]) =>
      Array.from(ofMethod, ([stage, histogram]) => [`method="${method}",stage="${stage}"`, histogram] as const),
    );
    describeHistograms(lines, "tradewire_stage_seconds", "Duration of one stage of a call.", stages);
    const outcomes = "Submissions brought to their end by this process, by outcome.";
    const submissions = { name: "tradewire_submissions_total", help: outcomes, type: "counter" };
    describeLabelled(lines, submissions, this.#submissions);
    const broadcasts = "Submissions that a sender accepted or refused.";
    const sent = { name: "tradewire_sender_broadcasts_total", help: broadcasts, type: "counter" };
    describeLabelled(lines, sent, this.#broadcasts);
    const landing = "Time from a submit to each event on its way to the chain.";
    describeHistograms(lines, "tradewire_landing_seconds", landing, labelled("event", this.#landing));
    const unclaimed = "Broadcasts that did not wait until their claim was written.";
    describeValue(lines, "tradewire_unclaimed_broadcasts_total", unclaimed, "counter", this.#unclaimed);
    for (const { name, help, type, read } of this.#gauges) {
      const value = read();
      if (typeof value === "number") describeValue(lines, name, help, type, value);
      else describeLabelled(lines, { name, help, type }, value);
    }
    return `${lines.join("\n")}\n`;
  }
}

function mapOf<V, W>(all: ReadonlyMap<string, V>, copy: (value: V) => W): ReadonlyMap<string, W> {
  return new Map(Array.from(all, ([name, value]) => [name, copy(value)]));
}

function madeOnce<V>(all: Map<string, V>, name: string, make: () => V): V {
  let value = all.get(name);
  if (value === undefined) {
    value = make();
    all.set(name, value);
  }
  return value;
}

const histogramOf = (all: Map<string, Histogram>, name: string): Histogram =>
  madeOnce(all, name, () => new Histogram());

function count(all: Map<string, number>, labels: string): void {
  all.set(labels, (all.get(labels) ?? 0) + 1);
}

function labelled(label: string, all: ReadonlyMap<string, Histogram>): readonly (readonly [string, Histogram])[] {
  return Array.from(all, ([value, histogram]) => [`${label}="${value}"`, histogram]);
}

function describeValue(lines: string[], name: string, help: string, type: string, value: number): void {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`);
}

function describeLabelled(
  lines: string[],
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: string },
  all: Iterable<readonly [labels: string, value: number]>,
): void {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  for (const [labels, value] of all) lines.push(`${name}{${labels}} ${value}`);
}

function describeHistograms(
  lines: string[],
  name: string,
  help: string,
  all: readonly (readonly [labels: string, Histogram])[],
): void {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
  for (const [labels, { counts, sum }] of all) {
    let count = 0;
    BOUNDS.forEach((bound, i) => {
      count += counts[i]!;
      lines.push(`${name}_bucket{${labels},le="${bound}"} ${count}`);
    });
    count += counts[BOUNDS.length]!;
    lines.push(
      `${name}_bucket{${labels},le="+Inf"} ${count}`,
      `${name}_sum{${labels}} ${sum}`,
      `${name}_count{${labels}} ${count}`,
    );
  }
}
