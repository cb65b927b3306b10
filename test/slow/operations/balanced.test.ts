import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import bs58 from "bs58";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.ts";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { startPostgres, type TestPostgres } from "../../support/postgres.ts";
import { createTestWallet, type TestWallet } from "../../support/wallet.ts";
import { callOnce, type Sample } from "../edge/load.ts";

const postgres: TestPostgres | undefined = await startPostgres();
const hasBalancer = spawnSync("haproxy", ["-v"]).error === undefined;
if (postgres === undefined)
  process.stderr.write("No PostgreSQL found: several processes on one database are not tested.\n");
if (!hasBalancer) process.stderr.write("No HAProxy found: processes behind a load balancer are not tested.\n");

interface Service {
  readonly port: number;
  readonly adminPort: number;
  readonly url: string;
  readonly child: ChildProcess;
  output: string;
}

let sandbox: Sandbox;
let environment: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), "tradewire-operations-"));
const children = new Set<ChildProcess>();

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
  environment = {
    PATH: process.env.PATH!,
    SOLANA_RPC_URL: sandbox.rpcUrl,
    SOLANA_WS_URL: sandbox.wsUrl,
    SIGN_IN_CHAIN_ID: "localnet",
    KEY_PEPPER: "11".repeat(32),
    TOKEN_KEYS: `k1:${"22".repeat(32)}`,
    LAME_DUCK_MS: "2000",
    PUBLIC_URL: "http://127.0.0.1:8080",
    DATA_DIR: folder,
  };
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await sandbox?.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(settings: Record<string, string>, argv: readonly string[] = []): Promise<Service> {
  const port = Number(settings.PORT ?? (await freePort()));
  const adminPort = Number(settings.ADMIN_PORT ?? (await freePort()));
  const child = spawn(process.execPath, ["src/process/main.ts", ...argv], {
    env: { ...environment, PORT: `${port}`, ADMIN_PORT: `${adminPort}`, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  const service: Service = { port, adminPort, url: `http://127.0.0.1:${port}`, child, output: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      service.output += chunk;
    });
  }
  for (const untilMs = Date.now() + 60_000; !/is ready/.test(service.output); await sleep(50)) {
    if (child.exitCode !== null || Date.now() > untilMs) throw new Error(service.output);
  }
  return service;
}

function stop({ child }: Service): Promise<number | null> {
  return new Promise((resolve) => {
    child.once("exit", (code) => resolve(code));
    child.kill("SIGTERM");
  });
}

/** HAProxy with the configuration that is shipped, pointed at these processes. */
async function balance(services: readonly Service[]): Promise<number> {
  const port = await freePort();
  let config = readFileSync("deploy/haproxy.cfg", "utf8").replace("bind :8080", `bind 127.0.0.1:${port}`);
  services.forEach((service, i) => {
    config = config
      .replace(
        `server service-${i + 1} service-${i + 1}:8080`,
        `server service-${i + 1} 127.0.0.1:${service.port} check port ${service.adminPort}`,
      )
      .replace(`service-${i + 1}:8080 proto h2`, `127.0.0.1:${service.port} proto h2`);
  });
  const path = join(folder, "haproxy.cfg");
  writeFileSync(path, config);
  const child = spawn("haproxy", ["-f", path, "-db"], { stdio: "ignore" });
  children.add(child);
  await until(async () => (await fetch(`http://127.0.0.1:${port}/v1/ping`)).status === 200);
  return port;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const untilMs = Date.now() + 120_000; !(await condition().catch(() => false)); await sleep(50)) {
    if (Date.now() > untilMs) throw new Error("it did not come about");
  }
}

async function fund(wallet: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "requestAirdrop", params: [wallet, 100e9] });
  await fetch(sandbox.rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
}

async function post(url: string, body: object, apiKey?: string) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...(await response.json()) };
}

async function register(url: string, wallet: TestWallet): Promise<{ apiKey: string; keyId: string }> {
  const walletAddress = wallet.address.toString();
  const { data } = await post(`${url}/v1/auth/challenge`, { walletAddress });
  const signature = bs58.encode(wallet.sign(data.message));
  return (await post(`${url}/v1/auth/register`, { walletAddress, message: data.message, signature })).data;
}

/** Builds and pings continuously until stopped, on kept-alive connections. */
function load(port: number, apiKey: string, mint: string) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 12, scheduling: "fifo" });
  const samples: Promise<Sample>[] = [];
  const body = { mint, solAmount: 0.01, slippage: 0.05, priority: "fast" };
  const timer = setInterval(() => {
    samples.push(
      callOnce(
        port,
        samples.length % 3 === 0 ? { path: "/v1/tx/buy", body, key: apiKey } : { path: "/v1/ping" },
        agent,
      ),
    );
  }, 10);
  return async () => {
    clearInterval(timer);
    const answers = await Promise.all(samples);
    agent.destroy();
    return {
      total: answers.length,
      bad: answers.filter(({ status }) => status !== 200).map(({ status, error }) => error ?? status),
    };
  };
}

/** Calls over gRPC continuously until stopped, on one connection. */
function grpcLoad(url: string) {
  const health = createClient(Health, createGrpcTransport({ baseUrl: url }));
  const calls: Promise<string | undefined>[] = [];
  // Whether it serves is not asked: a process that drains says no, and answers.
  const call = () =>
    health.check({}).then(
      () => undefined,
      (error: unknown) => String(error),
    );
  const timer = setInterval(() => calls.push(call()), 30);
  return async () => {
    clearInterval(timer);
    const answers = await Promise.all(calls);
    return { total: answers.length, bad: answers.filter((error) => error !== undefined) };
  };
}

const mintOf = () => sandbox.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!.mint.toString();

describe.skipIf(postgres === undefined || !hasBalancer)("two processes on one PostgreSQL behind HAProxy", () => {
  let services: Service[];
  let settings: Record<string, string>;
  let port: number;
  let url: string;

  beforeAll(async () => {
    settings = { DATABASE_URL: await postgres!.createDatabase(), TRUSTED_PROXIES: "1" };
    services = await Promise.all([run(settings), run(settings)]);
    port = await balance(services);
    url = `http://127.0.0.1:${port}`;
  });

  it("are one service: each knows the other's accounts and trades", async () => {
    const wallet = createTestWallet();
    await fund(wallet.address.toString());
    const { apiKey, keyId } = await register(url, wallet);
    const order = { mint: mintOf(), solAmount: 0.1, slippage: 0.05, priority: "fast" };
    const built = await post(`${services[0]!.url}/v1/tx/buy`, order, apiKey);
    expect(built.status).toBe(200);
    const transaction = Buffer.from(built.data.unsignedTransaction, "base64");
    transaction.set(wallet.sign(transaction.subarray(65)), 1);
    const submit = { submissionToken: built.data.submissionToken, signedTransaction: transaction.toString("base64") };
    const answers = await Promise.all(
      [...services, ...services].map((service) => post(`${service.url}/v1/tx/submit`, submit, apiKey)),
    );
    for (const answer of answers) expect(answer).toEqual({ ...answers[0], requestId: answer.requestId });
    expect(answers[0].data.status).toMatch(/confirmed|finalized/);

    const second = await register(url, wallet);
    for (const service of services) {
      expect(
        (await fetch(`${service.url}/v1/auth/profile`, { headers: { authorization: `Bearer ${apiKey}` } })).status,
      ).toBe(200);
    }
    await fetch(`${services[0]!.url}/v1/auth/keys/${keyId}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${second.apiKey}` },
    });
    await sleep(2_000);
    for (const service of services) {
      expect(
        (await fetch(`${service.url}/v1/auth/profile`, { headers: { authorization: `Bearer ${apiKey}` } })).status,
      ).toBe(401);
    }
  });

  it("answer gRPC, calls and streams", async () => {
    const health = createClient(Health, createGrpcTransport({ baseUrl: url }));
    expect(await health.check({})).toMatchObject({ status: Status.SERVING });
    for await (const { status } of health.watch({})) {
      expect(status).toBe(Status.SERVING);
      break;
    }
    await expect(health.check({ service: "nothing" })).rejects.toThrow("unknown service");
  });

  it("lose no request while both stand still for less than the balancer waits for a check", async () => {
    const pings: Promise<number>[] = [];
    const ping = () => fetch(`${url}/v1/ping`).then(({ status }) => status);
    const timer = setInterval(() => pings.push(ping()), 20);
    const signal = (name: NodeJS.Signals) => services.forEach(({ child }) => void child.kill(name));
    await sleep(500);
    signal("SIGSTOP");
    await sleep(900);
    signal("SIGCONT");
    await sleep(1_500);
    clearInterval(timer);
    const statuses = await Promise.all(pings);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(statuses.length).toBeGreaterThan(20);
  });

  it("lose no request during a rolling restart", async () => {
    const wallet = createTestWallet();
    await fund(wallet.address.toString());
    const { apiKey } = await register(url, wallet);
    const end = load(port, apiKey, mintOf());
    const endGrpc = grpcLoad(url);
    await sleep(1_000);
    for (let i = 0; i < services.length; i++) {
      const old = services[i]!;
      expect(await stop(old)).toBe(0);
      services[i] = await run({ ...settings, PORT: `${old.port}`, ADMIN_PORT: `${old.adminPort}` });
      await until(async () => (await fetch(`http://127.0.0.1:${old.adminPort}/readyz`)).status === 200);
      await sleep(1_500);
    }
    const { total, bad } = await end();
    const grpc = await endGrpc();
    process.stdout.write(
      `  replaced both of 2 processes under load: ${total} calls, ${bad.length} lost; ${grpc.total} over gRPC, ${grpc.bad.length} lost\n`,
    );
    expect(bad).toEqual([]);
    expect(total).toBeGreaterThan(500);
    expect(grpc.bad).toEqual([]);
    expect(grpc.total).toBeGreaterThan(100);
  });
});

describe.skipIf(postgres === undefined)("two processes on one PostgreSQL", () => {
  it("enforce a key's limit together", async () => {
    const limited = {
      DATABASE_URL: await postgres!.createDatabase(),
      BUILD_PER_SECOND: "40",
      LIMIT_BURST_SECONDS: "1",
      LIMIT_SYNC_MS: "200",
    };
    const pair = await Promise.all([run(limited), run(limited)]);
    const wallet = createTestWallet();
    await fund(wallet.address.toString());
    const { apiKey } = await register(pair[0]!.url, wallet);
    const order = { mint: mintOf(), solAmount: 0.01, slippage: 0.05, priority: "fast" };
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    const passed = async (seconds: number) => {
      const untilMs = performance.now() + seconds * 1_000;
      const samples: Promise<Sample>[] = [];
      while (performance.now() < untilMs) {
        for (const service of pair)
          samples.push(callOnce(service.port, { path: "/v1/tx/buy", body: order, key: apiKey }, agent));
        await sleep(10);
      }
      return (await Promise.all(samples)).filter(({ status }) => status === 200).length;
    };
    // The burst, plus the time in which processes share their usage.
    await passed(2);
    const perSecond = (await passed(6)) / 6;
    agent.destroy();
    process.stdout.write(`  a key limited to 40/s got ${perSecond.toFixed(1)}/s out of two processes\n`);
    expect(perSecond).toBeGreaterThan(40 * 0.7);
    expect(perSecond).toBeLessThan(40 * 1.3);
    await Promise.all(pair.map(stop));
  });
});

describe("workers on one port", () => {
  it("trade as one service and lose no request when replaced", async () => {
    const service = await run({}, ["--workers", "2"]);
    const wallet = createTestWallet();
    await fund(wallet.address.toString());
    const { apiKey } = await register(service.url, wallet);
    const end = load(service.port, apiKey, mintOf());
    await sleep(500);
    service.child.kill("SIGHUP");
    await until(async () => /every worker has been replaced/.test(service.output));
    await sleep(500);
    const { total, bad } = await end();
    process.stdout.write(`  replaced both of 2 workers under load: ${total} calls, ${bad.length} lost\n`);
    expect(bad).toEqual([]);
    const client = Tradewire.connect({
      baseUrl: service.url,
      // PUBLIC_URL names another port: that of the balancer.
      domain: "127.0.0.1:8080",
      wallet: bs58.encode(Buffer.alloc(32, 9)),
    });
    await fund(client.wallet.publicKey.toString());
    await client.register();
    const trade = await client.buy({ mint: mintOf(), solAmount: 0.1, slippage: 0.05, priority: "fast" });
    expect(trade.tradeResult).toBeDefined();
    expect(await stop(service)).toBe(0);
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
