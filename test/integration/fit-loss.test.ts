import { expect, test } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { PairMarkets } from "../../src/market/port.ts";
import type { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { type BuildPorts, buildTrade } from "../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { drawSplitWorld, type SplitWorld } from "../support/split-world.ts";

/** Worlds in which routes fit nobody, and a draft ends between two of them, at a pause. */
const SEEDS = [18, 22, 47];

/** What builds read, with the pairs of markets kept as a service keeps them: findings of one build serve the next. */
function keptPorts(world: SplitWorld): BuildPorts {
  const ports = world.ports();
  const kept = new Map<string, PairMarkets>();
  const marketsOf: BuildPorts["markets"]["marketsOf"] = (pair, ...rest) => {
    const key = `${pair.a} ${pair.b}`;
    const known = kept.get(key) ?? (ports.markets.marketsOf(pair, ...rest) as PairMarkets);
    kept.set(key, known);
    return known;
  };
  return { ...ports, markets: { ...ports.markets, marketsOf, knownMarkets: marketsOf as never } };
}

/** The amounts of a build, its markets and what it says it loses; undefined if nothing fits. */
async function outcomeOf(ports: BuildPorts, request: TradeRequest) {
  try {
    const { estimates, route } = await buildTrade(ports, request);
    const { inAmount, outAmount, fitLoss = 0 } = estimates;
    return { inAmount, outAmount, fitLoss, markets: route.map(({ market }) => market.toString()) };
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

function requestOf(world: SplitWorld, wallet: Address, more: Partial<TradeRequest> = {}): TradeRequest {
  return {
    principal: { accountId: "test", keyId: "test", wallet },
    inMint: world.mints[0]!,
    outMint: world.mints[1]!,
    mode: "exactIn",
    amount: Number.NaN,
    amountRaw: "70000000000",
    maxTransactionVersion: 0,
    slippage: 0,
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
    ...more,
  };
}

test("what a build loses for its size is its own wallet's and of its own bounds, after builds of others too", async () => {
  const seen = { lost: 0, bounded: 0 };
  for (const seed of SEEDS) {
    const world = drawSplitWorld(createRandom(seed));
    // One wallet has accounts of every mint, one opens those that it needs.
    const bare = world.svm.newWallet(10n ** 15n);
    world.svm.setTokens(bare, world.mints[0]!, 10n ** 15n);
    for (const mint of world.mints.slice(2)) world.svm.setTokens(world.wallet, mint, 1n);
    for (const mode of ["exactIn", "exactOut"] as const) {
      const asks = [
        requestOf(world, world.wallet, { mode }),
        requestOf(world, bare, { mode }),
        requestOf(world, bare, { mode, maxPaths: 2 }),
      ];
      const alone = await Promise.all(asks.map((ask) => outcomeOf(keptPorts(world), ask)));
      if (alone.some((outcome) => outcome === undefined)) continue;
      if (alone.some((outcome) => outcome!.fitLoss > 0)) seen.lost++;
      if (alone[2]!.fitLoss !== alone[1]!.fitLoss) seen.bounded++;
      for (const order of [
        [0, 1, 2, 0],
        [2, 1, 0],
      ]) {
        const ports = keptPorts(world);
        for (const at of order)
          expect(await outcomeOf(ports, asks[at]!), `world ${seed}, ${mode}, ${order}: ${at}`).toEqual(alone[at]);
      }
    }
  }
  expect(seen.lost).toBeGreaterThan(1);
  expect(seen.bounded).toBeGreaterThan(1);
});
