import { expect, test, vi } from "vitest";
import { messageTemplates } from "../../src/solana/message/message-template.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { buildEach, randomBuy } from "../bench/spread/spread-requests.ts";
import { openSpreadWorld } from "../bench/spread/spread-world.ts";

test("a build reads ahead the template that its message is made of, for purchases and sales on ten venues", async () => {
  const world = await openSpreadWorld({ wallets: 20, mints: 20, mintsPerWallet: 6, marketsPerMint: 1 }, 5);
  const { ports, pairs, random } = world;
  await buildEach(world);
  const first = vi.spyOn(messageTemplates, "first");
  let [purchases, sales] = [0, 0];
  for (const pair of pairs) {
    const buy = randomBuy(pair, random);
    const sale: TradeRequest = { ...buy, inMint: pair.mint, outMint: SOL_MINT, amount: 0.001 };
    for (const request of [buy, sale]) {
      try {
        await buildTrade(ports, request);
      } catch {
        // Wallets without the token cannot sell it, and some markets make no trade of that size.
        continue;
      }
      first.mockClear();
      await buildTrade(ports, request);
      const [ahead, tried] = first.mock.results.map(({ value }) => value);
      expect(ahead).toBeDefined();
      expect(tried).toBe(ahead);
      if (request === buy) purchases++;
      else sales++;
    }
  }
  expect(purchases).toBe(pairs.length);
  expect(sales).toBeGreaterThan(10);
  first.mockRestore();
  world.close();
});
