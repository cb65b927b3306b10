import { expect, test } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { type BuildPorts, buildTrade } from "../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../src/trade/trade.ts";
import { drawSplitWorld } from "../support/split-world.ts";

const WORLDS = 4;

async function buildOrNone(ports: BuildPorts, request: TradeRequest): Promise<BuiltTrade | undefined> {
  try {
    return await buildTrade(ports, request);
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

test("what no single path gives is bought over several, exactly", async () => {
  const random = createRandom(61);
  let bought = 0;
  for (let index = 0; index < WORLDS; index++) {
    const world = drawSplitWorld(random);
    const [inMint, outMint] = [world.mints[0]!, world.mints[1]!];
    const ports = world.ports();
    // From what single paths give to what all markets together do not.
    for (let amount = 10n ** 12n; amount < 10n ** 15n; amount += amount / 4n) {
      const request: TradeRequest = {
        principal: { accountId: "test", keyId: "test", wallet: world.wallet },
        inMint,
        outMint,
        mode: "exactOut",
        amount: Number.NaN,
        amountRaw: amount.toString(),
        maxTransactionVersion: 1,
        slippage: 0,
        priority: "fast",
        maxPriceImpact: undefined,
        maxPriorityCost: undefined,
      };
      if ((await buildOrNone(ports, { ...request, maxPaths: 1 })) !== undefined) continue;
      const built = await buildOrNone(ports, request);
      if (built === undefined) break;
      expect(new Set(built.route.map(({ path }) => path)).size).toBeGreaterThan(1);
      const before = [world.held(inMint), world.held(outMint)];
      const done = world.execute(built.unsignedTransaction);
      expect(done.ok, done.logs.slice(-4).join("\n")).toBe(true);
      expect([before[0]! - world.held(inMint), world.held(outMint) - before[1]!]).toEqual([
        built.estimates.inAmount,
        amount,
      ]);
      bought++;
      break;
    }
  }
  expect(bought).toBeGreaterThan(2);
});
