import type { CallRecord } from "./call-record.ts";

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
  readonly #stages = new Map<string, Histogram>();
  readonly #gauges: readonly Gauge[];

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges;
  }

  record({ method, code, durationMs, stages }: CallRecord): void {
    let codes = this.#calls.get(method);
    if (codes === undefined) {
      codes = new Map();
      this.#calls.set(method, codes);
    }
    codes.set(code, (codes.get(code) ?? 0) + 1);
    histogramOf(this.#durations, method).observe(durationMs / 1_000);
    let fromMs = stages.startMs;
    for (let i = 0; i < stages.names.length; i++) {
      const endMs = stages.endsMs[i]!;
      histogramOf(this.#stages, stages.names[i]!).observe((endMs - fromMs) / 1_000);
      fromMs = endMs;
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
    describeHistograms(lines, "tradewire_call_seconds", "Time from a call to its answer.", "method", this.#durations);
    describeHistograms(lines, "tradewire_stage_seconds", "Time of one stage of a call.", "stage", this.#stages);
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

function describeHistograms(
  lines: string[],
  name: string,
  help: string,
  label: string,
  all: ReadonlyMap<string, Histogram>,
): void {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
  for (const [value, { counts, sum }] of all) {
    let count = 0;
    BOUNDS.forEach((bound, i) => {
      count += counts[i]!;
      lines.push(`${name}_bucket{${label}="${value}",le="${bound}"} ${count}`);
    });
    count += counts[BOUNDS.length]!;
    lines.push(
      `${name}_bucket{${label}="${value}",le="+Inf"} ${count}`,
      `${name}_sum{${label}="${value}"} ${sum}`,
      `${name}_count{${label}="${value}"} ${count}`,
    );
  }
}
