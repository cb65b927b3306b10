import { expect, test } from "vitest";
import type { HotMarket } from "../../src/market/port.ts";
import type { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import type { Intent } from "../../src/trade/intent.ts";
import type { Route, RouteStep } from "../../src/trade/quote/route.ts";
import { realizePlan } from "../../src/trade/quote/split/realize.ts";
import { worstCaseOf } from "../../src/trade/quote/worst-case/worst-case.ts";
import { venues } from "../../src/venues/registry.ts";
import type { Quote, Venue } from "../../src/venues/venue.ts";
import { worldOnSvm } from "../support/world.ts";
import { readMarket } from "./trades.ts";

const SEED = 20_261_123;
const ROUTES = 48;
const FUNDS = 1n << 60n;
const SLIPPAGE_PPB = 30_000_000n;

const { world, svm } = worldOnSvm(SEED);
const [victim, attacker] = [svm.newWallet(FUNDS), svm.newWallet(FUNDS)];
const random = createRandom(SEED);

/** A market of the world as it is now; undefined if it pays lamports, or does not trade against SOL. */
function hotMarket(token: (typeof world.tokens)[number]): HotMarket | undefined {
  const venue = venues.find(({ id }) => id === token.venue);
  if (venue === undefined || token.quoteMint !== SOL_MINT) return undefined;
  const { market, state } = readMarket(svm, venue, token.market, { a: token.mint, b: SOL_MINT });
  return market.nativeSol ? undefined : ({ venue, market, state, slot: 0n } as HotMarket);
}

const accountOf = (wallet: Address, mint: Address) =>
  associatedTokenAddress(wallet, mint, decodeMint(svm.get(mint)!).program);

const swapOf = (venue: Venue, state: unknown, wallet: Address, quote: Quote, threshold: bigint) =>
  venue.swap(state, quote, {
    wallet,
    source: accountOf(wallet, quote.inMint),
    destination: accountOf(wallet, quote.outMint),
    threshold,
    salt: 0,
    exists: (address) => svm.get(address) !== null,
  }).instructions;

function send(wallet: Address, steps: readonly RouteStep[], what: string): void {
  const swaps = steps.flatMap(({ hot, quote, threshold }) => swapOf(hot.venue, hot.state, wallet, quote, threshold));
  const { ok, error, logs } = svm.send(wallet, [setComputeUnitLimit(1_400_000), ...swaps]);
  expect(ok, `${what}: ${error} ${logs.slice(-3).join(" | ")}`).toBe(true);
}

/** A route over SOL from one token to another that moves a price by some percent; undefined if none does. */
function routeOver(first: HotMarket, last: HotMarket, from: Address, to: Address): Route | undefined {
  const plan = [
    { hot: first, inMint: from, outMint: SOL_MINT, weight: 1 },
    { hot: last, inMint: SOL_MINT, outMint: to, weight: 1 },
  ];
  for (let amount = 1n << 16n; amount < 1n << 56n; amount *= 2n) {
    const sides = { inMint: decodeMint(svm.get(from)!), outMint: decodeMint(svm.get(to)!) };
    const intent = { ...sides, mode: "exactIn", amount, slippagePpb: SLIPPAGE_PPB } as Intent;
    const route = realizePlan(intent, plan, svm.clock());
    if (typeof route === "object" && "steps" in route && route.priceImpact > 0.06) return route;
  }
  return undefined;
}

/** Buys before the trade on the market of one of its steps, lets all of it pass, and sells after it. @returns what that has gained */
function tradeAround(route: Route, at: number, frontRun: bigint, what: string): bigint {
  const { hot, quote } = route.steps[at]!;
  const { venue, market } = hot;
  const { inMint, outMint } = quote;
  const [paid, got] = [accountOf(attacker, inMint), accountOf(attacker, outMint)];
  const [paidBefore, gotBefore] = [svm.tokens(paid), svm.tokens(got)];
  const clock = svm.clock();
  const bought = venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount: frontRun, clock });
  send(attacker, [{ hot, quote: bought, threshold: bought.outAmount }], `${what}, before`);
  const output = accountOf(victim, route.steps[1]!.quote.outMint);
  const outputBefore = svm.tokens(output);
  send(victim, route.steps, what);
  expect(svm.tokens(output) - outputBefore >= route.threshold, what).toBe(true);
  const { state } = readMarket(svm, venue, market.address, { a: inMint, b: outMint });
  const amount = svm.tokens(got) - gotBefore;
  const sold = venue.quote(state, { mode: "exactIn", inMint: outMint, outMint: inMint, amount, clock });
  send(attacker, [{ hot: { ...hot, state }, quote: sold, threshold: sold.outAmount }], `${what}, after`);
  return svm.tokens(paid) - paidBefore;
}

test("says to the base unit what trading around either market of a route over a hub takes", async () => {
  const kinds = { first: 0, last: 0 };
  for (let drawn = 0; drawn < ROUTES; drawn++) {
    const [a, b] = [random.pick(world.tokens), random.pick(world.tokens)];
    const [first, last] = [hotMarket(a), hotMarket(b)];
    if (first === undefined || last === undefined || a.mint === b.mint) continue;
    for (const mint of [a.mint, b.mint, SOL_MINT])
      for (const wallet of [victim, attacker]) svm.setTokens(wallet, mint, FUNDS);
    const route = routeOver(first, last, a.mint, b.mint);
    if (route === undefined) continue;
    const { amount, markets } = await worstCaseOf(
      { turn: async () => () => undefined, pause: async () => undefined },
      route,
      "exactIn",
      svm.clock(),
    );
    expect(amount).toBe(route.threshold);
    const at = drawn % 2;
    const { attack, frontRun, taken } = markets[at]!;
    const what = `${a.venue} > ${b.venue}, ${at === 0 ? "first" : "last"}`;
    expect(["profitable", "unprofitable"], what).toContain(attack);
    if (attack !== "profitable") continue;
    expect(tradeAround(route, at, frontRun!, what), what).toBe(taken);
    kinds[at === 0 ? "first" : "last"]++;
  }
  console.log(`sandwiches around routes over SOL: ${JSON.stringify(kinds)}`);
  expect(Math.min(kinds.first, kinds.last)).toBeGreaterThan(0);
});
