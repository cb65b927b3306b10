import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/config/config.ts";
import { type Faults, type RpcProxy, startRpcProxy } from "../slow/faults/rpc-proxy.ts";
import { type History, Trader } from "../slow/faults/trader.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { PATIENT } from "../support/service.ts";
import { isWhole } from "../support/whole.ts";

/** Trades of a test: the second shows what is not asked for again. */
const TRADES = isWhole ? 3 : 2;
/** Ways to refuse. */
const WAYS = [-32601, 403, 410] as const;
/** Every method the service calls, as listed in docs/mainnet.md. */
const METHODS = [
  "sendTransaction",
  "getSignatureStatuses",
  "getTransaction",
  "getLatestBlockhash",
  "getEpochInfo",
  "isBlockhashValid",
  "getSignaturesForAddress",
  "getFirstAvailableBlock",
  "getMultipleAccounts",
  "getMinimumBalanceForRentExemption",
  "getGenesisHash",
  "getProgramAccounts",
  "getRecentPrioritizationFees",
  "getRecentPerformanceSamples",
];
/** What a node refuses in one test: each method alone in `npm run slow:exhaustive`, otherwise several at once, of one service. */
const inGroups = (methods: readonly string[], groups: number): readonly (readonly string[])[] =>
  isWhole
    ? methods.map((method) => [method])
    : Array.from({ length: groups }, (_, group) => methods.filter((_, i) => i % groups === group));
const REFUSED_SUBSCRIPTIONS = isWhole
  ? [["slotSubscribe"], ["accountSubscribe"], ["signatureSubscribe"]]
  : [["slotSubscribe"], ["accountSubscribe", "signatureSubscribe"]];
/** Methods that some node must serve for the service to start. */
const NEEDED_TO_START = [
  "getLatestBlockhash",
  "getEpochInfo",
  "getMultipleAccounts",
  "getMinimumBalanceForRentExemption",
  "getGenesisHash",
];
const UNNEEDED = [
  "getProgramAccounts",
  "getRecentPrioritizationFees",
  "getRecentPerformanceSamples",
  "isBlockhashValid",
];

/** Lines about answers and slots that came late, whose number the machine's speed decides. They are about no refusal. */
const OF_A_BUSY_MACHINE = /did not answer within \d+ ms|: no node follows it\.|^The stream of slots has a gap/;

/** The method that a line says is refused from now on; undefined: it says something else. */
const refusedMethod = (line: string) =>
  /^The Solana node \S+ does not serve (\w+); it is not asked again/.exec(line)?.[1];

let sandbox: PacedSandbox;
let wallets = 0;
beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: 100 });
});
afterAll(() => sandbox?.close());

/** What runs after the test, the last one first. */
type OnEnd = TestContext["onTestFinished"];

/** The service on nodes with these faults, in this order, and what it logged. */
async function serviceOn(onEnd: OnEnd, ...faults: Partial<Faults>[]) {
  const proxies: RpcProxy[] = [];
  for (const each of faults) {
    const proxy = await startRpcProxy(sandbox);
    onEnd(() => proxy.close());
    await proxy.set(each);
    proxies.push(proxy);
  }
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));
  onEnd(() => rmSync(dataDir, { recursive: true, force: true }));
  const logged: string[] = [];
  const log = (_facts: object, message: string) => {
    if (!OF_A_BUSY_MACHINE.test(message)) logged.push(message);
  };
  const app = await startApp({
    now: Date.now,
    config: parseConfig({
      ...PATIENT,
      DATA_DIR: dataDir,
      SIGN_IN_CHAIN_ID: "localnet",
      SUBMIT_TIMEOUT_MS: "10000",
      // Otherwise a machine where a process may open few files is warned of.
      MAX_CONNECTIONS: "100",
      SOLANA_RPC_URLS: proxies.map(({ url }) => url).join(","),
      SOLANA_WS_URLS: proxies.map(({ wsUrl }) => wsUrl).join(","),
    }),
    logger: { info: () => {}, warn: log, error: log },
  });
  onEnd(() => app.close());
  const history: History = { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] };
  const trader = new Trader(0x7700 + wallets++, history);
  await fetch(sandbox.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "requestAirdrop", params: [trader.address, 5e9] }),
  });
  await trader.register(app.url);
  const mint = sandbox.world.tokens.find(({ venue }) => venue === "pump_fun")!.mint.toString();
  return {
    proxies,
    logged,
    /** Transactions sent once more, for want of a confirmation. */
    async rebroadcasts() {
      const metrics = await (await fetch(`${app.admin.url}/metrics`)).text();
      return Number(/^tradewire_rebroadcasts_total (\d+)$/m.exec(metrics)![1]);
    },
    async trade() {
      const built = await trader.build(app.url, { path: "buy", body: { mint, solAmount: 0.01 } });
      if (built === undefined) throw new Error(JSON.stringify(history.refusedBuilds.at(-1)));
      const submit = () => trader.submit({ name: "service", url: app.url }, built);
      let answer = await submit();
      // A busy machine may take longer than one submit waits; the next one goes on waiting.
      while (answer.data?.status === "processed" || answer.data?.status === "pending") answer = await submit();
      const { status, data, error } = answer;
      expect([
        { status: 200, is: "confirmed" },
        { status: 200, is: "finalized" },
      ]).toContainEqual({ status, is: data?.status ?? error });
    },
  };
}

/** Each way once in the fast tests. */
describe.each(isWhole ? WAYS : WAYS.slice(0, 2))("a node that refuses with %i", (refusedWith) => {
  test.concurrent.for(inGroups(UNNEEDED, 1).map((methods) => ({ methods, names: methods.join(" and ") })))(
    "$names, without another node, logs at most one line each, and trades continue",
    async ({ methods }, { onTestFinished }) => {
      const { logged, trade, proxies } = await serviceOn(onTestFinished, { refusedMethods: [...methods], refusedWith });
      const asked = () => methods.map((method) => proxies[0]!.calls.get(method));
      await trade();
      const atFirst = asked();
      for (let i = 1; i < TRADES; i++) await trade();
      // Expiry is not checked while trades land.
      for (const method of methods)
        expect(logged.filter((line) => line.includes(method))).toHaveLength(method === "isBlockhashValid" ? 0 : 1);
      expect(asked()).toEqual(atFirst);
    },
  );
});

test.concurrent.for(isWhole ? WAYS : WAYS.slice(2))(
  "a node that refuses all methods with %i, beside one that serves them, logs one line for each method, and trades continue",
  async (refusedWith, { onTestFinished }) => {
    const { logged, trade } = await serviceOn(onTestFinished, { refusedMethods: "all", refusedWith }, {});
    for (let i = 0; i < TRADES; i++) await trade();
    const known = logged.length;
    for (let i = 0; i < TRADES; i++) await trade();
    // On a slow machine a later trade may be the first to ask for a method.
    const refused = new Set([undefined, ...logged.slice(0, known).map(refusedMethod)]);
    expect(logged.slice(known).filter((line) => refused.has(refusedMethod(line)))).toEqual([]);
    expect(new Set(logged).size, logged.join("\n")).toBe(logged.length);
    for (const method of METHODS.filter((one) => one !== "isBlockhashValid" && one !== "getGenesisHash"))
      expect(logged.filter((line) => line.includes(method)).length, method).toBeLessThanOrEqual(1);
  },
);

test.concurrent.for(inGroups(METHODS, 2).map((methods) => ({ methods, names: methods.join(" and ") })))(
  "a node without $names, beside one that serves them, logs one line each, and trades continue",
  async ({ methods }, { onTestFinished }) => {
    const { logged, trade, proxies, rebroadcasts } = await serviceOn(
      onTestFinished,
      { refusedMethods: [...methods] },
      {},
    );
    const asked = () => methods.map((method) => proxies[0]!.calls.get(method) ?? 0);
    await trade();
    const atFirst = asked();
    for (let i = 1; i < TRADES; i++) await trade();
    for (const method of methods)
      expect(logged.filter((line) => line.includes(method)).length, method).toBeLessThanOrEqual(1);
    expect(logged.length, logged.join("\n")).toBeLessThanOrEqual(methods.length + 1);
    // Each broadcast of a transaction tries every node: it may serve the method by now.
    const broadcasts = TRADES - 1 + (await rebroadcasts());
    for (const [i, method] of methods.entries()) {
      // A trade that a subscription confirms asks for no status: a later one may be the first to be refused.
      const refusals = atFirst[i] === 0 ? 1 : 0;
      const most = method === "sendTransaction" ? broadcasts : refusals;
      expect(asked()[i]! - atFirst[i]!, method).toBeLessThanOrEqual(most);
    }
  },
);

test.concurrent.for(isWhole ? NEEDED_TO_START : NEEDED_TO_START.slice(-2))(
  "the service does not start without %s on any node, and says why",
  async (method, { onTestFinished }) => {
    const failure = await serviceOn(onTestFinished, { refusedMethods: [method] }).then(() => "", String);
    expect(failure).toContain(method);
  },
);

test.concurrent.for(REFUSED_SUBSCRIPTIONS.map((methods) => ({ methods, names: methods.join(" and ") })))(
  "a node that refuses $names logs a line for each and one more at most, not one per trade, and trades continue",
  async ({ methods }, { onTestFinished }) => {
    const { logged, trade } = await serviceOn(onTestFinished, { refusedMethods: [...methods] });
    for (let i = 0; i < TRADES; i++) await trade();
    for (const method of methods) expect(logged.filter((line) => line.includes(method))).toHaveLength(1);
    expect(logged.length, logged.join("\n")).toBeLessThanOrEqual(methods.length + 1);
  },
);

test.concurrent("a node that refuses WebSockets logs one line, and trades continue", async ({ onTestFinished }) => {
  const { logged, trade } = await serviceOn(onTestFinished, { refusesSockets: true });
  for (let i = 0; i < TRADES; i++) await trade();
  expect(
    logged.filter((line) => line.includes("subscription connection to 127.0.0.1")),
    logged.join("\n"),
  ).toHaveLength(1);
  expect(logged.length, logged.join("\n")).toBeLessThanOrEqual(2);
});

test.concurrent("a node whose WebSocket is silent logs at most four lines, and trades continue", async ({
  onTestFinished,
}) => {
  const { logged, trade } = await serviceOn(onTestFinished, { notices: "silent" });
  for (let i = 0; i < TRADES; i++) await trade();
  expect(logged.length).toBeLessThanOrEqual(4);
});
