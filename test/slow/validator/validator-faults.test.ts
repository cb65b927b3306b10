import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { VersionedTransaction } from "@solana/web3.js";
import { describe, it } from "vitest";
import type { BuiltResponse } from "../../../src/client/answers/answers.ts";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import { type CutProxy, startCutProxy } from "../../support/cut-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestService } from "../../support/service.ts";
import { followPace } from "./chain-pace.ts";
import { codeOf, patiently, settleJudged, tradeJudged } from "./judged-trade.ts";
import { report } from "./table.ts";
import { faultsOf, tradeAll, tradeWorld } from "./trade-world.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";
import { tokenPerVenue, tokenTrades, twoMarketTrades } from "./world-trades.ts";

const PART = "faults";
/** Ages as in production, so that a fault shows. */
const STRICT = { STATE_MAX_AGE_MS: "2000", BLOCKHASH_MAX_AGE_MS: "10000", SOLANA_RPC_TIMEOUT_MS: "4000" };
/** Above STATE_MAX_AGE_MS. */
const STALE_MS = 2_200;
const SUSPENDED_MS = 4_000;
const BUY = { solAmount: 0.1, slippage: 0.05, priority: "fast" } as const;
/** Enough to move the deepest pool of the world by more than `NARROW`. */
const QUICK_SOL = 20;
const NARROW = 0.001;
/** Time over which the service measures the pace of blocks. */
const PACE_WINDOW_MS = 8_000;
/**
 * Blocks by which `expiresAt` may be late had the chain kept the pace of the window before the build: a tenth of a life. What it
 * really was late by is printed: a chain that follows the load of its machine may go twice as fast a moment later.
 */
const LATE_BLOCKS = 15;
/** What a story found: a figure, and what does not hold. */
type Found = readonly [measured: string, faults: readonly string[]];

describe.skipIf(findValidator() === undefined)("faults of a real validator", () => {
  const fault = (
    name: string,
    story: (bench: ValidatorBench) => Promise<Found>,
    options: Parameters<typeof ValidatorBench.start>[0] = {},
  ) =>
    it(name, async () => {
      const bench = await ValidatorBench.start(options);
      try {
        const [measured, faults] = await story(bench).catch((error): Found => ["", [String(error)]]);
        report(PART, name, measured, faults);
      } finally {
        await bench.close();
      }
    });

  const buy = async (bench: ValidatorBench, client: Tradewire, symbol: string, what: string) =>
    (await tradeJudged(bench.ledger, client, what, () => client.buildBuy({ ...BUY, mint: bench.mintOf(symbol) })))
      .faults;

  /** A buy that is on its way when `disturb` begins; what the answer says has to be what the ledger holds afterwards. */
  const buyThrough = async (bench: ValidatorBench, client: Tradewire, symbol: string, disturb: () => Promise<void>) => {
    const built = await patiently(() => client.buildBuy({ ...BUY, mint: bench.mintOf(symbol) }));
    const signed = await client.sign(built);
    const [outcome] = await Promise.all([codeOf(client.submit(built.submissionToken, signed)), disturb()]);
    return settleJudged(bench.ledger, built, signed, outcome);
  };

  fault("SIGSTOP for 4 s with a buy in flight", async (bench) => {
    const client = await bench.newClient(await bench.startService(STRICT));
    const faults = await buyThrough(bench, client, "EMBER", async () => {
      bench.validator.suspend();
      await sleep(SUSPENDED_MS);
      bench.validator.resume();
    });
    return [
      "the answer was the ledger's; the next buy exact",
      [...faults, ...(await buy(bench, client, "KITE", "after"))],
    ];
  });

  fault("kill -9 with a buy in flight, same ledger", async (bench) => {
    const client = await bench.newClient(await bench.startService(STRICT));
    const faults = await buyThrough(bench, client, "EMBER", () => bench.validator.restart("sameLedger"));
    return [
      "the answer was the ledger's; the next buy exact",
      [...faults, ...(await buy(bench, client, "KITE", "after"))],
    ];
  });

  fault("kill -9 with a buy in flight, another genesis under the same URL", (bench) => anotherGenesis(bench, buy));

  fault("WebSocket cut with every buy in flight", async (bench) => {
    const proxy = await startCutProxy(bench.validator.wsUrl);
    try {
      const client = await bench.newClient(await bench.startService({ ...STRICT, SOLANA_WS_URL: proxy.url }));
      const faults: string[] = [];
      for (const symbol of ["EMBER", "KITE", "ORBIT", "DEBUT"])
        faults.push(...(await buyThrough(bench, client, symbol, async () => proxy.cut())));
      return [`4 buys, ${proxy.connections()} connections`, [...faults, ...reconnected(proxy)]];
    } finally {
      await proxy.close();
    }
  });

  fault("WebSocket silent, its connection open", async (bench) => {
    const proxy = await startCutProxy(bench.validator.wsUrl);
    try {
      const client = await bench.newClient(await bench.startService({ ...STRICT, SOLANA_WS_URL: proxy.url }));
      const before = await buy(bench, client, "EMBER", "before");
      proxy.silence(true);
      const silent = await tradeAll(bench.ledger, client, tokenTrades(solTokenOf(bench, "KITE")), STALE_MS);
      proxy.silence(false);
      const after = await buy(bench, client, "ORBIT", "after");
      return [`${silent.length} trades exact on polling alone`, [...before, ...faultsOf(silent), ...after]];
    } finally {
      await proxy.close();
    }
  });

  fault("WebSocket refused from the start", async (bench) => {
    const closed = await startCutProxy(bench.validator.wsUrl);
    await closed.close();
    const client = await bench.newClient(await bench.startService({ ...STRICT, SOLANA_WS_URL: closed.url }));
    const trades = await tradeAll(bench.ledger, client, tokenTrades(solTokenOf(bench, "EMBER")), STALE_MS);
    return [`${trades.length} trades exact on polling alone`, faultsOf(trades)];
  });

  fault(
    "logs cut at 200 bytes: a missed price is still named",
    async (bench) => {
      const service = await bench.startService();
      const faults: string[] = [];
      const tokens = tokenPerVenue(bench.made.world);
      for (const token of tokens) faults.push(...(await missedPrice(bench, service, token)));
      return [`SLIPPAGE_EXCEEDED on ${tokens.length} of ${tokens.length} venues`, faults];
    },
    { arguments: ["--log-messages-bytes-limit", "200"] },
  );

  fault(
    "version 1 not activated: none is built",
    async (bench) => {
      const client = await bench.newClient(await bench.startService({ TRANSACTION_V1: "on", LOOKUP_TABLES: "none" }));
      const [faults, outcomes] = [[] as string[], [] as string[]];
      for (const { what, build } of twoMarketTrades(bench.made.world)) {
        const refused = await codeOf(patiently(() => build(client)));
        outcomes.push(refused);
        if (refused !== "accepted") continue;
        const judged = await tradeJudged(bench.ledger, client, what, () => build(client));
        faults.push(...judged.faults);
        if (judged.record.version === 1) faults.push(`${what}: version 1`);
      }
      const [landed, refused] = ["accepted", "NO_ROUTE"].map((code) => outcomes.filter((one) => one === code).length);
      // A sale of what could not be bought is refused for its balance.
      const others = outcomes.filter((code) => !["accepted", "NO_ROUTE", "INSUFFICIENT_TOKEN_BALANCE"].includes(code));
      faults.push(...others, ...(refused === 0 ? ["nothing was too large"] : []));
      return [`${landed} landed as version 0, ${refused} NO_ROUTE`, faults];
    },
    { arguments: ["--deactivate-feature", "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL"] },
  );

  fault(
    "slots of 100 ms",
    async (bench) => {
      const service = await bench.startService(STRICT);
      const client = await bench.newClient(service);
      const trades = [];
      for (const token of tokenPerVenue(bench.made.world))
        trades.push(...(await tradeAll(bench.ledger, client, tokenTrades(token))));
      const [measured, faults] = await expired(bench, client);
      return [`${trades.length} trades exact; expiry proven, ${measured}`, [...faultsOf(trades), ...faults]];
    },
    { arguments: ["--ticks-per-slot", "16"] },
  );

  fault("warp of 5,000 slots, everything since genesis undone", async (bench) => {
    const service = await bench.startService(STRICT);
    const client = await bench.newClient(service);
    const before = await buy(bench, client, "EMBER", "before");
    const slot = await bench.ledger.call<number>("getSlot", [{ commitment: "processed" }]);
    // A warp begins at the last snapshot, here genesis: even what was final is undone, and slots go on far ahead.
    await bench.validator.restart("sameLedger", ["--warp-slot", `${slot + 5_000}`]);
    const newcomer = await bench.newClient(service);
    // What was built before the service has asked the node again is of the chain that was undone, and expires.
    await eventually(async () => {
      const built = await newcomer.buildBuy({ ...BUY, mint: bench.mintOf("EMBER") });
      if (!(await isOnChain(bench, built))) throw new Error("built on a blockhash that the validator does not know");
    });
    const after = [
      ...(await buy(bench, newcomer, "EMBER", "after")),
      ...(await buy(bench, newcomer, "ORBIT", "after")),
    ];
    const jumped = (await bench.ledger.call<number>("getSlot")) >= slot + 5_000;
    return ["exact before and after", [...before, ...after, ...(jumped ? [] : ["nothing was warped"])]];
  });

  it("Alpenglow", async () => {
    const bench = await ValidatorBench.start({ arguments: ["--alpenglow"] });
    try {
      const service = await bench.startService(STRICT);
      const { world } = bench.made;
      await tradeWorld("Alpenglow", bench.ledger, world, () => bench.newClient(service), tokenPerVenue(world));
    } finally {
      await bench.close();
    }
  });
});

async function isOnChain(bench: ValidatorBench, built: BuiltResponse): Promise<boolean> {
  const { recentBlockhash } = VersionedTransaction.deserialize(built.unsignedTransaction).message;
  const params = [recentBlockhash, { commitment: "processed" }];
  return (await bench.ledger.call<{ value: boolean }>("isBlockhashValid", params)).value;
}

const solTokenOf = (bench: ValidatorBench, symbol: string) => ({ mint: bench.mintOf(symbol), symbol });

const reconnected = (proxy: CutProxy) => (proxy.connections() > 1 ? [] : ["the WebSocket was never opened again"]);

/** The node comes back with another chain: the service reports it and stops; its successor trades there, and takes nothing from the old. */
async function anotherGenesis(
  bench: ValidatorBench,
  buy: (bench: ValidatorBench, client: Tradewire, symbol: string, what: string) => Promise<readonly string[]>,
): Promise<Found> {
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-genesis-"));
  const same = { ...STRICT, DATA_DIR: dataDir, TOKEN_KEYS: `a:${randomBytes(32).toString("hex")}` };
  try {
    const foreign: string[] = [];
    const service = await bench.startService(same, { onForeignChain: (message) => foreign.push(message) });
    const client = await bench.newClient(service);
    const before = await buy(bench, client, "EMBER", "before");
    const built = await patiently(() => client.buildBuy({ ...BUY, mint: bench.mintOf("KITE") }));
    const signed = await client.sign(built);
    const pending = codeOf(client.submit(built.submissionToken, signed));
    await bench.validator.restart("newGenesis");
    await eventually(() => {
      if (foreign.length === 0) throw new Error("the other chain was not noticed");
    });
    await bench.stopService(service);
    const outcome = await pending;
    const second = await bench.startService(same);
    const newcomer = await bench.newClient(second);
    const after = await buy(bench, newcomer, "EMBER", "after");
    const old = await codeOf(newcomer.submit(built.submissionToken, signed));
    const faults = [
      ...(foreign.length === 1 ? [] : [`reported ${foreign.length} times`]),
      ...(outcome === "CONNECTION_ERROR" ? [] : [`the buy in flight was answered ${outcome}`]),
      ...(old === "INVALID_SUBMISSION_TOKEN" ? [] : [`the old build was answered ${old}`]),
    ];
    return ["reported once; its successor trades exactly", [...before, ...faults, ...after]];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A buy whose price has moved past its limit by the time it lands. */
async function missedPrice(
  bench: ValidatorBench,
  service: TestService,
  { mint, symbol }: { readonly mint: string; readonly symbol: string },
): Promise<string[]> {
  const [slow, quick] = [await bench.newClient(service), await bench.newClient(service)];
  const built = await patiently(() => slow.buildBuy({ ...BUY, mint, slippage: NARROW }));
  const signed = await slow.sign(built);
  const first = await tradeJudged(bench.ledger, quick, `the quicker buy of ${symbol}`, () =>
    quick.buildBuy({ ...BUY, mint, solAmount: QUICK_SOL }),
  );
  let signature: string | undefined;
  const code = await codeOf(
    slow.submit(built.submissionToken, signed).catch((error) => {
      signature = error.signature;
      throw error;
    }),
  );
  const record = signature === undefined ? null : await bench.ledger.record(signature);
  const isCut = record?.meta.logMessages?.some((line) => line.includes("truncated")) === true;
  return [
    ...first.faults,
    ...(code === "SLIPPAGE_EXCEEDED" ? [] : [`${symbol}: ${code}`]),
    ...(isCut && record?.meta.err !== null ? [] : [`${symbol}: the record has no error or whole logs`]),
  ];
}

/**
 * What is not sent by `expiresAt` is proven dead once the chain has passed its last height. `expiresAt` is judged by the pace
 * that the chain had before the build, as a plain call counts its blocks.
 */
async function expired(bench: ValidatorBench, client: Tradewire): Promise<Found> {
  const pace = followPace(bench.ledger);
  await sleep(PACE_WINDOW_MS);
  const built = await patiently(() => client.buildBuy({ ...BUY, mint: bench.mintOf("EMBER") }));
  const builtAtMs = Date.now();
  const height = async () => bench.ledger.call<number>("getBlockHeight", [{ commitment: "processed" }]);
  const left = Number(built.lastValidBlockHeight) - (await height());
  const signed = await client.sign(built);
  const waitMs = Math.max(0, Date.parse(built.expiresAt) - builtAtMs);
  await sleep(Math.max(0, Date.parse(built.expiresAt) - Date.now()));
  const late = (await height()) - Number(built.lastValidBlockHeight);
  await pace.stop();
  const [before, after] = [pace.between(builtAtMs - PACE_WINDOW_MS, builtAtMs), pace.between(builtAtMs, Date.now())];
  const lateAtPace = Math.round(waitMs / before - left);
  const measured = `blocks of ${Math.round(before)} ms, then ${Math.round(after)} ms: ${late} blocks late, ${lateAtPace} at the pace before`;
  await bench.ledger.passHeight(Number(built.lastValidBlockHeight) + 1);
  const code = await codeOf(client.submit(built.submissionToken, signed));
  return [
    measured,
    [
      ...(lateAtPace > LATE_BLOCKS ? [`expiresAt is late: ${measured}`] : []),
      ...(code === "TX_EXPIRED" ? [] : [`an expired transaction was answered ${code}`]),
    ],
  ];
}
