import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/config/config.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { type RpcProxy, startRpcProxy } from "../slow/faults/rpc-proxy.ts";
import { type BuildEntry, type History, type SubmitEntry, Trader } from "../slow/faults/trader.ts";
import { AnswerBreaker, BROKEN_REPLIES } from "../support/broken-answers.ts";
import { eventually } from "../support/eventually.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { PATIENT } from "../support/service.ts";
import { isWhole } from "../support/whole.ts";

const SEED = Number(process.env.SEED ?? 1);
/** Breakages tried, of some 1,700. */
const CASES = isWhole ? 600 : 24;
/** Codes that say nothing about the trade. */
const UNDECIDED: readonly unknown[] = ["SERVICE_UNAVAILABLE", "UPSTREAM_ERROR", "TRADE_NOT_FOUND"];

let sandbox: PacedSandbox;
let proxy: RpcProxy;
let app: App;
let trader: Trader;
const breaker = new AnswerBreaker();
const history: History = { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] };
const errors: string[] = [];
const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));

beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: 50 });
  proxy = await startRpcProxy(sandbox);
  await proxy.set({ mutator: breaker });
  app = await startApp({
    now: Date.now,
    config: parseConfig({
      ...PATIENT,
      DATA_DIR: dataDir,
      SIGN_IN_CHAIN_ID: "localnet",
      SUBMIT_TIMEOUT_MS: "1000",
      MAX_CONNECTIONS: "100",
      SOLANA_RPC_URL: proxy.url,
      SOLANA_WS_URL: proxy.wsUrl,
    }),
    logger: { info: () => {}, warn: () => {}, error: (_facts: object, message: string) => void errors.push(message) },
  });
  trader = new Trader(0xb0, history);
  await askChain("requestAirdrop", [trader.address, 900e9]);
  await trader.register(app.url);
  // One trade that lands and one that expires: now every method has been called.
  await endOf(await build());
  await proxy.set({ sends: "drop" });
  await endOf(await build());
  await proxy.set({ sends: "forward" });
});
afterAll(async () => {
  await app?.close();
  await proxy?.close();
  await sandbox?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function askChain(method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(sandbox.rpcUrl, { method: "POST", headers, body });
  return ((await answer.json()) as { result: unknown }).result;
}

function tryBuild(): Promise<BuildEntry | undefined> {
  const { mint } = sandbox.world.tokens.find(({ venue }) => venue === "pump_fun")!;
  return trader.build(app.url, { path: "buy", body: { mint: mint.toString(), solAmount: 0.01 } });
}

/** Builds once the service can. */
const build = () =>
  eventually(async () => {
    const built = await tryBuild();
    if (built === undefined) throw new Error(JSON.stringify(history.refusedBuilds.at(-1)));
    return built;
  });

const submit = (built: BuildEntry) => trader.submit({ name: "service", url: app.url }, built);

const endOf = (built: BuildEntry) =>
  eventually(async () => {
    const answer = await submit(built);
    const { status, data, error } = answer;
    if (status === 0 || UNDECIDED.includes(error?.code) || data?.status === "pending" || data?.status === "processed")
      throw new Error(answer.text);
    return answer;
  });

/** What an answer says of a trade that has landed as it was quoted: undefined if nothing, or the truth. */
function falsehoodOf({ status, data, error, text }: SubmitEntry, built: BuildEntry): string | undefined {
  if (status === 0 || status === 500) return text;
  if (error !== undefined) return UNDECIDED.includes(error.code) && error.safeToRebuild !== true ? undefined : text;
  const { inputAmountRaw, outputAmountRaw } = built.estimates;
  const told = data?.tradeResult;
  if (told === null) return data?.status === "pending" || data?.status === "processed" ? undefined : text;
  return told?.inputAmountRaw === inputAmountRaw && told.outputAmountRaw === outputAmountRaw ? undefined : text;
}

/** What goes wrong while answers are broken, and after. */
async function whileBroken(begin: () => unknown, end: () => unknown): Promise<readonly string[]> {
  const before = await build();
  await begin();
  const answers = [await submit(before), await trader.find({ name: "service", url: app.url }, before)];
  const refusals = history.refusedBuilds.length;
  const meanwhile = await tryBuild();
  await end();
  const bad = history.refusedBuilds.slice(refusals).filter(({ status }) => status === 0 || status === 500);
  const found = [...answers, await endOf(before)].map((answer) => falsehoodOf(answer, before));
  if (meanwhile !== undefined) found.push(falsehoodOf(await endOf(meanwhile), meanwhile));
  return [...found.filter((one) => one !== undefined), ...bad.map(({ message }) => message), ...errors.splice(0)];
}

/** Tries as many of these as the test has time for. @returns what went wrong */
async function sample<T>(all: readonly T[], attempt: (one: T) => Promise<readonly string[]>): Promise<string[]> {
  const random = createRandom(SEED);
  const left = [...all];
  const wrong: string[] = [];
  for (let cases = Math.min(CASES, left.length); cases > 0; cases--) {
    const [one] = left.splice(Number(random.below(BigInt(left.length))), 1);
    for (const what of await attempt(one!)) wrong.push(`${JSON.stringify(one)}: ${what} (SEED=${SEED})`);
  }
  return wrong;
}

test("whatever a lone node leaves out of its answers and notices, or puts in, nothing false is said, and trades go on", async () => {
  const attempt = (one: Parameters<AnswerBreaker["set"]>[0]) =>
    whileBroken(
      () => breaker.set(one),
      () => breaker.set(undefined),
    );
  expect(await sample(breaker.all(), attempt)).toEqual([]);
});

test("whatever carries a lone node's answers, nothing false is said, and trades go on", async () => {
  const all = breaker.methods().flatMap((method) => Object.keys(BROKEN_REPLIES).map((how) => ({ method, how })));
  const attempt = ({ method, how }: (typeof all)[number]) =>
    whileBroken(
      () => proxy.set({ reply: { method, change: BROKEN_REPLIES[how]! } }),
      () => proxy.set({ reply: undefined }),
    );
  expect(await sample(all, attempt)).toEqual([]);
});
