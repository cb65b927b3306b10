import { expect, test } from "vitest";
import { mistypedNames } from "./mistyped-names.ts";

test.each([
  ["SOLANA_RPCS_URL", "SOLANA_RPC_URL"],
  ["PROXY_ADRESSES", "PROXY_ADDRESSES"],
  ["trusted_proxies", "TRUSTED_PROXIES"],
  ["DATABASE_URI", "DATABASE_URL"],
])("%s is probably %s", (name, meant) => {
  expect(mistypedNames({ [name]: "1", PATH: "/bin" })).toEqual([`${name} is not a setting. Did you mean ${meant}?`]);
});

test("settings and the variables of others are left alone", () => {
  const others = [
    "PATH",
    "HOME",
    "HOSTNAME",
    "LOGNAME",
    "XDG_SESSION_ID",
    "XDG_RUNTIME_DIR",
    "NODE_OPTIONS",
    "NODE_PATH",
  ];
  const kubernetes = ["KUBERNETES_SERVICE_HOST", "KUBERNETES_PORT_443_TCP_ADDR", "REDIS_PORT", "REDIS_SERVICE_PORT"];
  const settings = ["SOLANA_RPC_URLS", "DATABASE_URL", "TLS_CERT", "LOG_LEVEL", "PRIORITY_FAST_CAP"];
  const env = Object.fromEntries([...others, ...kubernetes, ...settings].map((name) => [name, "1"]));
  expect(mistypedNames({ ...env, npm_config_cache: "1", npm_lifecycle_event: "1", SSH_AUTH_SOCK: "1" })).toEqual([]);
});
