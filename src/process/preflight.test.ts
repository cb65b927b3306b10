import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { parseConfig } from "../config/config.ts";
import { doubtCertificate, runPreflight } from "./preflight.ts";

const folder = mkdtempSync(join(tmpdir(), "tradewire-preflight-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

const usable = { DATA_DIR: folder };
const problems = (env: Record<string, string>, workers?: number) =>
  runPreflight(parseConfig({ ...usable, ...env }), { workers });

test("a writable folder and free ports are enough", () => {
  expect(problems({})).toEqual([]);
  expect(problems({ PORT: "0", ADMIN_PORT: "0", SANDBOX_PORT: "0" })).toEqual([]);
  expect(problems({ DATA_DIR: join(folder, "not", "there", "yet") })).toEqual([]);
});

test("certificate and key exist and belong together", () => {
  const [cert, key] = ["test/fixtures/tls/localhost.pem", "test/fixtures/tls/localhost.key"];
  expect(problems({ TLS_CERT: cert, TLS_KEY: key })).toEqual([]);
  expect(problems({ TLS_CERT: "/none.pem", TLS_KEY: "/no-key.pem" })).toEqual([
    "TLS_CERT names /none.pem, which cannot be read.",
    "TLS_KEY names /no-key.pem, which cannot be read.",
  ]);
  const words = join(folder, "words.pem");
  writeFileSync(words, "not a certificate");
  expect(problems({ TLS_CERT: words, TLS_KEY: key })).toEqual([
    expect.stringMatching(/^TLS_CERT and TLS_KEY are not a certificate and its key in PEM \(/),
  ]);
});

test("a certificate out of its time is doubted, and stops nothing", () => {
  const pair = { TLS_CERT: "test/fixtures/tls/localhost.pem", TLS_KEY: "test/fixtures/tls/localhost.key" };
  const doubts = (env: Record<string, string>, at: string) => doubtCertificate(parseConfig(env), Date.parse(at));
  expect(doubts({}, "2127-01-01")).toEqual([]);
  expect(doubts(pair, "2027-01-01")).toEqual([]);
  expect(doubts(pair, "2127-01-01")).toEqual(["TLS_CERT was valid until 2126-10-27T22:20:28.000Z: callers refuse it."]);
  expect(doubts(pair, "2026-01-01")).toEqual([
    "TLS_CERT is valid from 2026-11-20T22:20:28.000Z: callers refuse it until then.",
  ]);
});

test("DATA_DIR is a folder", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect(problems({ DATA_DIR: file })).toEqual([expect.stringMatching(/^DATA_DIR is .* is not a folder\.$/)]);
  expect(problems({ DATA_DIR: join(file, "below") })).toHaveLength(1);
});

test("DATA_DIR is writable, and is left as it was", () => {
  const locked = join(folder, "locked");
  mkdirSync(locked);
  expect(problems({ DATA_DIR: join(locked, "data") })).toEqual([]);
  expect(readdirSync(locked)).toEqual([]);
  // Not even root can create folders there.
  expect(problems({ DATA_DIR: "/proc/tradewire/data" })).toEqual([
    "DATA_DIR is /proc/tradewire/data, which this user may not write to.",
  ]);
});

test("DATA_DIR is not needed if the database and the secrets are elsewhere", () => {
  const secret = "0b".repeat(32);
  const kept = { DATABASE_URL: "postgres://db/x", KEY_PEPPER: secret, TOKEN_KEYS: `a:${secret}` };
  expect(problems({ ...kept, DATA_DIR: "/proc/none" })).toEqual([]);
});

test("shadow execution, the default with nodes, has a folder for its socket", () => {
  vi.stubEnv("TMPDIR", "/proc/none");
  const problem =
    "The folder for temporary files is /proc/none, which this user may not write to: set TMPDIR to another, or SHADOW_EXECUTION=off.";
  expect(problems({ SOLANA_RPC_URL: "http://node" })).toEqual([problem]);
  expect(problems({ SHADOW_EXECUTION: "watch" })).toEqual([problem]);
  expect(problems({ SOLANA_RPC_URL: "http://node", SHADOW_EXECUTION: "off" })).toEqual([]);
  expect(problems({})).toEqual([]);
});

test("shadow execution has a folder whose path leaves room for that of its socket", () => {
  const longest = "/proc/".padEnd(72, "x");
  const problem = (path: string, why: string) => [
    `The folder for temporary files is ${path}, ${why}: set TMPDIR to another, or SHADOW_EXECUTION=off.`,
  ];
  vi.stubEnv("TMPDIR", longest);
  expect(problems({ SHADOW_EXECUTION: "watch" })).toEqual(problem(longest, "which this user may not write to"));
  vi.stubEnv("TMPDIR", `${longest}x`);
  expect(problems({ SHADOW_EXECUTION: "watch" })).toEqual(
    problem(`${longest}x`, "too long a path for a socket in it, of 72 bytes at most"),
  );
  expect(problems({ SHADOW_EXECUTION: "off" })).toEqual([]);
});

test("SANDBOX_PROGRAMS holds programs if the embedded chain runs", () => {
  const empty = join(folder, "empty");
  mkdirSync(empty);
  expect(problems({ SANDBOX_PROGRAMS: "/none" })).toEqual([
    "SANDBOX_PROGRAMS names /none, which is not a folder that can be read.",
  ]);
  expect(problems({ SANDBOX_PROGRAMS: empty })).toEqual([
    `SANDBOX_PROGRAMS names ${empty}, a folder without a program (<name>.so).`,
  ]);
  expect(problems({ SANDBOX_PROGRAMS: "/none", SOLANA_RPC_URL: "http://node" })).toEqual([]);
  expect(problems({ SANDBOX_PROGRAMS: "src/sandbox/programs" })).toEqual([]);
  const alone = parseConfig({ SANDBOX_PROGRAMS: "/none", DATA_DIR: "/proc/none", PORT: "9090" });
  expect(runPreflight(alone, { chainAlone: true })).toHaveLength(1);
});

test.each<[string, Record<string, string>, number | undefined, string | undefined]>([
  ["the same port", { PORT: "9090" }, 1, "ADMIN_PORT is 9090, as PORT is: give them different ports."],
  [
    "a worker's admin port",
    { PORT: "9092" },
    3,
    "ADMIN_PORT of worker 3 is 9092, as PORT is: give them different ports.",
  ],
  [
    "a worker's admin port above the last",
    { ADMIN_PORT: "65534" },
    3,
    "ADMIN_PORT of worker 3 is 65536, above 65535: set a lower ADMIN_PORT.",
  ],
  ["fewer workers", { PORT: "9092" }, 2, undefined],
  ["the embedded chain's port", { PORT: "8899" }, 1, "SANDBOX_PORT is 8899, as PORT is: give them different ports."],
  [
    "and its WebSocket's",
    { PORT: "8900" },
    1,
    "SANDBOX_PORT + 1, its WebSocket, is 8900, as PORT is: give them different ports.",
  ],
  ["which is not there with nodes", { PORT: "8900", SOLANA_RPC_URL: "http://node" }, 1, undefined],
  ["other interfaces", { PORT: "9090", HOST: "10.0.0.1", EMBEDDED_CHAIN: "on" }, 1, undefined],
  [
    "all interfaces",
    { PORT: "9090", HOST: "0.0.0.0", EMBEDDED_CHAIN: "on" },
    1,
    "ADMIN_PORT is 9090, as PORT is: give them different ports.",
  ],
])("ports: %s", (_, env, workers, problem) => {
  expect(problems(env, workers)).toEqual(problem === undefined ? [] : [problem]);
});
