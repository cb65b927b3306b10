import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { Metrics } from "../../src/api/observe/metrics.ts";
import { serviceGauges } from "../../src/app/report/gauges.ts";
import { processGauges } from "../../src/app/report/process-gauges.ts";
import { ALERT_CASES, type AlertCase } from "./alert-cases.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const read = (path: string): string => readFileSync(path, "utf8");
const rules: readonly Rule[] = parse(read("deploy/monitoring/alerts.yml")).groups[0].rules;
const dashboard: { readonly panels: readonly Panel[]; readonly templating: object } = JSON.parse(
  read("deploy/monitoring/grafana/dashboards/tradewire.json"),
);
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The names and types of all metrics, as a scrape states them; nothing is read. */
const types = (() => {
  const metrics = new Metrics();
  const zero = new Proxy(() => 0, { get: () => zero, apply: () => 0 }) as never;
  const trades = { venueCounts: () => new Map() };
  const shadow = { checks: { report: () => [], counts: () => ({}) }, isUp: () => true, programs: () => [] };
  const parts = {
    api: zero,
    head: zero,
    keys: zero,
    markets: zero,
    source: zero,
    landing: zero,
    senders: [],
    shadow,
    trades,
  };
  const gauges = [...serviceGauges({ ...parts, canBuild: () => true } as never), ...processGauges(process)];
  metrics.watch(gauges.map((gauge) => ({ ...gauge, read: () => 0 })));
  return new Map([...metrics.describe().matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]));
})();

/** Metrics that a query reads: of a histogram, the name before `_bucket`. */
const namesIn = (query: string): string[] =>
  [...query.matchAll(/\b(?:tradewire|process|nodejs)_\w+/g)].map(([name]) =>
    types.has(name) ? name : name.replace(/_bucket$/, ""),
  );

/** What is wrong with a query by the types of its metrics. */
function faultsOf(query: string): string[] {
  const faults = namesIn(query)
    .filter((name) => !types.has(name))
    .map((name) => `${name} does not exist`);
  for (const [whole, before, name] of query.matchAll(/(\w+\()?\b((?:tradewire|process|nodejs)_\w+)/g)) {
    const type = types.get(name!) ?? types.get(name!.replace(/_bucket$/, ""));
    const isRate = before === "rate(" || before === "increase(";
    if (type !== "gauge" && !isRate) faults.push(`${whole} is no gauge: it only grows`);
    if (type === "histogram" && !name!.endsWith("_bucket")) faults.push(`${whole} is a histogram`);
  }
  if (query.split("(").length !== query.split(")").length) faults.push("parentheses");
  return faults;
}

describe("the dashboard", () => {
  it("asks for metrics that exist, each by its type", () => {
    expect(types.size).toBeGreaterThan(40);
    expect(queries.flatMap((query) => faultsOf(query).map((fault) => `${query}: ${fault}`))).toEqual([]);
  });

  it("has every metric in a panel", () => {
    const shown = new Set(queries.flatMap(namesIn));
    const unshown = ["tradewire_slot", "process_start_time_seconds"];
    expect([...types.keys()].filter((name) => !shown.has(name) && !unshown.includes(name))).toEqual([]);
  });

  it("explains every panel, and lays them out without overlap", () => {
    const panels = dashboard.panels.filter(({ type }) => type !== "row");
    for (const { title, description } of panels) expect(description, title).toMatch(/^\S.*\.$/);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe("the alerts", () => {
  it("ask for metrics that exist, each by its type", () => {
    expect(rules.flatMap(({ alert, expr }) => faultsOf(expr).map((fault) => `${alert}: ${fault}`))).toEqual([]);
  });

  it("have a severity, a summary and a paragraph of the runbook each", () => {
    const operating = read("docs/operating.md");
    const runbook = operating.slice(operating.indexOf("\n## Alerts\n"));
    const headings = [...runbook.matchAll(/^### (\w+)\n\n(?=[^#]{150})/gm)].map(([, name]) => name);
    expect(headings).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, labels, annotations } of rules) {
      expect(["critical", "warning"]).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
      expect(annotations.runbook).toBe(`docs/operating.md#${alert.toLowerCase()}`);
    }
  });

  it("name the labels and codes that metrics have", () => {
    const codes = read("src/errors/error-codes.ts");
    for (const { expr } of rules) {
      for (const [, value] of expr.matchAll(/code=~?"([^"]+)"/g)) {
        for (const code of value!.split("|")) expect(codes).toContain(`${code}:`);
      }
    }
  });

  const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined;
  const absent = hasPromtool ? "" : " (not run: no promtool here)";
  it.skipIf(!hasPromtool)(`are rules to Prometheus${absent}`, () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", "deploy/monitoring/alerts.yml"]);
    expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
  });

  it("have a case each in which they fire", () => {
    expect(ALERT_CASES.map(({ alert }) => alert)).toEqual(rules.map(({ alert }) => alert));
  });

  it.skipIf(!hasPromtool)(`fire on what they are for, and on nothing else${absent}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "tradewire-alerts-"));
    const severity = new Map(rules.map(({ alert, labels }) => [alert, labels.severity]));
    const check = (cases: readonly AlertCase[], kind: "sick" | "well") => ({
      name: `${kind}: ${cases.map(({ alert }) => alert).join(", ")}`,
      interval: "15s",
      input_series: cases.flatMap((one) =>
        Object.entries(one[kind]).map(([series, values]) => ({ series: withInstance(series), values })),
      ),
      alert_rule_test: cases.map(({ alert, labels, summary }) => {
        const annotations = { summary, runbook: `docs/operating.md#${alert.toLowerCase()}` };
        const fired = { exp_labels: { ...labels, severity: severity.get(alert) }, exp_annotations: annotations };
        return { eval_time: "30m", alertname: alert, exp_alerts: kind === "sick" ? [fired] : [] };
      }),
    });
    const tests = apart(ALERT_CASES).flatMap((cases) => [check(cases, "sick"), check(cases, "well")]);
    const path = join(folder, "alerts.test.yml");
    writeFileSync(
      path,
      stringify({ rule_files: [resolve("deploy/monitoring/alerts.yml")], evaluation_interval: "1m", tests }),
    );
    const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", path], { encoding: "utf8" });
    rmSync(folder, { recursive: true });
    expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
  });
});

/** The cases in groups that share no metric: what one makes of it changes nothing for the others. */
function apart(cases: readonly AlertCase[]): readonly (readonly AlertCase[])[] {
  const metricsOf = ({ sick, well }: AlertCase) => [...Object.keys(sick), ...Object.keys(well)].map(metricIn);
  const groups: AlertCase[][] = [];
  for (const one of cases) {
    const names = new Set(metricsOf(one));
    const group = groups.find((others) => !others.some((other) => metricsOf(other).some((name) => names.has(name))));
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

const metricIn = (series: string): string => series.split("{")[0]!;

/** The series with the instance that its scrape adds. */
function withInstance(series: string): string {
  const [name, labels = ""] = series.replace(/}$/, "").split("{");
  return `${name}{${labels === "" ? "" : `${labels},`}instance="a:9090"}`;
}

it("provisions what the compose file mounts", () => {
  const compose = parse(read("compose.yaml"), { merge: true });
  const scraped = parse(read("deploy/monitoring/prometheus.yml"));
  const [job] = scraped.scrape_configs;
  expect(job.static_configs[0].targets).toEqual(["service-1:9090", "service-2:9090"]);
  for (const { volumes } of [compose.services.prometheus, compose.services.grafana]) {
    for (const volume of volumes.filter((one: string) => one.startsWith("./"))) {
      expect(() => readOrList(volume.split(":")[0])).not.toThrow();
    }
  }
  const provider = parse(read("deploy/monitoring/grafana/provisioning/dashboards/tradewire.yml")).providers[0];
  expect(compose.services.grafana.volumes.join()).toContain(`:${provider.options.path}:`);
  const source = parse(read("deploy/monitoring/grafana/provisioning/datasources/prometheus.yml")).datasources[0];
  expect(JSON.stringify(dashboard).match(/"type":"prometheus","uid":"(\w+)"/)![1]).toBe(source.uid);
  expect(compose.services.grafana.ports).toEqual(["127.0.0.1:3000:3000"]);
});

function readOrList(path: string): void {
  const { status } = spawnSync("ls", [path]);
  if (status !== 0) throw new Error(`${path} is missing`);
}
