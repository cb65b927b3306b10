import type { CallRecord } from "../call/call-record.ts";

/** Upper bounds in seconds: a warm build takes a fraction of a millisecond, a submit some seconds. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

class Histogram {
  readonly counts = new Float64Array(BOUNDS.length + 1);
  sum = 0;

  observe(seconds: number): void {
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
    this.counts[at]!++;
    this.sum += seconds;
  }
}

/** A submission that was brought to its end: its code or OK, when it began and what happened then (epoch milliseconds). */
interface SubmissionReport {
  readonly code: string;
  readonly startedAtMs: number;
  readonly events: readonly { readonly kind: string; readonly atMs: number; readonly sender?: string }[];
  /** False: the first broadcast did not wait for the claim to be written. */
  readonly durable: boolean;
}

/** A value read when metrics are asked for. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  read(): number;
}

/** What calls have come to, and gauges of the rest, in the text format of Prometheus. */
export class Metrics {
  readonly #calls = new Map<string, Map<string, number>>();
  readonly #durations = new Map<string, Histogram>();
  readonly #stages = new Map<string, Map<string, Histogram>>();
  readonly #submissions = new Map<string, number>();
  readonly #broadcasts = new Map<string, number>();
  readonly #landing = new Map<string, Histogram>();
  #undurable = 0;
  readonly #gauges: Gauge[] = [];

  /** Tells these too from now on. */
  watch(gauges: readonly Gauge[]): void {
    this.#gauges.push(...gauges);
  }

  record({ method, code, durationMs, stages }: CallRecord): void {
    let codes = this.#calls.get(method);
    if (codes === undefined) {
      codes = new Map();
      this.#calls.set(method, codes);
    }
    codes.set(code, (codes.get(code) ?? 0) + 1);
    histogramOf(this.#durations, method).observe(durationMs / 1_000);
    let ofMethod = this.#stages.get(method);
    if (ofMethod === undefined) {
      ofMethod = new Map();
      this.#stages.set(method, ofMethod);
    }
    let fromMs = stages.startMs;
    for (let i = 0; i < stages.names.length; i++) {
      const endMs = stages.endsMs[i]!;
      histogramOf(ofMethod, stages.names[i]!).observe((endMs - fromMs) / 1_000);
      fromMs = endMs;
    }
  }

  /** Counts a submission that was brought to its end. */
  recordSubmission({ code, startedAtMs, events, durable }: SubmissionReport): void {
    count(this.#submissions, `code="${code}"`);
    if (!durable) this.#undurable++;
    const told = new Set<string>();
    for (const { kind, sender, atMs } of events) {
      if (sender !== undefined) count(this.#broadcasts, `sender="${sender}",result="${kind}"`);
      if (kind === "refused" || told.has(kind)) continue;
      told.add(kind);
      histogramOf(this.#landing, kind).observe(Math.max(0, atMs - startedAtMs) / 1_000);
    }
  }

  /** @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
  describe(): string {
    const lines: string[] = [];
    lines.push("# HELP tradewire_calls_total Calls that have ended, by method and code.");
    lines.push("# TYPE tradewire_calls_total counter");
    for (const [method, codes] of this.#calls) {
      for (const [code, count] of codes)
        lines.push(`tradewire_calls_total{method="${method}",code="${code}"} ${count}`);
    }
    describeHistograms(
      lines,
      "tradewire_call_seconds",
      "Time from a call to its answer.",
      labelled("method", this.#durations),
    );
    const stages = [...this.#stages].flatMap(([method, ofMethod]) =>
      Array.from(ofMethod, ([stage, histogram]) => [`method="${method}",stage="${stage}"`, histogram] as const),
    );
    describeHistograms(lines, "tradewire_stage_seconds", "Time of one stage of a call.", stages);
    describeCounters(
      lines,
      "tradewire_submissions_total",
      "Submissions brought to their end here, by how they ended.",
      this.#submissions,
    );
    describeCounters(
      lines,
      "tradewire_sender_broadcasts_total",
      "Submissions that a sender has taken or refused.",
      this.#broadcasts,
    );
    describeHistograms(
      lines,
      "tradewire_landing_seconds",
      "Time from a submit to what became of it on its way.",
      labelled("event", this.#landing),
    );
    lines.push(
      "# HELP tradewire_undurable_broadcasts_total Broadcasts that did not wait for their claim to be written.",
    );
    lines.push("# TYPE tradewire_undurable_broadcasts_total counter");
    lines.push(`tradewire_undurable_broadcasts_total ${this.#undurable}`);
    for (const { name, help, type, read } of this.#gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${read()}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

function histogramOf(all: Map<string, Histogram>, name: string): Histogram {
  let histogram = all.get(name);
  if (histogram === undefined) {
    histogram = new Histogram();
    all.set(name, histogram);
  }
  return histogram;
}

function count(all: Map<string, number>, labels: string): void {
  all.set(labels, (all.get(labels) ?? 0) + 1);
}

function labelled(label: string, all: ReadonlyMap<string, Histogram>): readonly (readonly [string, Histogram])[] {
  return Array.from(all, ([value, histogram]) => [`${label}="${value}"`, histogram]);
}

function describeCounters(lines: string[], name: string, help: string, all: ReadonlyMap<string, number>): void {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
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
