import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { BuyRequestSchema, Priority } from "../../gen/index.ts";
import { SqliteThread } from "../../src/accounts/store/sqlite-thread.ts";
import { checkRequest } from "../../src/api/call/validation/validation.ts";
import { HttpClient } from "../../src/chain/rpc/http/http-client.ts";
import { Address } from "../../src/primitives/address.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { startTestService, type TestService } from "../support/service.ts";

/**
 * What trades cost in counts that the load of the machine does not change. A bound may be lowered; a commit that raises one says in
 * docs/performance.md what the trade gets for it.
 */
const BOUNDS = {
  /** Searches of the chain for a token that nobody has asked for: each of eight venues on either side, and the curves. */
  searchesOfColdToken: 17,
  /** The claim and the outcome of a submit. */
  statementsOfSubmit: 2,
  /** Bytes that a warm build allocates, without the call around it. */
  bytesOfBuild: 14 * 1024,
  /** Bytes that checking a request against the rules of its definition allocates. */
  bytesOfRules: 200,
} as const;
/** Runs before any is counted, runs that are counted together, and most rounds until their code is compiled: a busy machine takes long. */
const WARM_RUNS = 400;
const RUNS = 100;
const ROUNDS = 100;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ SANDBOX_SLOT_MS: "400" });
});
afterAll(() => service?.close());
afterEach(() => vi.restoreAllMocks());

/** Calls to nodes and statements of the database, from now on. */
function watchCosts(): { readonly methods: string[]; readonly statements: string[] } {
  const methods: string[] = [];
  const statements: string[] = [];
  const { post } = HttpClient.prototype;
  vi.spyOn(HttpClient.prototype, "post").mockImplementation(function (this: HttpClient, body, options) {
    methods.push(JSON.parse(body).method);
    return post.call(this, body, options);
  });
  const { run } = SqliteThread.prototype;
  vi.spyOn(SqliteThread.prototype, "run").mockImplementation(function (this: SqliteThread, sql, parameters, alone) {
    statements.push(sql);
    return run.call(this, sql, parameters, alone);
  });
  return { methods, statements };
}

const tokens = () => [
  ...new Set(service.sandbox.world.tokens.filter(({ quoteMint }) => quoteMint === SOL_MINT).map(({ mint }) => mint)),
];

function buyOf(wallet: string, mint: Address): TradeRequest {
  return {
    principal: { accountId: "test", keyId: "test", wallet: Address.of(wallet) },
    inMint: SOL_MINT,
    outMint: mint,
    mode: "exactIn",
    amount: 0.05,
    slippage: 0.05,
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
  };
}

test("the first buy of a token searches the chain a bounded number of times, and further ones never", async () => {
  const client = await service.newClient(50);
  const wallet = client.wallet.publicKey.toString();
  const [hub, ...others] = tokens();
  // The pair of SOL and USDC is searched once for all tokens.
  await service.app.trades.build(buyOf(wallet, hub!));
  for (const mint of others.slice(0, 4)) {
    const { methods } = watchCosts();
    const searches = () => methods.filter((method) => method === "getProgramAccounts").length;
    await service.app.trades.build(buyOf(wallet, mint));
    expect(searches()).toBeLessThanOrEqual(BOUNDS.searchesOfColdToken);
    const first = searches();
    await service.app.trades.build(buyOf(wallet, mint));
    expect(searches()).toBe(first);
    vi.restoreAllMocks();
  }
});

test("a warm build makes no RPC call and no database call, and awaits no promise", async () => {
  const client = await service.newClient(50);
  const requests = tokens().map((mint) => buyOf(client.wallet.publicKey.toString(), mint));
  const { trades } = service.app;
  for (const request of requests) await trades.build(request);
  for (const request of requests) await trades.build(request);

  const { methods, statements } = watchCosts();
  for (let round = 0; round < 20; round++) {
    for (const request of requests) expect(trades.build(request)).not.toBeInstanceOf(Promise);
  }
  expect(methods).toEqual([]);
  expect(statements).toEqual([]);
});

/** Bytes that a run allocates, once there are rounds in which it is no more than that. */
async function bytesOf(run: () => unknown, most: number): Promise<number> {
  for (let i = 0; i < WARM_RUNS; i++) await run();
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const allocate = () => {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < RUNS; i++) run();
    return (process.memoryUsage().heapUsed - before) / RUNS;
  };
  // What is collected meanwhile is not counted: of several turns the dearest counts.
  let dearest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && !(dearest <= most); round++) {
    await setImmediate();
    await run();
    dearest = Math.max(...Array.from({ length: 5 }, allocate));
  }
  return dearest;
}

test("a warm build allocates no more than it may", async () => {
  const client = await service.newClient(50);
  const request = buyOf(client.wallet.publicKey.toString(), tokens()[0]!);
  const { trades } = service.app;
  const bytes = await bytesOf(() => trades.build(request), BOUNDS.bytesOfBuild);
  expect(bytes).toBeLessThanOrEqual(BOUNDS.bytesOfBuild);
  expect(bytes).toBeGreaterThan(0);
});

test("a request that keeps the rules of its definition is checked without objects for them", async () => {
  const order = { mint: tokens()[0]!.toString(), solAmount: 0.05, slippage: 0.05, priority: Priority.FAST };
  const request = create(BuyRequestSchema, order);
  const bytes = await bytesOf(() => checkRequest(BuyRequestSchema, request), BOUNDS.bytesOfRules);
  expect(bytes).toBeLessThanOrEqual(BOUNDS.bytesOfRules);
});

test("a submit writes two rows, its claim and its outcome, however long it takes", async () => {
  const client = await service.newClient(50);
  const order = { mint: tokens()[0]!.toString(), solAmount: 0.05, slippage: 0.5, priority: "fast" } as const;
  const built = await client.buildBuy(order);
  const signed = await client.sign(built);
  const { statements } = watchCosts();
  await client.submit(built.submissionToken, signed);
  const written = statements.filter((sql) => /^(?:insert into|update) submissions/.test(sql));
  expect(written.length).toBe(BOUNDS.statementsOfSubmit);
});
