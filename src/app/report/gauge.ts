import type { Gauge } from "../../api/observe/metrics.ts";

/** A figure that goes up and down. @param read is called at each scrape */
export function gauge(name: string, help: string, read: Gauge["read"]): Gauge {
  return { name, help, type: "gauge", read };
}

/** A figure that only grows, from the start of the process. @param read is called at each scrape */
export function counter(name: string, help: string, read: Gauge["read"]): Gauge {
  return { name, help, type: "counter", read };
}
