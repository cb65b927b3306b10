import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseConfig } from "../config/config.ts";
import { checkProduction, doubtSecrets } from "./embedded-chain-rule.ts";

const NODE = { SOLANA_RPC_URLS: "https://node.example" };
const SECRETS = { KEY_PEPPER: "ab".repeat(32), TOKEN_KEYS: `k1:${"cd".repeat(32)}` };
const PRODUCTION = [
  { NODE_ENV: "production" },
  { HOST: "0.0.0.0" },
  { HOST: "::" },
  { HOST: "10.1.2.3" },
  { HOST: "trade.internal" },
  { PUBLIC_URL: "https://trade.example" },
  { PUBLIC_URL: "http://127.0.0.1.example" },
  { NODE_ENV: "production", PUBLIC_URL: "http://localhost:8080" },
  { YELLOWSTONE_URL: "https://stream.example" },
  { RELAYS: '[{"name":"staked","url":"https://staked.example","levels":{"fast":0}}]' },
];
const EXPERIMENTS = [
  {},
  { NODE_ENV: "development" },
  { HOST: "127.0.0.1" },
  { HOST: "::1" },
  { HOST: "localhost" },
  { PUBLIC_URL: "http://localhost:8080" },
  { PUBLIC_URL: "http://[::1]:8080" },
];

const problems = (env: Record<string, string>) => checkProduction(parseConfig(env));

test.each(PRODUCTION)("%o needs a node, or EMBEDDED_CHAIN=on (row 49)", (env) => {
  expect(problems(env)).toEqual([expect.stringMatching(/set SOLANA_RPC_URLS.*EMBEDDED_CHAIN=on/)]);
  expect(problems({ ...env, EMBEDDED_CHAIN: "off" })).toHaveLength(1);
  expect(problems({ ...env, EMBEDDED_CHAIN: "on" })).toEqual([]);
  expect(problems({ ...env, ...NODE })).toEqual([]);
});

test.each(EXPERIMENTS)("%o may run on the embedded chain, unless it is off", (env) => {
  expect(problems(env)).toEqual([]);
  expect(problems({ ...env, EMBEDDED_CHAIN: "off" })).toEqual([expect.stringContaining("set SOLANA_RPC_URLS")]);
});

test("production on a shared database needs its secrets, each named", () => {
  const env = { NODE_ENV: "production", DATABASE_URL: "postgres://database/tradewire", ...NODE };
  expect(problems(env)).toEqual([expect.stringContaining("KEY_PEPPER"), expect.stringContaining("TOKEN_KEYS")]);
  expect(problems({ ...env, ...SECRETS })).toEqual([]);
  expect(problems({ ...env, NODE_ENV: "test" })).toEqual([]);
});

test("the page that a missing secret's message names says how to make that secret", () => {
  for (const problem of problems({ NODE_ENV: "production", DATABASE_URL: "postgres://database/tradewire", ...NODE })) {
    const [, name, page] = /, and (\w+) is missing: .* (docs\/\S+\.md) says how to make it/.exec(problem)!;
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
    expect(text).toMatch(new RegExp(`${name}=\\S*\\$\\(openssl rand -hex 32\\)`));
  }
});

test("a shared database without token keys is doubted, and an embedded one is not", () => {
  const doubts = (env: Record<string, string>) => doubtSecrets(parseConfig(env));
  const env = { DATABASE_URL: "postgres://database/tradewire", KEY_PEPPER: SECRETS.KEY_PEPPER };
  expect(doubts(env)).toEqual([expect.stringMatching(/^TOKEN_KEYS is missing: other processes on this DATABASE_URL/)]);
  expect(doubts({ ...env, ...SECRETS })).toEqual([]);
  expect(doubts({})).toEqual([]);
});
