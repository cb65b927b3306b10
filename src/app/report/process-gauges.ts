import { readFileSync, statSync } from "node:fs";
import { constants, type PerformanceEntry, PerformanceObserver, performance } from "node:perf_hooks";
import type { Gauge } from "../../api/observe/metrics.ts";
import { mostOpenFiles } from "../open-files.ts";
import { counter, gauge } from "./gauge.ts";

/** Kinds of collections of V8: the young generation, the whole heap, a step of marking it, and what is left to run afterwards. */
const COLLECTIONS = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weak"],
]);

/** The process itself, as Node has it. */
export type OwnProcess = Pick<NodeJS.Process, "memoryUsage" | "cpuUsage" | "versions">;

/** How Node reports one. Milliseconds. */
interface Collection extends PerformanceEntry {
  readonly detail: { readonly kind: number };
}

/**
 * What the process takes of its machine, under the names that Prometheus' client libraries give it, so that common dashboards and alerts
 * fit. A figure that the system does not tell is left out. Each is read at a scrape, in less than a millisecond however many files are open.
 */
export function processGauges(own: OwnProcess): readonly Gauge[] {
  collected ??= observeCollections();
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  const labels = `version="${version}",node="${own.versions.node}"`;
  return [
    gauge("process_resident_memory_bytes", "Memory of the process.", () => own.memoryUsage.rss()),
    gauge("nodejs_heap_size_used_bytes", "Heap in use.", () => own.memoryUsage().heapUsed),
    gauge("nodejs_heap_size_total_bytes", "Heap taken from the system.", () => own.memoryUsage().heapTotal),
    gauge("nodejs_external_memory_bytes", "Memory of objects beside the heap.", () => own.memoryUsage().external),
    {
      name: "nodejs_gc_seconds_total",
      help: "Time for which collections of memory stopped the event loop.",
      type: "counter",
      read: collectionSeconds,
    },
    counter("process_cpu_seconds_total", "Processor time of all threads.", () => cpuSeconds(own)),
    gauge(
      "process_start_time_seconds",
      "When the process started, epoch seconds.",
      () => performance.timeOrigin / 1_000,
    ),
    ...fileGauges(),
    { name: "tradewire_build_info", help: "What runs.", type: "gauge", read: () => [[labels, 1]] },
  ];
}

function fileGauges(): readonly Gauge[] {
  const limit = mostOpenFiles();
  return [
    ...(openFiles() === undefined
      ? []
      : [gauge("process_open_fds", "Files and connections open.", () => openFiles() ?? Number.NaN)]),
    ...(limit === undefined
      ? []
      : [gauge("process_max_fds", "How many files and connections may be open.", () => limit)]),
  ];
}

/** Linux tells their number as the size of this folder since version 6.2; to list it would take milliseconds. */
function openFiles(): number | undefined {
  const size = statSync("/proc/self/fd", { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 ? size : undefined;
}

/** Seconds of collections so far, by kind; undefined before the first process gauges are made. One observer serves the process. */
let collected: Map<string, number> | undefined;

function collectionSeconds(): readonly (readonly [labels: string, seconds: number])[] {
  return [...collected!].map(([kind, seconds]) => [`kind="${kind}"`, seconds] as const);
}

function observeCollections(): Map<string, number> {
  const seconds = new Map([...COLLECTIONS.values()].map((kind) => [kind, 0]));
  new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as Collection[]) {
      const kind = COLLECTIONS.get(detail.kind);
      if (kind !== undefined) seconds.set(kind, seconds.get(kind)! + duration / 1_000);
    }
  }).observe({ entryTypes: ["gc"] });
  return seconds;
}

function cpuSeconds(own: OwnProcess): number {
  const { user, system } = own.cpuUsage();
  return (user + system) / 1e6;
}
