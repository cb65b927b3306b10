import { createConnectTransport } from "@connectrpc/connect-node";
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpcNode } from "../../src/client/node/rpc-node.ts";
import type { ConnectOptions } from "../../src/client/options.ts";
import type { TradeReview } from "../../src/client/proof/review.ts";
import { TradeError } from "../../src/client/trade-error.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
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

const failureOf = (promise: Promise<unknown>): Promise<TradeError> =>
  promise.then(
    () => Promise.reject(new Error("accepted")),
    (error: unknown) => {
      if (error instanceof TradeError) return error;
      throw error;
    },
  );

describe("with a node of the caller's own", () => {
  test("every venue's trades are simulated before they are signed, and what lands is what was simulated", async () => {
    const client = await service.newClient(1000, { node: node() });
    const reviews: TradeReview[] = [];
    const options = { confirm: (review: TradeReview) => reviews.push(review) > 0 };
    const tokens = new Map(service.sandbox.world.tokens.map((token) => [`${token.venue} ${token.symbol}`, token]));
    expect(new Set([...tokens.values()].map(({ venue }) => venue)).size).toBeGreaterThanOrEqual(4);
    for (const [name, token] of tokens) {
      const mint = token.mint.toString();
      for (const trade of [
        () => client.buy({ mint, solAmount: 0.5, ...terms }, options),
        () => client.sell({ mint, sellPercent: 100, ...terms }, options),
      ]) {
        const { unproven, findings, tradeResult } = await trade();
        expect(unproven, name).toEqual(["price"]);
        expect([findings?.inputAmountRaw, findings?.outputAmountRaw], name).toEqual([
          tradeResult!.inputAmountRaw,
          tradeResult!.outputAmountRaw,
        ]);
        const said = reviews.at(-1)!.built.estimates!.priceImpact;
        expect(Math.abs(findings!.priceImpact! - said), `${name}: ${findings!.priceImpact}, ${said}`).toBeLessThan(
          0.001 + said / 10,
        );
      }
    }
  });
});
