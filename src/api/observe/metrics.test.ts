import { expect, it } from "vitest";
import { StageClock } from "../call/call-record.ts";
import { Metrics } from "./metrics.ts";

interface Family {
  readonly type: string;
  readonly samples: { readonly name: string; readonly labels: string; readonly value: number }[];
}

/** Parses the text format as strictly as its specification. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let current: Family | undefined;
  let help: string | undefined;
  let open = "";
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    if (comment !== null) {
      const [, word, name, rest] = comment as unknown as [string, string, string, string];
      if (word === "HELP") help = name;
      else {
        expect({ line, help, again: families.has(name) }).toEqual({ line, help: name, again: false });
        expect(["counter", "gauge", "histogram"]).toContain(rest);
        open = name;
        current = { type: rest, samples: [] };
        families.set(name, current);
      }
      continue;
    }
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-z_]\w*="[^"\\\n]*",?)+)\})? (\S+)$/.exec(line);
    expect({ line, parsed: sample !== null }).toEqual({ line, parsed: true });
    const [, name, labels = "", value] = sample as unknown as [string, string, string | undefined, string];
    const suffixes = current!.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    expect(suffixes.map((suffix) => open + suffix)).toContain(name);
    expect(Number.isFinite(Number(value))).toBe(true);
    current!.samples.push({ name, labels, value: Number(value) });
  }
  return families;
}

function recorded(): Metrics {
  const metrics = new Metrics();
  for (const [method, code, durationMs] of [
    ["Buy", "OK", 0.3],
    ["Buy", "NO_ROUTE", 40],
    ["Submit", "OK", 30_000],
  ] as const) {
    const nowMs = [0, durationMs / 2, durationMs];
    const stages = new StageClock(() => nowMs.shift()!);
    stages.mark("auth");
    stages.mark("route");
    metrics.record({ method, code, durationMs, stages, requestId: "req_1", keyId: "abcdefgh", traceparent: undefined });
  }
  const events = [
    { kind: "sent", atMs: 1_010, sender: "rpc-1" },
    { kind: "refused", atMs: 1_011, sender: "jito" },
    { kind: "confirmed", atMs: 1_900 },
  ];
  metrics.recordSubmission({ code: "OK", startedAtMs: 1_000, events, durable: false });
  metrics.watch([{ name: "tradewire_connections", help: "Connections open.", type: "gauge", read: () => 0 }]);
  return metrics;
}

it("writes valid Prometheus text: each family once, its samples together, buckets that add up", () => {
  const families = parse(recorded().describe());
  expect(families.get("tradewire_calls_total")).toEqual({
    type: "counter",
    samples: [
      { name: "tradewire_calls_total", labels: 'method="Buy",code="OK"', value: 1 },
      { name: "tradewire_calls_total", labels: 'method="Buy",code="NO_ROUTE"', value: 1 },
      { name: "tradewire_calls_total", labels: 'method="Submit",code="OK"', value: 1 },
    ],
  });
  for (const [family, { type, samples }] of families) {
    expect(family.endsWith("_total")).toBe(type === "counter");
    if (type !== "histogram") continue;
    expect(family).toMatch(/_seconds$/);
    const buckets = new Map<string, { le: number; value: number }[]>();
    for (const { name, labels, value } of samples.filter((sample) => sample.name.endsWith("_bucket"))) {
      const [, rest, bound] = /^(.*),le="([^"]+)"$/.exec(labels) as unknown as [string, string, string];
      const le = bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound);
      expect({ name, le }).not.toEqual({ name, le: Number.NaN });
      buckets.set(rest, [...(buckets.get(rest) ?? []), { le, value }]);
    }
    expect(buckets.size).toBeGreaterThan(0);
    for (const [labels, row] of buckets) {
      for (let i = 1; i < row.length; i++) {
        expect(row[i]!.le).toBeGreaterThan(row[i - 1]!.le);
        expect(row[i]!.value).toBeGreaterThanOrEqual(row[i - 1]!.value);
      }
      const count = samples.find((sample) => sample.name === `${family}_count` && sample.labels === labels)!.value;
      expect(row.at(-1)).toEqual({ le: Number.POSITIVE_INFINITY, value: count });
    }
  }
});

it("writes internal errors before there is one, so that an alert sees the first", () => {
  const metrics = new Metrics(["Buy", "Revoke"]);
  const errors = () =>
    parse(metrics.describe())
      .get("tradewire_calls_total")!
      .samples.map(({ labels, value }) => [labels, value]);
  expect(errors()).toEqual([
    ['method="Buy",code="INTERNAL_ERROR"', 0],
    ['method="Revoke",code="INTERNAL_ERROR"', 0],
  ]);
  const call = { code: "INTERNAL_ERROR", durationMs: 1, stages: new StageClock(() => 0) };
  metrics.record({ method: "Buy", requestId: "req_1", keyId: undefined, traceparent: undefined, ...call });
  expect(errors()[0]).toEqual(['method="Buy",code="INTERNAL_ERROR"', 1]);
});

it("has no label that grows with clients, such as their keys, requests or trades", () => {
  const text = recorded().describe();
  expect(new Set(Array.from(text.matchAll(/[{,](\w+)="/g), ([, label]) => label))).toEqual(
    new Set(["method", "code", "le", "stage", "sender", "result", "event"]),
  );
  for (const secret of ["req_1", "abcdefgh"]) expect(text).not.toContain(secret);
});

it("counts exactly the submissions whose broadcast did not wait for the claim", () => {
  const metrics = new Metrics();
  const unclaimed = () => parse(metrics.describe()).get("tradewire_unclaimed_broadcasts_total")!.samples[0]!.value;
  const submission = { code: "OK", startedAtMs: 0, events: [] } as const;
  metrics.recordSubmission({ ...submission, durable: true });
  expect(unclaimed()).toBe(0);
  for (const durable of [false, true, false]) metrics.recordSubmission({ ...submission, durable });
  expect(unclaimed()).toBe(2);
});
