import { closeSync, openSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { processGauges } from "./process-gauges.ts";

const read = (name: string) =>
  processGauges(process)
    .find((one) => one.name === name)!
    .read();

it("has the names that Prometheus' client libraries give, with units, each explained", () => {
  for (const { name, help, type } of processGauges(process)) {
    expect(name).toMatch(/^(process|nodejs|tradewire)_[a-z_]+$/);
    expect(name.endsWith("_total")).toBe(type === "counter");
    expect(help).toMatch(/^\S.*\.$/);
  }
});

it("counts processor time and memory of the process", () => {
  const before = read("process_cpu_seconds_total") as number;
  for (const untilMs = performance.now() + 60; performance.now() < untilMs; );
  const spent = (read("process_cpu_seconds_total") as number) - before;
  expect(spent).toBeGreaterThan(0);
  const held = Buffer.alloc(64 * 1024 * 1024, 1);
  expect(read("nodejs_external_memory_bytes")).toBeGreaterThan(held.length);
  expect(read("process_resident_memory_bytes")).toBeGreaterThan(held.length);
  expect(read("nodejs_heap_size_total_bytes")).toBeGreaterThan(read("nodejs_heap_size_used_bytes") as number);
  expect(read("process_start_time_seconds")).toBeCloseTo(Date.now() / 1_000 - process.uptime(), -1);
});

it.runIf(process.platform === "linux")("knows how many files are open, and may be", () => {
  const before = read("process_open_fds") as number;
  const files = Array.from({ length: 50 }, () => openSync("/dev/null", "r"));
  expect(read("process_open_fds")).toBeGreaterThanOrEqual(before + 40);
  for (const file of files) closeSync(file);
  expect(read("process_max_fds")).toBeGreaterThan(before);
});

it("adds up for how long collections have stopped the process, by kind", async () => {
  const secondsOf = (kind: string) =>
    (read("nodejs_gc_seconds_total") as [string, number][]).find(([labels]) => labels === `kind="${kind}"`)![1];
  const [minor, major] = [secondsOf("minor"), secondsOf("major")];
  setFlagsFromString("--expose-gc");
  const collect: (options: { readonly type: "minor" | "major" }) => void = runInNewContext("gc");
  collect({ type: "minor" });
  collect({ type: "major" });
  await expect.poll(() => secondsOf("minor") > minor && secondsOf("major") > major).toBe(true);
});

it("says what runs", () => {
  expect(read("tradewire_build_info")).toEqual([[expect.stringMatching(/^version="\d+\.\d+\.\d+",node="\d+/), 1]]);
});
