import { BodyReader } from "../../connection/body-reader.ts";
import { isLoopback } from "../../connection/loopback.ts";
import { TradeError } from "../../trade-error.ts";
import type { CliIo } from "../command.ts";

/** The public networks, by genesis hash. @see https://solana.com/docs/references/clusters */
const NETWORKS: ReadonlyMap<unknown, string> = new Map([
  ["5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", "mainnet"],
  ["4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY", "testnet"],
  ["EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", "devnet"],
]);
const CALL_MS = 10_000;
const PROBE_MS = 3_000;
/** Of one answer: the metrics of a service, or what a wallet holds, are far below it. */
const MOST_BYTES = 1 << 25;

/** True if the URL's host is this machine. */
const isLocal = (url: string): boolean => URL.canParse(url) && isLoopback(new URL(url));

/**
 * One JSON-RPC call for a command.
 *
 * @throws TradeError NODE_UNAVAILABLE if the node does not answer; Error with the node's words if it refuses, or if it is none
 */
export async function callNode(node: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const { status, text } = await ask(node, method, params).catch((cause: unknown) => {
    // The host alone: the rest of a node's URL may hold a secret.
    const message = `The node ${new URL(node).host} did not answer ${method}.`;
    throw new TradeError("NODE_UNAVAILABLE", message, { retryable: true, cause });
  });
  const { jsonrpc, result, error } = (parsed(text) ?? {}) as NodeAnswer;
  if (jsonrpc !== "2.0") throw new Error(`What answered is not a node: HTTP ${status}.`);
  if (error != null) throw new Error(`The node answered: ${error.message}`);
  return result;
}

interface NodeAnswer {
  readonly jsonrpc?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message?: string } | null;
}

async function ask(node: string, method: string, params: readonly unknown[]) {
  const response = await fetch(node, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    redirect: "error",
    signal: AbortSignal.timeout(CALL_MS),
  });
  return { status: response.status, text: await textOf(response) };
}

/** The whole body. @throws Error if it breaks off, or has no end */
async function textOf(response: Response): Promise<string> {
  return new TextDecoder().decode(await new BodyReader(response, MOST_BYTES).rest());
}

/** What JSON says; undefined if it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
  if (name === "custom" && node !== undefined && isLocal(node)) {
    return `${link}?cluster=custom&customUrl=${encodeURIComponent(node)}`;
  }
  return undefined;
}

/** What answers at a URL that is not the service: undefined if it is the service, or nothing can be said. */
export async function describeStranger(url: string): Promise<string | undefined> {
  const ping = await probe(`${url}/v1/ping`);
  if (ping === undefined) return `Nothing answers at ${url}. Is the service running, and is the URL right?`;
  const stranger = `${url} answers, but it is not a Tradewire service.`;
  if (ping.text === undefined) return stranger;
  const isService = (one: Awaited<ReturnType<typeof probe>>) => one?.status === 200 && one.text === "";
  if (isService(ping)) return undefined;
  const { origin } = new URL(url);
  if (url !== origin && isService(await probe(`${origin}/v1/ping`))) {
    return `There is a Tradewire at ${origin}, and none at ${url}: give its URL without a path.`;
  }
  const metrics = await probe(`${url}/metrics`);
  if (metrics?.status === 200 && metrics.text?.includes("tradewire_")) {
    return `${url} is the admin port of a Tradewire, which takes no trades. Use the port of its API.`;
  }
  const health = await callNode(url, "getHealth").catch((error: Error) => error.message);
  if (health === "ok" || String(health).startsWith("The node answered")) {
    return `${url} is a Solana RPC node, not a Tradewire. Give it as --node, and the service as --url.`;
  }
  return stranger;
}

/** What a URL answers, its text undefined if that breaks off or has no end; undefined if nothing answers. */
async function probe(url: string) {
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) });
    return { status: response.status, text: await textOf(response).catch(() => undefined) };
  } catch {
    return undefined;
  }
}

/** Warns about a key that travels unencrypted. */
export function warnPlainHttp(url: string, io: CliIo): void {
  if (!isPlain(url)) return;
  io.note(`Warning: ${url} is not encrypted. Your API key and your trades can be read on the way.`);
}

/** Warns about a node or a reference that others could answer for. Its URL may hold a secret: the host alone is named. */
export function warnPlainWitness(what: string, url: string | undefined, io: CliIo): void {
  if (url === undefined || !isPlain(url)) return;
  const { host } = new URL(url);
  io.note(
    `Warning: the connection to ${what} ${host} is not encrypted. Anybody on the network path can answer in its place.`,
  );
}

/** True if others can read, and change, what travels to the URL. */
const isPlain = (url: string): boolean => /^http:/i.test(url) && !isLocal(url);
