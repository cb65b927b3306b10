import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const hasPrometheus = spawnSync("prometheus", ["--version"]).error === undefined;
if (!hasPrometheus) {
  process.stderr.write("No prometheus found on PATH: dashboard and alerts are not asked of a running Prometheus.\n");
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface RuleState {
  readonly name: string;
  readonly state: string;
  readonly health: string;
  readonly lastError?: string;
  readonly lastEvaluation: string;
}

const read = (path: string): string => readFileSync(path, "utf8");
const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(
  read("deploy/monitoring/grafana/dashboards/tradewire.json"),
);
/** A query that draws something only if it is wrong. */
const SHOWS_FAULTS = / > 0$/;
const alerts: readonly { readonly alert: string }[] = parse(read("deploy/monitoring/alerts.yml")).groups[0].rules;

describe.skipIf(!hasPrometheus)("a Prometheus that scrapes the service as deploy/monitoring says", () => {
  let folder: string;
  let service: TestService;
  let prometheus: ChildProcess | undefined;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tradewire-monitoring-"));
    service = await startTestService({ SHADOW_EXECUTION: "guard" });
    const config = parse(read("deploy/monitoring/prometheus.yml"));
    config.global = { scrape_interval: "1s", evaluation_interval: "1s" };
    config.rule_files = [resolve("deploy/monitoring/alerts.yml")];
    config.scrape_configs[0].static_configs[0].targets = [new URL(service.app.admin.url).host];
    const path = join(folder, "prometheus.yml");
    writeFileSync(path, stringify(config));
    ({ child: prometheus, url } = await start(path, folder));
  });

  afterAll(async () => {
    if (prometheus?.exitCode === null) {
      const ended = new Promise((resolve) => prometheus!.once("exit", resolve));
      prometheus.kill("SIGTERM");
      await ended;
    }
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (path: string) => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as { status: string; data: never };
    expect(answer).toMatchObject({ status: "success" });
    return answer.data;
  };

  /** The values that a panel's query has now, its variables filled in. */
  const valuesOf = async (expr: string): Promise<readonly number[]> => {
    const query = expr.replaceAll("$instance", ".*").replaceAll("$__rate_interval", "1m");
    const { result } = (await ask(`query?query=${encodeURIComponent(query)}`)) as {
      result: { value: [number, string] }[];
    };
    return result.map(({ value }) => Number(value[1]));
  };

  it("has an answer to every query of every panel, once there has been a little of everything", async () => {
    const client = await service.newClient();
    const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    expect(queries.length).toBeGreaterThan(50);
    let open = queries;
    // A rate needs two scrapes that differ.
    await expect
      .poll(
        async () => {
          await trade(service, client);
          const left = [];
          for (const query of open) {
            const values = (await valuesOf(query.expr)).filter((value) => !Number.isNaN(value));
            if (values.length === 0 && !SHOWS_FAULTS.test(query.expr)) left.push(query);
          }
          open = left;
          return open.map(({ title, expr }) => `${title}: ${expr}`);
        },
        { interval: 500, timeout: 180_000 },
      )
      .toEqual([]);
  });

  it("has loaded and evaluated every alert rule, and none fires on a service that is well", async () => {
    const rules = async () => {
      const { groups } = (await ask("rules")) as { groups: { rules: RuleState[] }[] };
      return groups.flatMap((group) => group.rules);
    };
    await expect
      .poll(async () => (await rules()).map(({ name, health }) => [name, health]), { interval: 500 })
      .toEqual(alerts.map(({ alert }) => [alert, "ok"]));
    for (const { name, state, lastError } of await rules()) {
      expect({ name, lastError }).toEqual({ name, lastError: undefined });
      expect({ name, state }).not.toEqual({ name, state: "firing" });
    }
  });

  it("notices that the service is gone: the alert is pending at the next evaluation", async () => {
    await service.close();
    const down = async () => {
      const { alerts: raised } = (await ask("alerts")) as { alerts: { labels: { alertname: string } }[] };
      return raised.map(({ labels }) => labels.alertname);
    };
    await expect.poll(down, { interval: 500, timeout: 60_000 }).toContain("TradewireDown");
  });
});

/** A quote, a refusal, a trade that lands and one that fails, so that each counter has something to count. */
async function trade(service: TestService, client: Tradewire): Promise<void> {
  const mint = service.mintOn("raydium_cpmm", "LUMEN");
  const pair = { inputMint: "SOL", outputMint: mint, slippage: 0 };
  await client.quote({ ...pair, amount: 0.1, swapMode: "exactIn" });
  await client.quote({ ...pair, amount: 1e9, swapMode: "exactOut" }).catch(() => {});
  const order = { mint, solAmount: 0.05, slippage: 0, priority: "fast" as const };
  const built = await client.buildBuy(order);
  await client.buy({ ...order, solAmount: 0.1, slippage: 0.5 });
  await client.submit(built.submissionToken, await client.sign(built)).catch(() => {});
}

/** Starts Prometheus on a free port. It says on standard error where it listens. */
async function start(config: string, folder: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(
    "prometheus",
    [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, "--web.listen-address=127.0.0.1:0"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let output = "";
  const address = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`prometheus ended with ${code}: ${output}`)));
    child.stderr!.on("data", (chunk) => {
      output += chunk;
      const found = /address=(127\.0\.0\.1:[1-9]\d*)/.exec(output);
      if (found !== null) resolve(found[1]!);
    });
  });
  return { child, url: `http://${address}` };
}
