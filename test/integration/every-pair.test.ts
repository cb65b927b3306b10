import { afterAll, beforeAll, expect, test } from "vitest";
import { TradeError } from "../../src/client/trade-error.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { SOL_MINT, USDC_MINT } from "../../src/solana/programs.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { isWhole } from "../support/whole.ts";
import { lookupTablesOf } from "../support/world.ts";

/**
 * Every two tokens that `npm start` lists trade for one another, both ways. The fast tests take each kind of market (its venues and
 * quotes, the program and fee of its token) at either end of a route; `npm run slow:exhaustive` takes every pair.
 */
let service: TestService;
let wallet: Tradewire;
let symbols: ReadonlyMap<string, string>;

/** Concurrent trades of one wallet. */
const AT_ONCE = 12;
const SOL_OF_EACH = 0.2;

beforeAll(async () => {
  const environment = {
    BUILD_PER_SECOND: "1000",
    SUBMIT_PER_SECOND: "1000",
    READ_PER_SECOND: "1000",
    // Every pair is searched once, and one wallet asks for them all.
    COLD_SEARCHES_PER_SECOND: "1000",
    COLD_SEARCHES_PER_KEY: "1000",
    COLD_SEARCHES_PER_ADDRESS: "1000",
    COLD_SEARCH_WAIT_MS: "20000",
  };
  service = await startTestService(environment);
  const { world } = service.sandbox;
  symbols = new Map(world.tokens.map(({ mint, symbol }) => [mint.toString(), symbol]));
  wallet = await service.newClient(10_000, { lookupTables: lookupTablesOf(world) });
});
afterAll(() => service?.close());

async function landAll(trades: readonly { readonly from: string; readonly to: string; readonly amount: number }[]) {
  const failures: string[] = [];
  const got = new Map<string, number>();
  const left = [...trades];
  const work = async () => {
    for (let trade = left.pop(); trade !== undefined; trade = left.pop()) {
      const { from, to, amount } = trade;
      try {
        const { tradeResult } = await wallet.swap({
          inputMint: from,
          outputMint: to,
          amount,
          swapMode: "exactIn",
          slippage: 0.3,
          priority: "fast",
        });
        got.set(to, tradeResult!.outputAmount);
      } catch (error) {
        // On a busy machine the state of so many markets may be old for a moment; the answer says to try again.
        if (error instanceof TradeError && error.code === "STATE_STALE") left.unshift(trade);
        else failures.push(`${symbols.get(from) ?? "SOL"} → ${symbols.get(to) ?? "SOL"}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { failures, got };
}

test("every two tokens trade for one another, both ways, over up to three markets", async () => {
  const mints = [...symbols.keys()];
  const sol = SOL_MINT.toString();
  const pairs = mints.flatMap((from) => mints.filter((to) => to !== from).map((to) => ({ from, to })));
  const near = pairs.filter(({ from, to }) => isNear(from, to));
  expect(near.length).toBeGreaterThan(350);
  const far = pairs.filter(({ from, to }) => !isNear(from, to));
  const chosen = isWhole ? near : eachKind(near);
  const chosenFar = isWhole ? far : eachKind(far);
  const held = isWhole ? mints : [...new Set([...chosen, ...chosenFar].map(({ from }) => from))];
  const bought = await landAll(held.map((to) => ({ from: sol, to, amount: SOL_OF_EACH })));
  expect(bought.failures).toEqual([]);
  const share = (mint: string) => Number((bought.got.get(mint)! / (4 * mints.length)).toFixed(2)) || 0.01;
  const swapped = await landAll(chosen.map((pair) => ({ ...pair, amount: share(pair.from) })));
  expect(swapped.failures).toEqual([]);
  const tried = chosenFar.map((pair) => ({ ...pair, amount: share(pair.from) }));
  const crossed = await landAll(tried);
  // Three markets do not always fit into one transaction.
  expect(crossed.failures.filter((failure) => !failure.includes("No supported venue has a market"))).toEqual([]);
  expect(crossed.failures.length).toBeLessThan(tried.length / 4);
  const sold = await landAll(held.map((from) => ({ from, to: sol, amount: share(from) })));
  expect(sold.failures).toEqual([]);
});

interface Pair {
  readonly from: string;
  readonly to: string;
}

/** Some of the pairs: as few as have each kind of market at their beginning and at their end. */
function eachKind(pairs: readonly Pair[]): Pair[] {
  const seen = new Set<string>();
  return pairs.filter(({ from, to }) => {
    const ends = [`from ${marketsOf(from)}`, `to ${marketsOf(to)}`];
    const isNew = ends.some((end) => !seen.has(end));
    for (const end of ends) seen.add(end);
    return isNew;
  });
}

/** Where a token trades, and against what; and what decides its transfers. */
function marketsOf(mint: string): string {
  const { tokens } = service.sandbox.world;
  const own = tokens.filter((token) => token.mint.toString() === mint);
  const kinds = own.map(({ venue, quoteMint, program, transferFeeBps }) => {
    const quote = symbols.get(quoteMint.toString()) ?? quoteMint;
    return `${venue} ${quote} ${program} ${transferFeeBps > 0}`;
  });
  return [...new Set(kinds)].sort().join();
}

/** True if one market trades both, or each trades against the same hub: two markets are enough. */
function isNear(a: string, b: string): boolean {
  const { tokens } = service.sandbox.world;
  const quotesOf = (mint: string) =>
    tokens.flatMap(({ mint: of, quoteMint }) => {
      if (of.toString() === mint) return [quoteMint.toString()];
      return quoteMint.toString() === mint ? [of.toString()] : [];
    });
  const [quotesOfA, quotesOfB] = [quotesOf(a), quotesOf(b)];
  const hubs = [SOL_MINT.toString(), USDC_MINT.toString()];
  return quotesOfA.includes(b) || hubs.some((hub) => quotesOfA.includes(hub) && quotesOfB.includes(hub));
}
