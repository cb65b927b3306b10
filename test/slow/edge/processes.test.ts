import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { startPostgres } from "../../support/postgres.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { ask, register, rpc, type ServiceProcess, signBuild, startServiceProcess } from "./service-processes.ts";
import { ms, percentile, report } from "./table.ts";

const random = createRandom(24);
const PEPPER = "5e".repeat(32);
const postgres = await startPostgres();
if (postgres === undefined) process.stderr.write("No PostgreSQL found: rows 24 and 25 are measured on SQLite alone.\n");

let sandbox: Sandbox;
let environment: Record<string, string>;
let mint: string;
const running = new Set<ServiceProcess>();
const folders: string[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
  mint = sandbox.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!.mint.toString();
  environment = {
    SOLANA_RPC_URL: sandbox.rpcUrl,
    SOLANA_WS_URL: sandbox.wsUrl,
    SIGN_IN_CHAIN_ID: "localnet",
    PUBLIC_URL: "http://127.0.0.1:8080",
    KEY_PEPPER: PEPPER,
  };
});
afterAll(async () => {
  for (const service of running) service.signal("SIGKILL");
  await sandbox?.close();
  await postgres?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const start = async (settings: Record<string, string>, argv: readonly string[] = []): Promise<ServiceProcess> => {
  const service = await startServiceProcess({ ...environment, ...settings }, argv);
  running.add(service);
  return service;
};
const stop = async (service: ServiceProcess): Promise<number | null> => {
  running.delete(service);
  return service.stop();
};
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-edge-processes-"));
  folders.push(folder);
  return folder;
};
const order = () => ({ mint, solAmount: 0.01, slippage: 0.05, priority: "fast" });
const newTrader = async (port: number) => {
  const wallet = createTestWallet();
  await rpc(sandbox.rpcUrl, "requestAirdrop", [wallet.address.toString(), 100e9]);
  return { wallet, ...(await register(port, wallet)) };
};

it("23: a revoked key stops on every process of the service", async () => {
  const delaysMs: number[] = [];
  const homes: string[] = [];
  for (const url of postgres === undefined ? [undefined] : [undefined, await postgres.createDatabase()]) {
    homes.push(url === undefined ? "SQLite" : "PostgreSQL");
    const settings: Record<string, string> = { DATA_DIR: newFolder(), LAME_DUCK_MS: "0" };
    if (url !== undefined) settings.DATABASE_URL = url;
    const [here, ...others] = [await start(settings), await start(settings), await start(settings)];
    const wallet = createTestWallet();
    const { apiKey } = await register(here!.port, wallet);
    const accepts = async ({ port }: ServiceProcess, key: string) => {
      const { status, error } = await ask(port, "/v1/auth/profile", { key });
      if (status !== 200 && status !== 401) throw new Error(`answered ${status} ${error}`);
      return status === 200;
    };
    for (let i = 0; i < 8; i++) {
      const { apiKey: key, keyId } = await register(here!.port, wallet);
      for (const service of [here!, ...others]) expect(await accepts(service, key)).toBe(true);
      expect(await ask(here!.port, `/v1/auth/keys/${keyId}`, { key: apiKey, method: "DELETE" })).toMatchObject({
        status: 200,
      });
      const revokedAtMs = performance.now();
      await Promise.all(
        [here!, ...others].map(async (service) => {
          let acceptedAtMs = revokedAtMs;
          // The key is used all the time, and for a while after it was first refused.
          for (let refusals = 0; refusals < 20; await sleep(10)) {
            const startMs = performance.now();
            if (!(await accepts(service, key))) refusals++;
            else [acceptedAtMs, refusals] = [startMs, 0];
          }
          delaysMs.push(acceptedAtMs - revokedAtMs);
        }),
      );
    }
    for (const service of [here!, ...others]) expect(await stop(service)).toBe(0);
  }
  const p50 = percentile(delaysMs, 0.5);
  report(
    23.5,
    `A revoked key stops on every one of three processes of the service, ${homes.join(" and ")}`,
    "0 accepted > 2 s later, p50 ≤ 1 s",
    `${delaysMs.length} times: p50 ${ms(p50)}, last ${ms(Math.max(...delaysMs))}`,
    Math.max(...delaysMs) <= 2_000 && p50 <= 1_000,
  );
}, 240_000);

it("24: sealing keys rotate under load, over four processes of the service", async () => {
  const digits = () => Buffer.from(random.bytes(32)).toString("hex");
  let ring = `k0:${digits()}`;
  const shared: Record<string, string> = { DATA_DIR: newFolder(), LAME_DUCK_MS: "100" };
  if (postgres !== undefined) shared.DATABASE_URL = await postgres.createDatabase();
  const fleet: { service: ServiceProcess; serves: boolean }[] = [];
  for (let i = 0; i < 4; i++) fleet.push({ service: await start({ ...shared, TOKEN_KEYS: ring }), serves: true });
  const { apiKey: key } = await newTrader(fleet[0]!.service.port);
  const agent = new http.Agent({ keepAlive: false });

  /** What a process says of a token, with bytes that are not what was built: whether it can open it at all. */
  const opens = async (port: number, submissionToken: string): Promise<boolean | undefined> => {
    const body = { submissionToken, signedTransaction: "AQ==" };
    const answer = await ask(port, "/v1/tx/submit", { body, key, agent });
    const code = answer.body?.error?.code;
    return code === "MESSAGE_MISMATCH" ? true : code === "INVALID_SUBMISSION_TOKEN" ? false : undefined;
  };
  const serving = () =>
    fleet.filter(({ serves }) => serves)[random.u32() % fleet.filter(({ serves }) => serves).length]!;
  const sealedBy = new Map<string, string[]>();
  let [sealed, opened, refused, odd, isOver] = [0, 0, 0, 0, false];
  /** Tokens are made by one process and used on any, new ones and those of a while ago. */
  const trade = async () => {
    const recent: string[] = [];
    while (!isOver) {
      const built = await ask(serving().service.port, "/v1/tx/buy", { body: order(), key, agent });
      const token: string | undefined = built.body?.data?.submissionToken;
      if (token === undefined) odd++;
      else {
        sealed++;
        const name = token.split(".")[1]!;
        recent.push(token);
        sealedBy.set(name, [...(sealedBy.get(name) ?? []), token]);
      }
      for (const old of [recent.at(-1), recent[random.u32() % recent.length]]) {
        if (old === undefined || retired.has(old.split(".")[1]!)) continue;
        const verdict = await opens(serving().service.port, old);
        if (verdict === true) opened++;
        // The key may have been retired while this was on its way.
        else if (verdict === undefined) odd++;
        else if (!retired.has(old.split(".")[1]!)) refused++;
      }
      await sleep(5);
    }
  };
  const retired = new Set<string>();
  const restart = async (place: (typeof fleet)[number]) => {
    const { port, adminPort } = place.service;
    place.serves = false;
    await sleep(50);
    expect(await stop(place.service)).toBe(0);
    const settings = { ...shared, TOKEN_KEYS: ring, PORT: `${port}`, ADMIN_PORT: `${adminPort}` };
    place.service = await start(settings);
    place.serves = true;
  };
  const roll = async (next: string) => {
    ring = next;
    // Two at a time: the other two serve.
    for (const half of [fleet.slice(0, 2), fleet.slice(2)]) await Promise.all(half.map(restart));
  };
  const traders = [trade(), trade()];
  let retiredTried = 0;
  let retiredOpened = 0;
  for (let rotation = 1; rotation <= 3; rotation++) {
    const old = ring;
    const made = `k${rotation}:${digits()}`;
    await roll(`${old},${made}:verify`);
    await roll(`${made},${old}:verify`);
    const name = old.split(":")[0]!;
    // From here on the old key's tokens have run out, as far as the operator is concerned.
    retired.add(name);
    await roll(made);
    for (const token of (sealedBy.get(name) ?? []).slice(-25)) {
      for (const { service } of fleet) {
        retiredTried++;
        if ((await opens(service.port, token)) !== false) retiredOpened++;
      }
    }
  }
  isOver = true;
  await Promise.all(traders);
  await Promise.all(fleet.map(({ service }) => stop(service)));
  report(
    24,
    `Sealing keys rotate under load, 4 processes on one ${postgres === undefined ? "SQLite" : "PostgreSQL"}, 36 restarts`,
    "3 rotations: 0 valid tokens refused, retired key 100 % refused",
    `${sealed} tokens of ${sealedBy.size} keys, opened ${opened} times, ${refused} valid refused, ${odd} other answers; ${retiredTried - retiredOpened} of ${retiredTried} retired refused`,
    sealedBy.size === 4 && opened > 500 && refused === 0 && odd === 0 && retiredTried >= 300 && retiredOpened === 0,
  );
}, 1_800_000);

/** Every value of every table, as text. What a submit was made of is its recovery record, and of no use without its account's key. */
async function databaseTexts(home: { readonly dataDir: string; readonly url: string | undefined }): Promise<string[]> {
  const rows: Record<string, unknown>[] = [];
  if (home.url === undefined) {
    const database = new DatabaseSync(join(home.dataDir, "tradewire.sqlite"), { readOnly: true });
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
    for (const { name } of tables) rows.push(...database.prepare(`select * from "${name}"`).all());
    database.close();
  } else {
    const client = new pg.Client({ connectionString: home.url });
    await client.connect();
    const tables = await client.query("select table_name from information_schema.tables where table_schema = 'public'");
    for (const { table_name } of tables.rows) rows.push(...(await client.query(`select * from "${table_name}"`)).rows);
    await client.end();
  }
  return rows.flatMap((row) =>
    Object.entries(row)
      .filter(([column]) => column !== "submission_token")
      .flatMap(([, value]) =>
        value instanceof Uint8Array
          ? ["latin1", "hex", "base64"].map((form) => Buffer.from(value).toString(form as BufferEncoding))
          : [String(value)],
      ),
  );
}

it("25: no secret is at rest in the database or the log", async () => {
  const found: string[] = [];
  let [rows, lines] = [0, 0];
  const homes: string[] = [];
  for (const url of postgres === undefined ? [undefined] : [undefined, await postgres.createDatabase()]) {
    homes.push(url === undefined ? "SQLite" : "PostgreSQL");
    const dataDir = newFolder();
    const tokenKey = Buffer.from(random.bytes(32));
    const settings: Record<string, string> = {
      DATA_DIR: dataDir,
      LOG_LEVEL: "trace",
      TOKEN_KEYS: `main:${tokenKey.toString("hex")}`,
      LAME_DUCK_MS: "0",
    };
    if (url !== undefined) settings.DATABASE_URL = url;
    const service = await start(settings);
    const { port } = service;
    const traders = await Promise.all(Array.from({ length: 5 }, () => newTrader(port)));
    for (const { wallet, apiKey: key } of traders) {
      const built = await ask(port, "/v1/tx/buy", { body: order(), key });
      const submitted = await ask(port, "/v1/tx/submit", { body: signBuild(built.body.data, wallet), key });
      expect(submitted.body.data.status).toMatch(/confirmed|finalized/);
      // Answers that say no are where secrets slip out: a key with a typo, a token that is none, a body that is no JSON.
      await ask(port, "/v1/auth/profile", { key: `${key.slice(0, -1)}_` });
      await ask(port, "/v1/tx/submit", { body: { submissionToken: built.body.data.submissionToken }, key });
      await ask(port, `/v1/nothing/${key}`, { key });
    }
    const second = await register(port, traders[0]!.wallet);
    const revoked = traders[0]!;
    await ask(port, `/v1/auth/keys/${revoked.keyId}`, { key: second.apiKey, method: "DELETE" });
    await ask(port, "/v1/auth/profile", { key: revoked.apiKey });
    const keys = [...traders.map(({ apiKey }) => apiKey), second.apiKey];
    const metrics = await (await fetch(`http://127.0.0.1:${service.adminPort}/metrics`)).text();
    expect(await stop(service)).toBe(0);
    const pepper = Buffer.from(PEPPER, "hex");
    const secrets = [
      // A key's last part is its checksum and the part before it what nobody else knows.
      ...keys.flatMap((key) => [key, key.slice(-26, -6)]),
      ...[pepper, tokenKey].flatMap((bytes) => [
        bytes.toString("hex"),
        bytes.toString("base64"),
        bytes.toString("base64url"),
        bytes.toString("latin1"),
      ]),
      "tw1.",
      "Bearer api_",
    ];
    const texts = await databaseTexts({ dataDir, url });
    rows += texts.length;
    lines += service.output().split("\n").length;
    expect(texts.length).toBeGreaterThan(50);
    expect(service.output()).toContain('"method":"Submit"');
    const places = { database: texts, log: service.output().split("\n"), metrics: [metrics] };
    for (const [place, all] of Object.entries(places)) {
      for (const [i, secret] of secrets.entries()) {
        if (all.some((text) => text.includes(secret))) found.push(`${homes.at(-1)} ${place}: secret ${i}`);
      }
    }
    // Beside the database lie the secrets made here; none were.
    const files = readdirSync(dataDir).filter((name) => !name.startsWith("tradewire.sqlite"));
    for (const name of files) {
      if (keys.some((key) => readFileSync(join(dataDir, name), "latin1").includes(key))) found.push(name);
    }
  }
  report(
    25.5,
    `Secrets at rest, ${homes.join(" and ")}, log level trace`,
    "0 hits in every value of the database and every line of the log",
    `${rows} values and ${lines} lines searched: ${found.length} hits ${found.join("; ")}`,
    found.length === 0,
  );
}, 240_000);

it("33: rolling restarts lose no trade", async () => {
  const restarts = Number(process.env.EDGE_TRADE_RESTARTS ?? 20);
  const settings = { DATA_DIR: newFolder(), LAME_DUCK_MS: "1500" };
  const service = await start(settings, ["--workers", "2"]);
  const { port } = service;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16, scheduling: "fifo" });
  const traders = await Promise.all(Array.from({ length: 6 }, () => newTrader(port)));
  const problems = new Map<string, number>();
  const note = (problem: string) => problems.set(problem, (problems.get(problem) ?? 0) + 1);
  const trades: { readonly body: object; readonly key: string; readonly signature: string }[] = [];
  let [builds, submits, longestMs, isOver] = [0, 0, 0, false];
  const trading = traders.map(async ({ wallet, apiKey: key }) => {
    while (!isOver) {
      builds++;
      const built = await ask(port, "/v1/tx/buy", { body: order(), key, agent });
      if (built.status !== 200) {
        note(`build: ${built.error ?? built.body?.error?.code}`);
        continue;
      }
      const body = signBuild(built.body.data, wallet);
      submits++;
      const startMs = performance.now();
      const submitted = await ask(port, "/v1/tx/submit", { body, key, agent });
      longestMs = Math.max(longestMs, performance.now() - startMs);
      const { status, signature } = submitted.body?.data ?? {};
      if (status === "confirmed" || status === "finalized") trades.push({ body, key, signature });
      else note(`submit: ${submitted.error ?? submitted.body?.error?.code ?? status}`);
    }
  });
  const startMs = performance.now();
  let rounds = 0;
  while (2 * rounds < restarts) {
    service.signal("SIGHUP");
    rounds++;
    const done = () => service.output().split("every worker has been replaced").length - 1;
    for (const untilMs = performance.now() + 120_000; done() < rounds && performance.now() < untilMs; ) await sleep(20);
    expect(done()).toBe(rounds);
  }
  const seconds = (performance.now() - startMs) / 1_000;
  isOver = true;
  await Promise.all(trading);
  // What is asked for again is answered by a process that has never seen it, and the chain has the last word.
  let same = 0;
  let landed = 0;
  for (const { body, key, signature } of trades) {
    const again = await ask(port, "/v1/tx/submit", { body, key, agent });
    if (again.body?.data?.signature === signature && /confirmed|finalized/.test(again.body.data.status)) same++;
    const { value } = (await rpc(sandbox.rpcUrl, "getSignatureStatuses", [
      [signature],
      { searchTransactionHistory: true },
    ])) as { value: ({ err: unknown } | null)[] };
    if (value[0]?.err === null) landed++;
  }
  agent.destroy();
  await stop(service);
  report(
    33.5,
    "Real trades across rolling restarts, connections kept alive",
    `${restarts} restarts: every submit in flight ends with its trade landed, and says the same when asked again`,
    `${2 * rounds} restarts in ${seconds.toFixed(0)} s; ${builds} builds, ${submits} submits: ${trades.length} landed and reported, longest ${ms(longestMs)}; ${landed} on the chain, ${same} the same when asked again; ${[...problems].map(([problem, n]) => `${n} × ${problem}`).join(", ") || "nothing lost"}`,
    submits > 100 && trades.length === submits && landed === submits && same === submits && problems.size === 0,
  );
}, 600_000);
