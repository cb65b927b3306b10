import { describe, expect, expectTypeOf, it } from "vitest";
import { problemsOf } from "../../test/support/config-problems.ts";
import { Address } from "../primitives/address.ts";
import { SOL_MINT } from "../solana/programs.ts";
import { parseConfig } from "./config.ts";
import { priorityBounds } from "./priority-settings.ts";
import type { Config } from "./settings.ts";

const SECRET = "0b".repeat(32);

describe("parseConfig", () => {
  it("needs nothing set", () => {
    const config = parseConfig({});
    expect(config).toMatchObject({
      port: 8080,
      dataDir: "./data",
      databaseUrl: undefined,
      solanaRpcUrls: undefined,
      keepAliveMs: 70_000,
      maxRequestsPerConnection: 10_000,
      bodyLimitBytes: 16_384,
      submitTimeoutMs: 25_000,
      lookupTables: undefined,
      logLevel: "info",
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("types each value by its setting", () => {
    expectTypeOf<Config["port"]>().toEqualTypeOf<number>();
    expectTypeOf<Config["tlsCert"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Config["priorityFastCap"]>().toEqualTypeOf<bigint>();
    expectTypeOf<Config["solanaRpcUrls"]>().toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf<Config["lookupTables"]>().toEqualTypeOf<readonly Address[] | undefined>();
  });

  it("takes an empty variable for an absent one, and zero for a value", () => {
    const config = parseConfig({ DATABASE_URL: "", PORT: " ", ADMIN_PORT: "0", EXPIRY_MARGIN_MS: "0" });
    expect(config).toMatchObject({ databaseUrl: undefined, port: 8080, adminPort: 0, expiryMarginMs: 0 });
  });

  it("refuses a text in quotes, as files of variables may keep them", () => {
    expect(problemsOf({ NODE_ENV: '"production"', DATA_DIR: "'/data'" })).toEqual([
      "NODE_ENV must be not empty, and not in quotes (text).",
      "DATA_DIR must be not empty, and not in quotes (text).",
    ]);
    expect(parseConfig({ OTEL_SERVICE_NAME: `it's "mine"` }).otelServiceName).toBe(`it's "mine"`);
  });

  it("takes an IPv6 address to listen on in brackets too, and nothing that is neither address nor name", () => {
    const hostOf = (HOST: string) => parseConfig({ HOST }).host;
    expect(["[::1]", "::1", "fe80::1%eth0", "0.0.0.0", "localhost", "a-1.b"].map(hostOf)).toEqual([
      "::1",
      "::1",
      "fe80::1%eth0",
      "0.0.0.0",
      "localhost",
      "a-1.b",
    ]);
    for (const name of ["HOST", "ADMIN_HOST", "SANDBOX_HOST"])
      for (const written of ["http://127.0.0.1", "127.0.0.1:80", "[::1]:80", "[127.0.0.1]", "::1]", "*", "a b"])
        expect(problemsOf({ [name]: written })).toEqual([
          `${name} must be an IP address or a name of this machine, without a port (host).`,
        ]);
  });

  it("reads lists under either name", () => {
    expect(parseConfig({ SOLANA_RPC_URL: "http://a:8899" }).solanaRpcUrls).toEqual(["http://a:8899"]);
    expect(parseConfig({ SOLANA_RPC_URLS: "http://a:8899, https://b/key" }).solanaRpcUrls).toEqual([
      "http://a:8899",
      "https://b/key",
    ]);
    expect(problemsOf({ SOLANA_RPC_URL: "http://a", SOLANA_RPC_URLS: "http://a" })).toEqual([
      "SOLANA_RPC_URLS and SOLANA_RPC_URL are the same setting: give one.",
    ]);
    const table = "AddressLookupTab1e1111111111111111111111111";
    expect(parseConfig({ LOOKUP_TABLES: table }).lookupTables).toEqual([Address.of(table)]);
    expect(parseConfig({ LOOKUP_TABLES: "none" }).lookupTables).toEqual([]);
    expect(parseConfig({}).hubMints).toBeUndefined();
    expect(parseConfig({ HUB_MINTS: "none" }).hubMints).toEqual([]);
    expect(parseConfig({ HUB_MINTS: `${SOL_MINT}, ${table}` }).hubMints).toEqual([SOL_MINT, Address.of(table)]);
    for (const wrong of [`${table},${table}`, "SOL", `${SOL_MINT},${table},1,2,3`])
      expect(problemsOf({ HUB_MINTS: wrong })).toEqual([
        "HUB_MINTS must be up to 4 different mints, or none (base58, comma between).",
      ]);
  });

  it("names the setting whose URL has a percent sign of its own in its credentials, and never shows them", () => {
    const wrong = "https://user:pass%word@node.example";
    const problem = (name: string, what: string) =>
      `${name} must be ${what} with http:// or https://, any % in ${what === "a URL that starts" ? "its" : "their"} credentials as %25`;
    expect(problemsOf({ SOLANA_RPC_URLS: `https://a,${wrong}` })).toEqual([
      expect.stringContaining(problem("SOLANA_RPC_URLS", "URLs that start")),
    ]);
    expect(problemsOf({ YELLOWSTONE_URL: wrong })).toEqual([
      expect.stringContaining(problem("YELLOWSTONE_URL", "a URL that starts")),
    ]);
    expect(problemsOf({ SOLANA_RPC_URLS: wrong }).join()).not.toContain("word");
    expect(parseConfig({ SOLANA_RPC_URLS: "https://u:p%25w@a" }).solanaRpcUrls).toEqual(["https://u:p%25w@a"]);
  });

  it("reads a ring of token keys, in order", () => {
    const { tokenKeys } = parseConfig({ TOKEN_KEYS: `may:${SECRET}, april:${"0c".repeat(32)}:verify` });
    expect(tokenKeys).toEqual([
      { id: "may", secret: new Uint8Array(32).fill(11), seals: true },
      { id: "april", secret: new Uint8Array(32).fill(12), seals: false },
    ]);
  });

  it.each([
    ["no key", ","],
    ["a short key", `a:${SECRET.slice(2)}`],
    ["a long key", `a:${SECRET}0b`],
    ["no name", `:${SECRET}`],
    ["two keys of one name", `a:${SECRET},a:${SECRET}`],
    ["keys that only verify", `a:${SECRET}:verify`],
    ["an unknown word", `a:${SECRET}:sign`],
  ])("refuses a ring with %s, and does not repeat it", (_, ring) => {
    const problems = problemsOf({ TOKEN_KEYS: ring });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^TOKEN_KEYS must be 32-byte keys/);
    expect(problems[0]).not.toContain(SECRET.slice(2));
  });

  it("reads the headers of a collector as OpenTelemetry writes them", () => {
    const written = "Authorization=Bearer%20a%2Cb==, x-team = 7";
    expect(parseConfig({ OTEL_EXPORTER_OTLP_HEADERS: written }).otelExporterOtlpHeaders).toEqual({
      authorization: "Bearer a,b==",
      "x-team": "7",
    });
    expect(parseConfig({}).otelExporterOtlpHeaders).toEqual({});
  });

  it.each([
    "secret",
    "x team=secret",
    "x-team=",
    "x-team=secret%0d%0a",
    "x-team=secret%2",
    "=secret",
    "x-team=secret,",
  ])("refuses headers that are none, %j, and does not repeat them", (written) => {
    const problems = problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: written });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS must be names of headers/);
    expect(problems[0]).not.toContain("secret");
  });

  it("says all that is wrong at once, with unit and bound", () => {
    expect(
      problemsOf({
        PORT: "70000",
        BODY_LIMIT_BYTES: "16KB",
        SUBMIT_TIMEOUT_MS: "30000",
        LOG_LEVEL: "loud",
        PUBLIC_URL: "https://trade.example/api",
        DATABASE_URL: "mysql://db",
        KEY_PEPPER: "abcd",
        PRIORITY_FAST_CAP: "-1",
        LOOKUP_TABLES: "nonsense",
      }),
    ).toEqual([
      "PORT must be a whole number from 0 to 65535 (port).",
      "PUBLIC_URL must be a URL that starts with http:// or https:// and ends with the host or port (URL).",
      "LOG_LEVEL must be one of fatal, error, warn, info, debug, trace (one word).",
      "DATABASE_URL must be a URL that starts with postgres:// or postgresql://, any % in its credentials as %25 (URL).",
      "KEY_PEPPER must be at least 32 bytes (hexadecimal).",
      "LOOKUP_TABLES must be addresses, or none (base58, comma between).",
      "SUBMIT_TIMEOUT_MS must be a whole number from 1000 to 29000 (ms).",
      "PRIORITY_FAST_CAP must be a whole number from 0 to 1000000000 (micro-lamports per compute unit).",
      "BODY_LIMIT_BYTES must be a whole number from 1024 to 1048576 (bytes).",
    ]);
  });

  it("refuses values that contradict each other", () => {
    expect(
      problemsOf({
        TLS_CERT: "cert.pem",
        SOLANA_RPC_URLS: "http://a,http://b",
        SOLANA_WS_URL: "ws://a",
        KEEP_ALIVE_MS: "5000",
        PROXY_ADDRESSES: "10.0.0.0/8",
        PRIORITY_FASTER_FLOOR: "6000000",
      }),
    ).toEqual([
      expect.stringContaining("TLS_CERT and TLS_KEY"),
      expect.stringContaining("SOLANA_WS_URLS must name one WebSocket for each"),
      expect.stringContaining("KEEP_ALIVE_HINT_MS must not exceed KEEP_ALIVE_MS (ms)"),
      expect.stringContaining("PROXY_ADDRESSES needs TRUSTED_PROXIES"),
      expect.stringContaining("PRIORITY_FASTER_FLOOR must not exceed PRIORITY_FASTER_CAP"),
    ]);
  });

  it("groups the bounds of priority by level", () => {
    const { fast } = priorityBounds(parseConfig({ PRIORITY_FAST_FLOOR: "7", PRIORITY_FAST_CAP: "9" }));
    expect(fast).toEqual({ floor: 7n, cap: 9n });
  });
});
