import type { Config } from "../config/settings.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i;

/**
 * Why the service may not start as it is set. Without a node it would run on an embedded chain whose tokens are worth nothing,
 * and say that it is ready: fit for experiments, a mistake in production. On a shared database, secrets made by each process
 * for itself would contradict each other.
 *
 * @returns the problems, each with its cure
 */
export function checkProduction(config: Config): readonly string[] {
  const { solanaRpcUrls, databaseUrl, keyPepper, tokenKeys } = config;
  const problems: string[] = [];
  const sign = signOfProduction(config);
  if (solanaRpcUrls === undefined && config.embeddedChain === "off") {
    problems.push("EMBEDDED_CHAIN is off, and there is no node: set SOLANA_RPC_URLS.");
  } else if (solanaRpcUrls === undefined && config.embeddedChain !== "on" && sign !== undefined) {
    problems.push(
      `${sign}, and there is no node: set SOLANA_RPC_URLS. To run on the embedded chain all the same, where every token is worth nothing, set EMBEDDED_CHAIN=on.`,
    );
  }
  if (config.nodeEnv === "production" && databaseUrl !== undefined) {
    const missing = [
      ...(keyPepper === undefined ? ["KEY_PEPPER"] : []),
      ...(tokenKeys === undefined ? ["TOKEN_KEYS"] : []),
    ];
    for (const name of missing) {
      problems.push(
        `NODE_ENV is production, and ${name} is missing: processes on one DATABASE_URL need the same; docs/operating.md says how to make it.`,
      );
    }
  }
  return problems;
}

/** What the service starts with, but its operator hardly means. @returns a line each */
export function doubtSecrets({ databaseUrl, tokenKeys }: Config): readonly string[] {
  if (databaseUrl === undefined || tokenKeys !== undefined) return [];
  return [
    "TOKEN_KEYS is missing: other processes on this DATABASE_URL refuse what was built here, and follow none of it if this one ends.",
  ];
}

/** What says that this is no experiment; undefined if nothing does. */
function signOfProduction({ nodeEnv, publicUrl, host, yellowstoneUrl, relays }: Config): string | undefined {
  if (nodeEnv === "production") return "NODE_ENV is production";
  if (publicUrl !== undefined && !LOOPBACK.test(new URL(publicUrl).hostname)) return `PUBLIC_URL is ${publicUrl}`;
  if (!LOOPBACK.test(host)) return `HOST is ${host}, beyond this machine's loopback`;
  if (yellowstoneUrl !== undefined) return "YELLOWSTONE_URL names a stream of another chain";
  if (relays !== undefined) return "RELAYS names relays of another chain";
  return undefined;
}
