import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toJsonString } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TradeService, WatchTradeResponseSchema } from "../../gen/tradewire/v1/trade_pb.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type History, Trader } from "../slow/faults/trader.ts";
import { startTestService, type TestService } from "../support/service.ts";

/** Stands in the path of the node's URL, as keys of providers do. */
const URL_SECRET = "k3y-of-the-provider";
const NODE_WORDS = "quota of tenant 4711 at shard-7.internal exceeded";

let sandbox: Sandbox;
let node: Server;
let service: TestService;
let port: number;
const logged: string[] = [];
/** How the node fails from now on; by method, or for all. */
let failing: { readonly methods: readonly string[]; readonly how: "error" | "html" | "hang-up" } | undefined;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 50 });
  node = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    if (failing?.methods.includes(method)) {
      if (failing.how === "hang-up") request.socket.destroy();
      else if (failing.how === "html") response.writeHead(502).end(`<h1>${NODE_WORDS}</h1>`);
      else response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: NODE_WORDS } }));
      return;
    }
    try {
      const answer = await fetch(sandbox.rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      response.end(await answer.text());
    } catch {
      // The chain closed while it was asked: the last calls of a service that closes too.
      request.socket.destroy();
    }
  });
  // A connection that has rested for a while is used again all the same.
  node.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  port = (node.address() as AddressInfo).port;
  const log = (facts: object, message: string) => {
    const { err } = facts as { err?: Error };
    logged.push(`${message} ${err === undefined ? "" : String(err.message)}`);
  };
  service = await startTestService(
    {
      SOLANA_RPC_URL: `http://127.0.0.1:${port}/${URL_SECRET}`,
      SOLANA_WS_URL: sandbox.wsUrl,
      SIGN_IN_CHAIN_ID: "localnet",
      SUBMIT_TIMEOUT_MS: "1500",
    },
    { logger: { info: log, warn: log, error: log } },
  );
});
afterAll(async () => {
  await service?.close();
  node?.closeAllConnections();
  node?.close();
  await sandbox?.close();
});

const mintAt = (index: number): string => [...new Set(sandbox.world.tokens.map(({ mint }) => mint.toString()))][index]!;
const bodyOf = (mint: string) => ({ mint, solAmount: 0.01, slippage: 0.05, priority: "fast" });
const swapOf = (mint: string) => ({
  inputMint: "SOL",
  outputMint: mint,
  amount: 0.01,
  swapMode: "exactIn",
  slippage: 0.05,
});

function expectSecrecy(text: string): void {
  for (const secret of [URL_SECRET, NODE_WORDS, "shard-7", "getMultipleAccounts", "127.0.0.1"])
    expect(text.includes(secret), `${secret} in ${text.slice(0, 3_000)}`).toBe(false);
  // A few digits turn up by chance within an amount or a token; said as a number they stand by themselves.
  for (const number of ["4711", String(port)]) {
    const said = new RegExp(`(?<![\\w.])${number}(?!\\w)`);
    expect(said.test(text), `${number} in ${text.slice(0, 3_000)}`).toBe(false);
  }
}

/** What every kind of call answers about one token, which nobody has asked for before. */
async function answersAbout(mint: string, apiKey: string, signature: string): Promise<readonly string[]> {
  const bearer = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const post = (path: string, body: object) =>
    fetch(`${service.url}${path}`, { method: "POST", headers: bearer, body: JSON.stringify(body) });
  const responses = await Promise.all([
    post("/v1/tx/buy", bodyOf(mint)),
    post("/v1/tx/sell", { mint, sellPercent: 50, slippage: 0.05, priority: "fast" }),
    post("/v1/tx/quote", swapOf(mint)),
    post("/v1/tx/swap", { ...swapOf(mint), priority: "fast" }),
    post("/tradewire.v1.TradeService/Quote", { ...swapOf(mint), swapMode: "SWAP_MODE_EXACT_IN" }),
    fetch(`${service.url}/v1/tx/${signature}`, { headers: bearer }),
    fetch(`${service.url}/v1/priority`),
    fetch(`${service.url}/status.json`),
  ]);
  return Promise.all(
    responses.map(async (response) => JSON.stringify([...response.headers]) + (await response.text())),
  );
}

test.each(["error", "html", "hang-up"] as const)(
  "nothing of a node that fails with %s reaches callers, and the log has it",
  async (how) => {
    failing = undefined;
    const client = await service.newClient();
    const turn = ["error", "html", "hang-up"].indexOf(how);
    const [mint, other] = [mintAt(2 * turn), mintAt(2 * turn + 1)];
    const apiKey = client.apiKey!;
    // Failed searches are logged again only after one has succeeded.
    const others = { ...swapOf(mintAt(6 + turn)), swapMode: "SWAP_MODE_EXACT_IN" };
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const search = () =>
      fetch(`${service.url}/tradewire.v1.TradeService/Quote`, {
        method: "POST",
        headers,
        body: JSON.stringify(others),
      });
    if (turn > 0) await expect.poll(async () => (await search()).status, { interval: 200 }).toBe(200);
    logged.length = 0;
    // First only the searches: they appear as faults of an answer and in its details.
    failing = { methods: ["getProgramAccounts"], how };
    const searched = await answersAbout(mint, apiKey, "1".repeat(88));
    failing = { methods: ["getProgramAccounts", "getMultipleAccounts", "getSignatureStatuses", "getTransaction"], how };
    const refused = await answersAbout(other, apiKey, "1".repeat(88));
    failing = undefined;
    for (const text of [...searched, ...refused]) expectSecrecy(text.replaceAll(service.url, ""));
    expect(refused.filter((text) => text.includes("UPSTREAM_ERROR")).length).toBeGreaterThan(2);
    expect(searched.filter((text) => text.includes("Solana node")).length).toBeGreaterThan(1);
    const log = logged.join("\n");
    expect(log).toContain(`127.0.0.1:${port}`);
    if (how === "error") expect(log).toContain(NODE_WORDS);
    expect(log).not.toContain(URL_SECRET);
  },
);

test("events of a trade name senders by number and refusals by kind", async () => {
  failing = undefined;
  const history: History = { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] };
  const trader = new Trader(0x7711, history);
  await service.rpc("requestAirdrop", [trader.address, 5e9]);
  await trader.register(service.url);
  const built = (await trader.build(service.url, { path: "buy", body: bodyOf(mintAt(0)) }))!;
  failing = { methods: ["sendTransaction"], how: "error" };
  const submit = await trader.submit({ name: "service", url: service.url }, built);
  expectSecrecy(JSON.stringify(submit.data ?? submit.error));
  const client = createClient(TradeService, createConnectTransport({ baseUrl: service.url, httpVersion: "1.1" }));
  const watched = client.watchTrade(
    { signature: built.signature },
    { headers: { authorization: `Bearer ${history.secrets[0]}` } },
  );
  for await (const answer of watched) {
    const text = toJsonString(WatchTradeResponseSchema, answer);
    expectSecrecy(text);
    if (!text.includes("TRADE_EVENT_KIND_REFUSED")) continue;
    expect(text).toContain('"lane":"rpc-1","reason":"answered"');
    break;
  }
  failing = undefined;
});
