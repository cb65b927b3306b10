import { afterEach, expect, test, vi } from "vitest";
import {
  bestRouteOver,
  hubNetwork,
  type NetworkPair,
  type Product,
  stepsOver,
} from "../../../../test/support/hub-network.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import { allAtOnce, LongSearches, type Steps } from "../long-searches.ts";
import type { FoundRoutes, Snapshot } from "../snapshot.ts";
import { StepWork } from "./steps/step-work.ts";

const NETWORKS = 6;
const PAIRS: readonly NetworkPair[] = ["ab", "ah", "hb", "af", "fb", "hf"];

interface Ask {
  readonly mode: SwapMode;
  readonly amount: bigint;
  readonly maxPaths: number;
}

afterEach(() => vi.restoreAllMocks());

/** The same network every time that it is made, of markets that take only so much. */
function drawNetwork(random: Random): () => Snapshot {
  const pairs = new Map<NetworkPair, readonly Product[]>();
  for (const pair of PAIRS)
    pairs.set(
      pair,
      Array.from({ length: Number(random.between(1n, 3n)) }, () => {
        const reserve = random.between(1_000n, 10_000n) * 1_000_000n;
        const other = (reserve * random.between(50n, 200n)) / 100n;
        return { reserves: [reserve, other], most: reserve / random.between(1n, 20n) };
      }),
    );
  return () => hubNetwork((pair) => pairs.get(pair)!);
}

/** Five asks of about one size, near the limits of the markets. */
function drawAsks(random: Random, network: () => Snapshot, mode: SwapMode): readonly Ask[] {
  let least = 1n;
  for (let most = 2n ** 34n; most > least * 2n; ) {
    const middle = (least + most) / 2n;
    if (isMade(network(), mode, middle)) least = middle;
    else most = middle;
  }
  const amount = (least * random.between(6n, 12n)) / 10n;
  return Array.from({ length: 5 }, () => ({
    mode,
    amount: (amount * random.between(870n, 1_000n)) / 1_000n,
    maxPaths: Number(random.between(2n, 4n)),
  }));
}

function isMade(network: Snapshot, mode: SwapMode, amount: bigint): boolean {
  try {
    bestRouteOver(network, mode, amount);
    return true;
  } catch {
    return false;
  }
}

const refusalOf = (error: unknown): string => {
  if (!(error instanceof TradewireError)) throw error;
  return error.code;
};

function outcomeOf({ routes }: FoundRoutes): string {
  const { inAmount, outAmount } = routes[0]!;
  return `${inAmount} for ${outAmount}`;
}

function searched(steps: Steps<FoundRoutes>): string {
  try {
    return outcomeOf(allAtOnce(steps));
  } catch (error) {
    return refusalOf(error);
  }
}

test.each(["exactIn", "exactOut"] as const)(
  "what a trade finds depends neither on the trades before nor on those that search at the same time, nor on the pauses, %s",
  async (mode) => {
    const random = createRandom(3);
    const { pause } = StepWork.prototype;
    for (let drawn = 0; drawn < NETWORKS; drawn++) {
      const network = drawNetwork(random);
      const asks = drawAsks(random, network, mode);
      const alone = asks.map((ask) => searched(stepsOver(network(), ask)));
      const used = network();
      const inTurn = () => asks.map((ask) => searched(stepsOver(used, ask)));
      expect(inTurn()).toEqual(alone);
      expect(inTurn()).toEqual(alone);
      // From now on wherever they can.
      vi.spyOn(StepWork.prototype, "pause").mockImplementation(function* () {
        yield;
      });
      const shared = network();
      const searches = new LongSearches({ pause: async () => undefined });
      const together = asks.map(async (ask) => searches.run(() => stepsOver(shared, ask)));
      const found = await Promise.allSettled(together);
      const outcomes = found.map((one) => (one.status === "fulfilled" ? outcomeOf(one.value) : refusalOf(one.reason)));
      expect(outcomes).toEqual(alone);
      vi.spyOn(StepWork.prototype, "pause").mockImplementation(pause);
    }
  },
);
