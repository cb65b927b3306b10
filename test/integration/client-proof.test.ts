import type { Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { BuyResponse } from "../../gen/tradewire/v1/trade_pb.ts";
import { rpcNode } from "../../src/client/node/rpc-node.ts";
import type { ConnectOptions } from "../../src/client/order/options.ts";
import type { PriceAsk } from "../../src/client/proof/reference.ts";
import type { TradeReview } from "../../src/client/proof/review.ts";
import { TradeError } from "../../src/client/trade-error.ts";
import { Tradewire } from "../../src/client/tradewire.ts";
import { findSwapTable } from "../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { toWholeUnits } from "../../src/primitives/amount.ts";
import { writeU64 } from "../../src/primitives/bytes.ts";
import { minimumOut, parseSlippage } from "../../src/primitives/slippage.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let ember: string;
const terms = { slippage: 0.05, priority: "fast" as const };

beforeAll(async () => {
  service = await startTestService();
  ember = service.mintOn("raydium_cpmm", "EMBER");
});
afterAll(() => service?.close());

const node = () => rpcNode(service.sandbox.rpcUrl);
const buyOrder = () => ({ mint: ember, solAmount: 0.1, ...terms });

const failureOf = (promise: Promise<unknown>): Promise<TradeError> =>
  promise.then(
    () => Promise.reject(new Error("accepted")),
    (error: unknown) => {
      if (error instanceof TradeError) return error;
      throw error;
    },
  );

/** A service in the middle that changes what it passes on. */
function through(change: (message: BuyResponse) => void) {
  const tampering: Interceptor = (next) => async (request) => {
    const response = await next(request);
    if (!response.stream && "unsignedTransaction" in response.message) change(response.message as never);
    return response;
  };
  return createConnectTransport({ baseUrl: service.url, httpVersion: "1.1", interceptors: [tampering] });
}

/** Announces that the trade does not move the price. */
function showNoImpact({ estimates }: BuyResponse): void {
  estimates!.priceImpact = 0;
}

/** Announces half of the output, and lets the transaction accept half: a trader around it can take the rest. */
function halveTheMinimum({ estimates, route, unsignedTransaction }: BuyResponse): void {
  const half = BigInt(estimates!.outputAmountRaw) / 2n;
  estimates!.outputAmountRaw = half.toString();
  estimates!.outputAmount = toWholeUnits(half, 6);
  route.at(-1)!.outputAmountRaw = half.toString();
  for (const instruction of readTransaction(unsignedTransaction).instructions) {
    const table = findSwapTable(instruction);
    if (table !== undefined) writeU64(instruction.data, table.outAt, minimumOut(half, parseSlippage(0.05)!));
  }
}

/** Announces twice the input, and lets the swap of an exact output, on a venue without such swaps, spend it whole. */
function doubleTheInput({ estimates, route, unsignedTransaction }: BuyResponse): void {
  const twice = 2n * BigInt(estimates!.inputAmountRaw);
  estimates!.inputAmountRaw = twice.toString();
  estimates!.inputAmount = toWholeUnits(twice, 6);
  route[0]!.inputAmountRaw = twice.toString();
  for (const instruction of readTransaction(unsignedTransaction).instructions) {
    const table = findSwapTable(instruction);
    if (table !== undefined) writeU64(instruction.data, table.inAt, twice);
  }
}

describe("with a node of the caller's own", () => {
  test("what lands is what the node simulated, on every venue, and impact is measured there", async () => {
    const reviews: TradeReview[] = [];
    const confirm = (review: TradeReview) => reviews.push(review) > 0;
    const client = await service.newClient(1000, { node: node() });
    const tokens = new Map(service.sandbox.world.tokens.map((token) => [token.venue, token]));
    // DIME is priced in USDC: its route has two markets and, on this chain, a lookup table.
    const dime = service.sandbox.world.tokens.find(({ symbol }) => symbol === "DIME")!;
    for (const token of [...tokens.values(), dime]) {
      const mint = token.mint.toString();
      for (const trade of [
        () => client.buy({ mint, solAmount: 0.5, ...terms }, { confirm }),
        () => client.sell({ mint, sellPercent: 100, ...terms }, { confirm }),
      ]) {
        const { unproven, findings, tradeResult } = await trade();
        expect(unproven, token.symbol).toEqual(["price"]);
        expect([findings?.inputAmountRaw, findings?.outputAmountRaw], token.symbol).toEqual([
          tradeResult!.inputAmountRaw,
          tradeResult!.outputAmountRaw,
        ]);
        const said = reviews.at(-1)!.built.estimates!.priceImpact;
        expect(Math.abs(findings!.priceImpact! - said), token.symbol).toBeLessThan(0.001 + said / 10);
      }
    }
  });

  test("a lie about the impact or the estimate is found on the node", async () => {
    const client = await service.newClient(1000, { node: node() });
    const order = { mint: ember, solAmount: 100, ...terms };
    const limits = { maxPriceImpact: 0.001 };
    expect((await failureOf(client.verify(await client.buildBuy(order), limits))).code).toBe("PRICE_IMPACT_TOO_HIGH");
    const { wallet, apiKey } = client;
    const lied = (change: Parameters<typeof through>[0], own: Partial<ConnectOptions>) =>
      Tradewire.connect({ baseUrl: service.url, wallet, apiKey, transport: through(change), ...own });
    const flat = lied(showNoImpact, { node: node() });
    const measured = await failureOf(flat.verify(await flat.buildBuy(order), limits));
    expect([measured.code, measured.message]).toEqual([
      "PRICE_IMPACT_TOO_HIGH",
      expect.stringContaining("on your node"),
    ]);
    const blind = lied(halveTheMinimum, {});
    expect((await blind.verify(await blind.buildBuy(buyOrder()))).unproven).toContain("price");
    const seeing = lied(halveTheMinimum, { node: node() });
    const halved = await failureOf(seeing.verify(await seeing.buildBuy(buyOrder())));
    expect([halved.code, halved.message]).toEqual(["UNEXPECTED_TRANSACTION", expect.stringContaining("too low")]);
  });

  test("an input that buys far more than the exact output is found on the node", async () => {
    const client = await service.newClient(100, { node: node() });
    const mint = service.mintOn("pump_fun");
    await client.buy({ mint, solAmount: 1, ...terms });
    const { wallet, apiKey } = client;
    const transport = through(doubleTheInput);
    const lied = Tradewire.connect({ baseUrl: service.url, wallet, apiKey, transport, node: node() });
    const order = { inputMint: mint, outputMint: "SOL", amount: 0.1, swapMode: "exactOut" as const, ...terms };
    const limits = { maxInputAmount: 1e9 };
    expect((await client.verify(await client.buildSwap(order, limits))).findings).toBeDefined();
    const doubled = await failureOf(lied.verify(await lied.buildSwap(order, limits)));
    expect([doubled.code, doubled.message]).toEqual([
      "UNEXPECTED_TRANSACTION",
      expect.stringMatching(/but 100000000 were ordered: the service's estimate is too high/),
    ]);
  });

  test("a node whose state is behind the build's, where the transaction fails, is asked again", async () => {
    const client = await service.newClient(10, { node: node() });
    const ask = globalThis.fetch;
    let behind = 0;
    let simulations = 0;
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
      if (url !== service.sandbox.rpcUrl || !String(init.body).includes("simulateTransaction")) return ask(url, init);
      simulations += 1;
      if (behind === 0) return ask(url, init);
      behind -= 1;
      const value = { err: { InstructionError: [3, { Custom: 1 }] }, logs: ["Program failed"], accounts: null };
      return Promise.resolve(Response.json({ result: { context: { slot: 1 }, value } }));
    });
    try {
      behind = 2;
      expect((await client.buy(buyOrder())).findings).toBeDefined();
      behind = Number.POSITIVE_INFINITY;
      simulations = 0;
      const failure = await failureOf(client.buy(buyOrder()));
      expect([failure.code, failure.retryable, failure.signature]).toEqual(["SIMULATION_FAILED", true, undefined]);
      expect(simulations).toBe(3);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("a transaction that the node cannot run, or a node that is none, signs nothing", async () => {
    const client = await service.newClient(1, { node: node() });
    const { wallet, apiKey } = client;
    const other = Tradewire.connect({ baseUrl: service.url, wallet, apiKey, node: rpcNode("http://127.0.0.1:9") });
    expect((await failureOf(other.buy(buyOrder()))).code).toBe("NODE_UNAVAILABLE");
    const web = Tradewire.connect({ baseUrl: service.url, wallet, apiKey, node: rpcNode(service.url) });
    const failure = await failureOf(web.buy(buyOrder()));
    expect([failure.code, failure.signature]).toEqual(["NODE_UNAVAILABLE", undefined]);
    expect(() => Tradewire.connect({ baseUrl: service.url, wallet, node: service.sandbox.rpcUrl as never })).toThrow(
      /rpcNode/,
    );
  });
});

describe("a second opinion on price", () => {
  test("is asked for the exact amount, and a worse price than its tolerance is refused", async () => {
    const asks: PriceAsk[] = [];
    let factor = 1n;
    const client = await service.newClient(100, {
      reference: async (ask) => {
        asks.push(ask);
        const { estimates } = await client.quote({
          inputMint: "SOL",
          outputMint: ember,
          amount: 0.1,
          swapMode: "exactIn",
          slippage: 0,
        });
        return (BigInt(estimates!.outputAmountRaw) * factor) / 1000n;
      },
    });
    factor = 1009n;
    expect((await client.buy(buyOrder())).unproven).toEqual([]);
    expect(asks).toMatchObject([{ outputMint: ember, swapMode: "exactIn", amountRaw: "100000000", decimals: 9 }]);
    factor = 1020n;
    expect((await failureOf(client.buy(buyOrder()))).code).toBe("PRICE_CONTRADICTED");
    factor = 0n;
    expect((await failureOf(client.buy(buyOrder()))).code).toBe("REFERENCE_UNAVAILABLE");
  });

  test("may be another Tradewire, but not the service itself under any of its names", async () => {
    const client = await service.newClient(100);
    const { wallet, apiKey } = client;
    const behind = await startCutProxy(service.url);
    const wary = Tradewire.connect({
      baseUrl: behind.url,
      wallet,
      apiKey,
      reference: service.url.replace("127.0.0.1", "localhost"),
      requireProof: true,
    });
    expect((await wary.buy(buyOrder())).unproven).toEqual([]);
    wary.close();
    await behind.close();
    for (const name of ["127.0.0.1", "localhost", "LOCALHOST.", "127.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"]) {
      const same = { source: service.url.replace("127.0.0.1", name), tolerance: 0.1 };
      expect(() => Tradewire.connect({ baseUrl: service.url, wallet, reference: same }), name).toThrow(
        /no second opinion/,
      );
    }
    const typo = { source: behind.url, tolerence: 0.1 };
    expect(() => Tradewire.connect({ baseUrl: service.url, wallet, reference: typo })).toThrow(/tolerence/);
  });
});

describe("without a witness", () => {
  test("a typed amount is the most that can be lost; anything that may cost more needs a bound", async () => {
    const client = await service.newClient(100);
    const bought = await client.buy(buyOrder());
    expect(bought.unproven).toEqual(["price", "priceImpact"]);
    expect((await client.buy(buyOrder(), { minOutputAmount: 1, decimals: { output: 6 } })).unproven).toEqual([]);
    const share = { mint: ember, sellPercent: 50, ...terms };
    expect((await failureOf(client.sell(share))).code).toBe("BOUND_REQUIRED");
    const bounded = { maxInputAmount: 1e6, decimals: { input: 6 } };
    expect((await client.sell(share, bounded)).unproven).toEqual(["price", "priceImpact", "balance"]);
    const exact = { inputMint: "SOL", outputMint: ember, amount: 5, swapMode: "exactOut" as const, ...terms };
    expect((await failureOf(client.swap(exact))).code).toBe("BOUND_REQUIRED");
    const decimals = { output: 6 };
    expect((await client.swap(exact, { maxInputAmount: 1, decimals })).unproven).toEqual([]);
  });

  test("proof, if required, names what would give it, and nothing is signed", async () => {
    const client = await service.newClient(100, { requireProof: true });
    const failure = await failureOf(client.buy(buyOrder()));
    expect([failure.code, failure.message]).toEqual(["UNPROVEN", expect.stringContaining("minOutputAmount")]);
    const measured = await failureOf(
      client.buy(buyOrder(), { minOutputAmount: 1, decimals: { output: 6 }, maxPriceImpact: 0.5 }),
    );
    expect(measured.message).toMatch(/priceImpact \(give a node\)/);
    expect((await client.buy(buyOrder(), { requireProof: false })).status).toBe("confirmed");
  });

  test("declining signs nothing, and a trade can be verified without signing", async () => {
    const client = await service.newClient(100);
    let seen: TradeReview | undefined;
    const confirm = (review: TradeReview) => {
      seen = review;
      return false;
    };
    const failure = await failureOf(client.buy(buyOrder(), { confirm }));
    expect([failure.code, failure.signature, seen?.mostInputRaw]).toEqual(["DECLINED", undefined, "100000000"]);
    const review = await client.verify(await client.buildBuy(buyOrder()));
    expect(BigInt(review.leastOutputRaw)).toBeGreaterThan(0n);
  });
});
