import { nodeListedTwice, trustedNodeAt } from "./node-urls.ts";
import { priorityBounds } from "./priority-settings.ts";
import type { Setting } from "./setting.ts";
import { type Config, SETTING_SECTIONS } from "./settings.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that cannot be used, all of them at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Settings that cannot be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Reads every setting from environment variables.
 *
 * @throws ConfigError naming each variable at fault with its unit and bound
 */
export function parseConfig(env: Environment): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of SETTING_SECTIONS.flatMap(({ settings }) => Object.entries(settings))) {
    const given = givenText(env, name, setting, problems);
    const written = given ?? setting.fallback;
    const value = written === undefined ? undefined : setting.parse(written);
    if (written !== undefined && value === undefined) {
      problems.push(`${name} must be ${setting.bound} (${setting.unit}).`);
    }
    values[camelCase(name)] = value;
  }
  const config = values as unknown as Config;
  if (problems.length === 0) problems.push(...contradictions(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** The variable's text under either name. Empty means absent, as compose files write it. Never put into a message: it may be secret. */
function givenText(env: Environment, name: string, setting: Setting<unknown>, problems: string[]): string | undefined {
  const own = env[name]?.trim() || undefined;
  const other = setting.alias === undefined ? undefined : env[setting.alias]?.trim() || undefined;
  if (own !== undefined && other !== undefined)
    problems.push(`${name} and ${setting.alias} are the same setting: give one.`);
  return own ?? other;
}

/** Values that are valid alone and wrong together. */
function contradictions(config: Config): string[] {
  const problems: string[] = [];
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push("TLS_CERT and TLS_KEY belong together: give both or neither.");
  }
  if (config.solanaWsUrls !== undefined && config.solanaWsUrls.length !== config.solanaRpcUrls?.length) {
    problems.push("SOLANA_WS_URLS must name one WebSocket for each of SOLANA_RPC_URLS, in the same order.");
  }
  const twice = nodeListedTwice(config.solanaRpcUrls ?? []);
  if (twice !== undefined) {
    problems.push(`SOLANA_RPC_URLS names the node ${twice} twice: its word would count as that of two nodes.`);
  }
  const { solanaTrustedRpcUrl: trusted } = config;
  if (trusted !== undefined && trustedNodeAt(config.solanaRpcUrls ?? [], trusted) === undefined) {
    const { host } = new URL(trusted);
    problems.push(
      `SOLANA_TRUSTED_RPC_URL must be one of SOLANA_RPC_URLS, written alike; ${host} is none of them, or several.`,
    );
  }
  if (config.keepAliveHintMs > config.keepAliveMs) {
    problems.push(
      "KEEP_ALIVE_HINT_MS must not exceed KEEP_ALIVE_MS (ms): clients would reuse connections already closed.",
    );
  }
  if (config.proxyAddresses.length > 0 && config.trustedProxies === 0) {
    problems.push("PROXY_ADDRESSES needs TRUSTED_PROXIES: without their number, no proxy is believed.");
  }
  for (const [level, { floor, cap }] of Object.entries(priorityBounds(config))) {
    const name = `PRIORITY_${level.toUpperCase()}`;
    if (floor > cap) problems.push(`${name}_FLOOR must not exceed ${name}_CAP (micro-lamports per compute unit).`);
  }
  return problems;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
