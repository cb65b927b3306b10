import { type ChildProcess, execFile, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { get } from "node:http";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, expect, test } from "vitest";
import { requirePepper } from "../../src/accounts/keys/require-pepper.ts";
import { openStore } from "../../src/accounts/store/store.ts";
import { childEnvironment } from "../support/child-environment.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";

const folder = mkdtempSync(join(tmpdir(), "tradewire-command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MAIN = ["src/process/main.ts"];
/** Given to starts that fail at their database, before any node is asked: they start no chain of their own. */
const NO_NODE = "http://127.0.0.1:1";

/** Runs a command to its end. */
function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}, command = MAIN) {
  const options = { env: childEnvironment({ DATA_DIR: folder, ...env }) };
  return new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [...command, ...argv], options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

test.concurrent("--check accepts the settings or reports every problem, and so does a start", async () => {
  expect(await run(["--check"])).toEqual({ status: 0, stdout: "The settings are usable.\n", stderr: "" });
  const env = { TLS_CERT: "/none.pem", TLS_KEY: "/none.pem", SANDBOX_PROGRAMS: "/none", PORT: "9090" };
  for (const { status, stderr } of await Promise.all([run(["--check"], env), run([], env)])) {
    expect(status).toBe(1);
    for (const name of ["TLS_CERT", "TLS_KEY", "SANDBOX_PROGRAMS", "ADMIN_PORT"]) expect(stderr).toContain(name);
    expect(stderr).not.toContain("    at ");
  }
});

test.concurrent("a start that looks like production needs a node, or a setting that allows none (row 49)", async () => {
  // Every sign of production is in `embedded-chain-rule.test.ts`.
  for (const { status, stdout, stderr } of await Promise.all([
    run([], { HOST: "0.0.0.0" }),
    run(["--check"], { NODE_ENV: "production" }),
  ])) {
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/SOLANA_RPC_URLS.*EMBEDDED_CHAIN=on/);
  }
});

test.concurrent("a variable that looks like a mistyped setting is named", async () => {
  const doubt = "SUBMIT_TIMEOUT is not a setting. Did you mean SUBMIT_TIMEOUT_MS?";
  const env = { SUBMIT_TIMEOUT: "1000" };
  expect((await run(["--check"], env)).stdout).toBe(`The settings are usable.\n${doubt}\n`);
  expect(
    (await run([], { ...env, DATABASE_URL: "postgres://127.0.0.1:1/none", SOLANA_RPC_URLS: NO_NODE })).stderr,
  ).toContain(doubt);
});

test.concurrent("an unknown option is refused by name", async () => {
  expect(await run(["--worker", "2"])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("--worker is not an"),
  });
});

/** What a start prints until a signal ends it, with everything that differs from one start to the next left out. */
async function startPage(
  command: readonly string[],
  port: number,
  signal: NodeJS.Signals,
): Promise<{ page: string; log: readonly string[]; tokens: unknown }> {
  const child: ChildProcess = spawn(process.execPath, command, {
    env: childEnvironment({
      DATA_DIR: folder,
      PORT: `${port}`,
      ADMIN_PORT: `${port + 1}`,
      SANDBOX_PORT: `${port + 4}`,
      LAME_DUCK_MS: "0",
      // Otherwise the log of a machine where a process may open few files warns of that.
      MAX_CONNECTIONS: "100",
      // A process for each worker, of which the page says nothing.
      SHADOW_EXECUTION: "off",
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let page = "";
  child.stdout!.on("data", (chunk) => {
    page += chunk;
  });
  let lines = "";
  child.stderr!.on("data", (chunk) => {
    lines += chunk;
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  try {
    await eventually(() => expect(page).toContain("Try it"));
    const { tokens } = await (await fetch(`http://127.0.0.1:${port}/status.json`)).json();
    const path = /secrets +(\S+)/.exec(page)![1]!;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const secrets = readFileSync(path, "utf8");
    expect(page).not.toMatch(/api_\w/);
    for (const [, secret] of secrets.matchAll(/KEY=(\w+)/g)) expect(page).not.toContain(secret);
    const apiKey = /api_\w+/.exec(secrets)![0];
    const profile = await fetch(`http://127.0.0.1:${port}/v1/auth/profile`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(profile.status).toBe(200);
    child.kill(signal);
    expect(await ended).toEqual({ code: 0, signal: null });
    const log = lines.split("\n").filter((line) => line !== "");
    return { page: page.replaceAll(/(address) +\w+/g, "$1"), log, tokens };
  } finally {
    child.kill(signal);
    await ended;
  }
}

test.concurrent("npm run cli -- serve runs until it is interrupted; workers print the same, then how to replace them", async () => {
  const port = await freePorts(6);
  const one = await startPage(["src/process/cli.ts", "serve"], port, "SIGINT");
  const two = await startPage([...MAIN, "--workers", "2"], port, "SIGTERM");
  expect(two.page.startsWith(one.page)).toBe(true);
  // No word of nodes: without a setting there is none that somebody could change.
  expect(one.log.map((line) => JSON.parse(line).msg)).toEqual(["SIGINT: finishing pending requests"]);
  expect(one.page).toContain("real programs      none");
  expect(one.page.match(/^ {4}EMBER /gm)).toHaveLength(1);
  expect(two.tokens).toEqual(one.tokens);
  expect(one.tokens).not.toEqual([]);
});

/** A file that takes nothing. */
const FULL_DISK = "/dev/full";

test.skipIf(!existsSync(FULL_DISK))(
  "neither a log nor a start page that cannot be written ends the service",
  async () => {
    const [port, dataDir, full] = [await freePorts(1), join(folder, "full-disk"), openSync(FULL_DISK, "w")];
    const child = spawn(process.execPath, MAIN, {
      env: childEnvironment({
        DATA_DIR: dataDir,
        PORT: `${port}`,
        ADMIN_PORT: "0",
        SANDBOX_PORT: "0",
        LAME_DUCK_MS: "0",
      }),
      stdio: ["ignore", full, full],
    });
    closeSync(full);
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    try {
      // Written just before the page is, and long after the first line of the log.
      const started = eventually(() => expect(existsSync(join(dataDir, "demo.env"))).toBe(true));
      expect(await Promise.race([started.then(() => "started"), ended])).toBe("started");
      expect((await fetch(`http://127.0.0.1:${port}/v1/ping`)).status).toBe(200);
      child.kill("SIGTERM");
      expect(await ended).toEqual({ code: 0, signal: null });
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  },
);

test.skipIf(!existsSync("/proc/self/limits"))(
  "callers leave a process that may open few files enough of its own",
  async () => {
    const port = await freePorts(2);
    const limited = ["-c", 'ulimit -n 256; exec "$@"', "sh", process.execPath, ...MAIN];
    const child = spawn("sh", limited, {
      env: childEnvironment({
        DATA_DIR: join(folder, "few-files"),
        PORT: `${port}`,
        ADMIN_PORT: `${port + 1}`,
        SANDBOX_PORT: "0",
        LAME_DUCK_MS: "0",
      }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += chunk;
      });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const callers: Socket[] = [];
    try {
      await eventually(() => expect(said).toContain("Try it"));
      expect(said).toContain("MAX_CONNECTIONS is 5000, and this process may open 256 files: it holds 128 connections");
      // One after another: each is accepted or refused before the next comes.
      for (let i = 0; i < 300; i++) {
        const caller = createConnection(port, "127.0.0.1").on("error", () => {});
        callers.push(caller);
        await once(caller, "connect");
      }
      expect(await statusOf(`http://127.0.0.1:${port + 1}/readyz`)).toBe(200);
    } finally {
      for (const caller of callers) caller.destroy();
      child.kill("SIGTERM");
      await ended;
    }
  },
);

/** The status of one answer, on a connection of its own, as balancers ask. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
}

test.concurrent("the admin port stays ready while its worker is replaced", async () => {
  const port = await freePorts(2);
  const child = spawn(process.execPath, [...MAIN, "--workers", "1"], {
    env: childEnvironment({
      DATA_DIR: join(folder, "replaced"),
      PORT: `${port}`,
      ADMIN_PORT: `${port + 1}`,
      SANDBOX_PORT: "0",
      LAME_DUCK_MS: "1000",
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += chunk;
    });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await eventually(() => expect(said).toContain("Try it"));
    child.kill("SIGHUP");
    const statuses = new Set<number | undefined>();
    while (!said.includes("every worker has been replaced") && child.exitCode === null)
      statuses.add(await statusOf(`http://127.0.0.1:${port + 1}/readyz`));
    expect(statuses).toEqual(new Set([200]));
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
});

test.concurrent("SIGHUP while workers start replaces them once they serve", async () => {
  const dataDir = join(folder, "early-hangup");
  const child = spawn(process.execPath, [...MAIN, "--workers", "1"], {
    env: childEnvironment({ DATA_DIR: dataDir, PORT: "0", ADMIN_PORT: "0", SANDBOX_PORT: "0", LAME_DUCK_MS: "0" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += chunk;
    });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  try {
    // One of the first things that a worker does.
    await eventually(() => expect(existsSync(join(dataDir, "tradewire.sqlite"))).toBe(true));
    expect(said).not.toContain("Try it");
    child.kill("SIGHUP");
    const replaced = eventually(() => expect(said).toContain("every worker has been replaced"));
    expect(await Promise.race([replaced.then(() => "replaced"), ended])).toBe("replaced");
    expect(said).toContain("Try it");
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
});

/** The certificate that a new connection is shown, as the fingerprint of its bytes. */
function certificateAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test.concurrent("SIGHUP renews the certificate of a process without workers, and ends nothing", async () => {
  const port = await freePorts(1);
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const install = (certName: string, keyName = certName) => {
    copyFileSync(`test/fixtures/tls/${certName}.pem`, cert);
    copyFileSync(`test/fixtures/tls/${keyName}.key`, key);
  };
  const fingerprintOf = (name: string) =>
    new X509Certificate(readFileSync(`test/fixtures/tls/${name}.pem`)).fingerprint256;
  install("localhost");
  const child = spawn(process.execPath, MAIN, {
    env: childEnvironment({
      DATA_DIR: join(folder, "renewed"),
      PORT: `${port}`,
      ADMIN_PORT: "0",
      SANDBOX_PORT: "0",
      LAME_DUCK_MS: "0",
      TLS_CERT: cert,
      TLS_KEY: key,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += chunk;
    });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  /** Sends SIGHUP, and waits until the log has answered with a line of its own. */
  const hangUp = async (answer: string) => {
    said = "";
    child.kill("SIGHUP");
    const answered = eventually(() => expect(said).toContain(answer));
    expect(await Promise.race([answered.then(() => "answered"), ended])).toBe("answered");
  };
  try {
    await eventually(() => expect(said).toContain("Try it"));
    expect(await certificateAt(port)).toBe(fingerprintOf("localhost"));
    install("renewed");
    await hangUp("read again");
    expect(await certificateAt(port)).toBe(fingerprintOf("renewed"));
    install("localhost", "renewed");
    await hangUp("are unusable (ERR_OSSL_X509_KEY_VALUES_MISMATCH); the certificate of before is kept");
    expect(await certificateAt(port)).toBe(fingerprintOf("renewed"));
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
});

test.concurrent("serve explains in words why it cannot start", async () => {
  const { status, stderr } = await run(["serve"], { PORT: "many" }, ["src/process/cli.ts"]);
  expect(status).toBe(1);
  expect(stderr).toContain("PORT must be a whole number");
  expect(stderr).not.toContain("    at ");
});

test.concurrent("a failed start is explained in words", async () => {
  const env = {
    PORT: "0",
    ADMIN_PORT: "0",
    SOLANA_RPC_URL: NO_NODE,
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
  };
  const { status, stderr } = await run([], env);
  expect(status).toBe(1);
  expect(stderr).toMatch(/database/);
  expect(stderr).toContain("connect ECONNREFUSED 127.0.0.1:1");
  expect(stderr).not.toContain("    at ");
});

test.concurrent("it does not start with another pepper than the database's keys were hashed with", async () => {
  const dataDir = join(folder, "other-pepper");
  const store = await openStore({ dataDir });
  await requirePepper(store, Buffer.alloc(32, 1));
  await store.close();
  const { status, stderr } = await run([], {
    DATA_DIR: dataDir,
    KEY_PEPPER: "02".repeat(32),
    PORT: "0",
    ADMIN_PORT: "0",
    SOLANA_RPC_URL: NO_NODE,
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The API keys in this database were hashed with another KEY_PEPPER\./m);
});

test.concurrent("SIGTERM before the start is complete stops it", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const asked = new Promise((resolve) => silent.once("connection", resolve));
  const child = spawn(process.execPath, MAIN, {
    env: childEnvironment({
      DATA_DIR: folder,
      PORT: "0",
      ADMIN_PORT: "0",
      SOLANA_RPC_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    }),
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  await asked;
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, signal: null });
  silent.close();
});
