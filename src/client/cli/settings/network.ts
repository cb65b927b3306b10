import type { CliIo } from "../command.ts";

/** The public networks, by genesis hash. @see https://solana.com/docs/references/clusters */
const NETWORKS: ReadonlyMap<unknown, string> = new Map([
  ["5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", "mainnet"],
  ["4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY", "testnet"],
  ["EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", "devnet"],
]);
const PROBE_MS = 3_000;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** True if the URL's host is this machine. */
function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/** One JSON-RPC call for a command. @throws Error with the node's words */
export async function callNode(node: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await fetch(node, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    redirect: "error",
    signal: AbortSignal.timeout(10_000),
  });
  const answer = (await response.json()) as { jsonrpc?: unknown; result?: unknown; error?: { message?: string } };
  const { jsonrpc, result, error } = answer;
  if (jsonrpc !== "2.0") throw new Error(`What answered is not a node: HTTP ${response.status}.`);
  if (error !== undefined) throw new Error(`The node answered: ${error.message}`);
  return result;
}

/** The network of a node: a public one, or "custom". @throws Error if the node cannot be asked */
export async function nodeNetwork(node: string): Promise<string> {
  return NETWORKS.get(await callNode(node, "getGenesisHash")) ?? "custom";
}

/** A link to the transaction in an explorer; undefined if the network is unknown, or a custom one elsewhere. */
export async function explorerLink(
  signature: string,
  network: string | undefined,
  node: string | undefined,
): Promise<string | undefined> {
  const name = network ?? (node === undefined ? undefined : await nodeNetwork(node).catch(() => undefined));
  const link = `https://explorer.solana.com/tx/${signature}`;
  if (name === "mainnet") return link;
  if (name === "devnet" || name === "testnet") return `${link}?cluster=${name}`;
  // The URL of a node may hold a secret: only one on this machine goes into a link.
  if (name === "custom" && node !== undefined && isLoopback(node)) {
    return `${link}?cluster=custom&customUrl=${encodeURIComponent(node)}`;
  }
  return undefined;
}

/** What answers at a URL that is not the service: undefined if it is the service, or nothing can be said. */
export async function describeStranger(url: string): Promise<string | undefined> {
  const get = (path: string, base = url) =>
    fetch(`${base}${path}`, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) }).then(
      async (response) => ({ status: response.status, text: (await response.text()).slice(0, 10_000) }),
      () => undefined,
    );
  const ping = await get("/v1/ping");
  if (ping === undefined) return `Nothing answers at ${url}. Is the service running, and is the URL right?`;
  const isService = (one: typeof ping | undefined) => one?.status === 200 && one.text === "";
  if (isService(ping)) return undefined;
  const { origin } = new URL(url);
  if (url !== origin && isService(await get("/v1/ping", origin))) {
    return `There is a Tradewire at ${origin}, and none at ${url}: give its URL without a path.`;
  }
  const metrics = await get("/metrics");
  if (metrics?.status === 200 && metrics.text.includes("tradewire_")) {
    return `${url} is the admin port of a Tradewire, which takes no trades. Use the port of its API.`;
  }
  const health = await callNode(url, "getHealth").catch((error: Error) => error.message);
  if (health === "ok" || String(health).startsWith("The node answered")) {
    return `${url} is a Solana RPC node, not a Tradewire. Give it as --node, and the service as --url.`;
  }
  return `${url} answers, but it is not a Tradewire service.`;
}

/** Warns about a key that travels unencrypted. */
export function warnPlainHttp(url: string, io: CliIo): void {
  if (url.startsWith("http://") && !isLoopback(url)) {
    io.note(`Warning: ${url} is not encrypted. Your API key and your trades can be read on the way.`);
  }
}
