import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CutProxy, startCutProxy } from "../support/cut-proxy.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { startTestService, type TestService } from "../support/service.ts";

const postgres: TestPostgres | undefined = await startPostgres();

/** The balancer of deploy/ gives a check no more time than the interval between two. */
const CHECK_MS = Number(/check port \d+ inter (\d+)ms/.exec(readFileSync("deploy/haproxy.cfg", "utf8"))![1]);

describe.skipIf(postgres === undefined)("while the database holds its connections and says nothing", () => {
  let proxy: CutProxy;
  let service: TestService;

  beforeAll(async () => {
    const direct = new URL(await postgres!.createDatabase());
    proxy = await startCutProxy(direct.href);
    const through = new URL(proxy.url);
    through.username = direct.username;
    through.password = direct.password;
    through.pathname = direct.pathname;
    service = await startTestService({ DATABASE_URL: through.href });
  });

  afterAll(async () => {
    await service?.close();
    await proxy?.close();
    await postgres?.stop();
  });

  const ask = async (path: string) => {
    const startedMs = performance.now();
    const response = await fetch(`${service.app.admin.url}${path}`);
    const text = await response.text();
    return { status: response.status, text, ms: performance.now() - startedMs };
  };

  it("stays ready for its balancer, and reports what is missing", async () => {
    const client = await service.newClient();
    const order = { mint: service.mintOn("raydium_cpmm"), solAmount: 0.1, slippage: 0.05, priority: "fast" } as const;
    // On a busy machine the chain's state may be too old for one build, or the database slow for one check.
    const built = async () => (await service.call("/v1/tx/buy", order, client.apiKey)).status;
    await expect.poll(built).toBe(200);
    await expect.poll(async () => JSON.parse((await ask("/readyz")).text).checks.store).toBe("ok");

    proxy.silence(true);
    const named = async () => {
      const { status, text, ms } = await ask("/readyz");
      expect(status).toBe(200);
      expect(ms).toBeLessThan(CHECK_MS);
      return JSON.parse(text).checks.store;
    };
    await expect.poll(named).toContain("registration and keys not used before are refused");
    const age = /^tradewire_store_age_seconds ([\d.]+)$/m.exec((await ask("/metrics")).text)?.[1];
    expect(Number(age)).toBeGreaterThan(2);
    await expect.poll(built).toBe(200);

    proxy.silence(false);
    proxy.cut();
    await expect.poll(named).toBe("ok");
  });
});
