import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { createMarkets } from "../../src/market/markets.ts";
import { Address } from "../../src/primitives/address.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import type { WorldToken } from "../../src/sandbox/world/tokens/token.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { measureRoutes } from "../../src/trade/build/route-fit.ts";
import { LongSearches } from "../../src/trade/quote/long-searches.ts";
import { quoteTrade } from "../../src/trade/quote/quote-trade.ts";
import type { QuotedTrade } from "../../src/trade/trade.ts";
import { venues } from "../../src/venues/registry.ts";
import { connectChain } from "../support/live-chain.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 50 });
});
afterAll(() => sandbox?.close());

const addressAt = (byte: number): Address => Address.from(new Uint8Array(32).fill(byte));
const tokenNamed = (symbol: string): WorldToken => sandbox.world.tokens.find((token) => token.symbol === symbol)!;

/** Nothing here is about old state: a busy machine takes its time. */
const PATIENCE_MS = 600_000;

/** Inputs of a quote beside markets and clock; none matters here. */
const QUOTING = {
  fees: { priceMicroLamportsPerCu: () => 0n, expectedSlots: () => 1 },
  senders: { choose: () => ({ senders: [], tips: [] }) },
  lookupTables: () => [],
  baseFee: () => 5_000n,
  worstCases: { turn: async () => () => undefined, pause: async () => undefined },
  searches: new LongSearches({ pause: async () => undefined }),
  settings: { computeUnitMarginPercent: 10, loadedAccountsBytes: 8 << 20, expiryMarginMs: 0, transactionV1: false },
};

/** A quote for 0.1 SOL of the mint, from the node at `rpcUrl`. @param edit changes a market once it trades: the quote after that, if it is refused */
async function askBuy(mint: Address, rpcUrl = sandbox.rpcUrl, edit?: () => Promise<void>): Promise<QuotedTrade> {
  const chain = await connectChain({ rpcUrls: [rpcUrl], wsUrls: [sandbox.wsUrl], maxAgeMs: PATIENCE_MS });
  const markets = createMarkets({ ...chain, venues, now: Date.now, maxAgeMs: PATIENCE_MS, warn: () => undefined });
  const ports = { ...QUOTING, markets, head: chain.head };
  const ask = async () =>
    quoteTrade({ ...ports, measureRoutes: (...asked) => measureRoutes(ports, ...asked) }, {
      inMint: SOL_MINT,
      outMint: mint,
      mode: "exactIn",
      amount: 0.1,
      slippage: 0.01,
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
    } as Parameters<typeof quoteTrade>[1]);
  try {
    if (edit === undefined) return await ask();
    await ask();
    await edit();
    for (;;) {
      await ask();
      await sandbox.advanceSlots(1);
    }
  } finally {
    markets.close();
    chain.close();
  }
}

async function refusal(asked: Promise<unknown>): Promise<TradewireError> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TradewireError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

/** The node without one of its methods. */
async function withoutMethod<T>(refused: string, use: (url: string) => Promise<T>): Promise<T> {
  const proxy = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body) as { id: unknown; method: string };
    response.setHeader("content-type", "application/json");
    if (method === refused) {
      const error = { code: -32010, message: `${refused} is not served here` };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      return;
    }
    const answer = await fetch(sandbox.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

/** A mint without a market. */
async function lonelyMint(): Promise<Address> {
  const data = new Uint8Array(82);
  data[44] = 6;
  data[45] = 1;
  const address = addressAt(77);
  await sandbox.setAccounts([{ address, owner: TOKEN_PROGRAM, lamports: 10n ** 9n, data }]);
  // Reads show sealed slots.
  await sandbox.advanceSlots(1);
  return address;
}

/** Changes an account on the chain, for every read from now on. */
async function change(address: Address, edit: (data: Uint8Array) => void): Promise<void> {
  const response = await fetch(sandbox.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getAccountInfo",
      params: [address.toString(), { encoding: "base64", commitment: "processed" }],
    }),
  });
  const { result } = (await response.json()) as {
    result: { value: { owner: string; lamports: number; data: [string, string] } };
  };
  const { owner, lamports, data } = result.value;
  const bytes = Uint8Array.from(Buffer.from(data[0], "base64"));
  edit(bytes);
  await sandbox.setAccounts([{ address, owner: Address.of(owner), lamports: BigInt(lamports), data: bytes }]);
  await sandbox.advanceSlots(1);
}

test("a mint that does not exist is TOKEN_NOT_FOUND", async () => {
  const { code, facts } = await refusal(askBuy(addressAt(201)));
  expect([code, facts.field]).toEqual(["TOKEN_NOT_FOUND", "outMint"]);
});

test("an account that is not a mint is TOKEN_NOT_FOUND", async () => {
  expect((await refusal(askBuy(tokenNamed("QRTZ").market))).code).toBe("TOKEN_NOT_FOUND");
});

test("a mint without a market is NO_ROUTE, and every venue was searched", async () => {
  const { code, facts } = await refusal(askBuy(await lonelyMint()));
  expect(code).toBe("NO_ROUTE");
  for (const { id } of venues) expect(facts.details?.searched).toContain(id);
});

test("a node that refuses getProgramAccounts is distinguished from a missing market", async () => {
  const mint = await lonelyMint();
  const { code, facts } = await refusal(withoutMethod("getProgramAccounts", (url) => askBuy(mint, url)));
  expect(code).toBe("NO_ROUTE");
  expect(facts.details?.tried).toContain("raydium_amm_v4: refused: the Solana node does not serve searches");
  expect(facts.details?.searched).not.toContain("raydium_amm_v4");
  expect(facts.details?.searched).toContain("pump_fun");
});

test("markets with derived addresses trade even if the node refuses searches", async () => {
  const { mint } = tokenNamed("QRTZ");
  const quoted = await withoutMethod("getProgramAccounts", (url) => askBuy(mint, url));
  expect(quoted.platform).toBe("raydium_cpmm");
  expect(quoted.faults.map(({ reason }) => reason).join()).toContain("refused");
});

test("a paused pool and a closed one are NO_ROUTE with the reason", async () => {
  const { mint, market } = tokenNamed("MINTS");
  const paused = await refusal(
    askBuy(mint, sandbox.rpcUrl, async () => {
      await change(market, (data) => {
        data[329] = data[329]! | 4;
      });
    }),
  );
  expect([paused.code, paused.facts.details?.tried]).toEqual([
    "NO_ROUTE",
    expect.stringMatching(new RegExp(`raydium_cpmm ${market}: .*(paused|disabled|does not trade)`)),
  ]);
  await change(market, (data) => {
    data[329] = data[329]! & ~4;
  });
  const gone = await refusal(
    askBuy(mint, sandbox.rpcUrl, async () => {
      await change(market, (data) => data.fill(0, 0, 8));
    }),
  );
  expect([gone.code, gone.facts.details?.tried]).toEqual(["NO_ROUTE", expect.stringContaining("no longer a market")]);
});

test("a completed curve is NO_ROUTE, and the reason names its migration", async () => {
  const { mint, market } = tokenNamed("KITE");
  const waiting = await refusal(
    askBuy(mint, sandbox.rpcUrl, async () => {
      await change(market, (data) => {
        data[48] = 1;
      });
    }),
  );
  expect(waiting.code).toBe("NO_ROUTE");
  expect(waiting.facts.details?.tried).toContain("waits for its migration to pump_swap");
});
