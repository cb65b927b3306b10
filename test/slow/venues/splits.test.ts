import { describe, expect, it } from "vitest";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { HUB_MINTS } from "../../../src/solana/hub-mints.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { type BuildPorts, buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../../src/trade/trade.ts";
import { recordRun } from "../../conformance/run-record.ts";
import { guardAt } from "../../support/guard-world.ts";
import { executeWire, heldBy, portsOf, type WorldPool } from "../../support/split-world.ts";
import { Svm } from "../../support/svm.ts";
import { answerOf } from "../client/honest-builds.ts";
import { fundPlenty, installPrograms, missingFor, PLAIN_MARKETS } from "./support/open-markets.ts";

/**
 * Trades over parallel paths and up to three markets in a row, on the real programs of six venues at once: what is quoted is
 * what the transaction moves, remainders included, within the limit of compute units that it asks for.
 */
const missing = [...new Set(PLAIN_MARKETS.flatMap(missingFor))];
if (missing.length > 0) console.log(`skipped: ${missing.join(", ")} absent, so no split was executed on real programs`);

const WORLDS = 8;
const ASKS = 16;
const SUPPLY = 10n ** 18n;
const SIGNATURE_FEE = 5_000n;

/** Two tokens and the hubs, with one to three markets of each pair, every venue among them. */
function openWorld(random: Random) {
  const svm = new Svm();
  for (const kind of PLAIN_MARKETS) installPrograms(svm, kind);
  const maker = svm.newWallet(10n ** 16n);
  const wallet = svm.newWallet(10n ** 15n);
  const usdc = HUB_MINTS.find((mint) => mint !== SOL_MINT)!;
  svm.newMint({ decimals: 6, supply: SUPPLY, address: usdc });
  const tokens = [svm.newMint({ decimals: 6, supply: SUPPLY }), svm.newMint({ decimals: 6, supply: SUPPLY })] as const;
  const mints = [...tokens, ...HUB_MINTS];
  for (const mint of tokens) svm.setTokens(wallet, mint, 10n ** 16n);
  const pools: WorldPool[] = [];
  let next = random.u32();
  for (const [index, a] of mints.entries()) {
    for (const b of mints.slice(index + 1)) {
      const made = new Set<number>();
      for (let left = Number(random.between(1n, 3n)); left > 0; left--) {
        const at = next++ % PLAIN_MARKETS.length;
        if (made.has(at)) continue;
        made.add(at);
        const { open, venue } = PLAIN_MARKETS[at]!;
        fundPlenty(svm, maker, mints);
        pools.push({ a, b, venue, pool: open(svm, maker, [a, b], random.between(10n ** 10n, 10n ** 12n)) });
      }
    }
  }
  return { svm, wallet, mints, tokens, pools };
}

function draw(random: Random, wallet: Address, [x, y]: readonly [Address, Address]): TradeRequest {
  const [inMint, outMint] = random.pick([
    [x, y] as const,
    [y, x] as const,
    [SOL_MINT, x] as const,
    [x, SOL_MINT] as const,
  ]);
  return {
    principal: { accountId: "test", keyId: "test", wallet },
    inMint,
    outMint,
    mode: random.chance(0.6) ? "exactIn" : "exactOut",
    amount: Number.NaN,
    maxTransactionVersion: 1,
    totalGuard: true,
    amountRaw: random.between(10n ** 8n, 10n ** 11n).toString(),
    slippage: random.pick([0, 0.01, 0.3]),
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
  };
}

async function buildOrNone(ports: BuildPorts, request: TradeRequest): Promise<BuiltTrade | undefined> {
  try {
    return await buildTrade(ports, request);
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

/** Executes a build. @returns what differs from what it said, in words; undefined if nothing does */
function differenceOf(svm: Svm, wallet: Address, built: BuiltTrade): string | undefined {
  const { inAmount, outAmount, remainders = [] } = built.estimates;
  const mints = [built.inMint, ...remainders.map(({ mint }) => mint), built.outMint];
  const before = mints.map((mint) => heldBy(svm, wallet, mint));
  const done = executeWire(svm, wallet, built.unsignedTransaction);
  if (!done.ok) return `${done.error} ${done.logs.slice(-4).join(" ")}`;
  const costs = SIGNATURE_FEE + built.costs.rentPaid + paidOnSvm(built);
  const moved = mints.map((mint, at) => heldBy(svm, wallet, mint) - before[at]! + (mint === SOL_MINT ? costs : 0n));
  const said = [-inAmount, ...remainders.map(({ amount }) => amount), outAmount];
  return `${moved}` === `${said}` ? undefined : `said ${said}, moved ${moved}`;
}

/** What the client finds wrong with a build, in words. */
function refusalOf({ mode, amountRaw, slippage }: TradeRequest, wallet: Address, built: BuiltTrade): string {
  const [inputMint, outputMint] = [built.inMint.toString(), built.outMint.toString()];
  const order = { inputMint, outputMint, swapMode: mode, slippage, amountRaw };
  const limits = { decimals: { input: built.inDecimals, output: built.outDecimals }, maxPriorityCost: 1 };
  const expected = expectTrade(wallet, order, answerOf(built), limits, "caller");
  const problems = findProblems(readTransaction(built.unsignedTransaction), expected);
  return problems.map(({ reason }) => reason).join("; ");
}

/** Lamports of priority that the SVM charges: version 1 messages are run without their price. */
function paidOnSvm({ unsignedTransaction, costs }: BuiltTrade): bigint {
  return readTransaction(unsignedTransaction).config === undefined ? costs.priorityFee : 0n;
}

describe.skipIf(missing.length > 0)("trades over several markets, on the real programs of six venues", () => {
  const seen = { trades: 0, splits: 0, guarded: 0, threeLegs: 0, venues: new Set<string>() };

  it.each(Array.from({ length: WORLDS }, (_, index) => index + 1))("move what was quoted: world %i", async (seed) => {
    const random = createRandom(seed);
    const { svm, wallet, mints, tokens, pools } = openWorld(random);
    const faults: string[] = [];
    let made = 0;
    for (let ask = 0; ask < ASKS; ask++) {
      const request = draw(random, wallet, tokens);
      const built = await buildOrNone(portsOf(svm, wallet, mints, pools), request);
      if (built === undefined) continue;
      made++;
      const { route } = built;
      if (route.some(({ path = 0 }) => path > 0)) seen.splits++;
      if (guardAt(built) >= 0) seen.guarded++;
      expect(refusalOf(request, wallet, built)).toBe("");
      if (route.some(({ path = 0 }, at) => path === (route[at + 2]?.path ?? (at + 2 < route.length ? 0 : -1))))
        seen.threeLegs++;
      for (const { venue } of route) seen.venues.add(venue);
      const difference = differenceOf(svm, wallet, built);
      const legs = route.map(({ path = 0, venue }) => `${path}:${venue}`).join(" ");
      if (difference !== undefined)
        faults.push(
          `#${ask} ${request.mode} ${request.amountRaw} slippage ${request.slippage} [${legs}]: ${difference}`,
        );
    }
    seen.trades += made;
    recordRun({
      venue: "several",
      build: "",
      asked: ASKS,
      executed: made,
      refused: ASKS - made,
      mismatches: faults.length,
      maxUnits: 0,
      worstUnitRatio: 0,
      unitRatios: {},
      maxBytes: 0,
      guards: 0,
      guardsHeld: 0,
    });
    expect(faults).toEqual([]);
    expect(made).toBeGreaterThan(ASKS / 2);
  });

  it("were divided, went over three markets, and traded on every one of the venues", () => {
    console.log(
      `several markets | ${seen.trades} trades, ${seen.splits} splits, ${seen.guarded} under one guard, ${seen.threeLegs} over three markets`,
    );
    expect(seen.guarded).toBeGreaterThan(0);
    expect(seen.splits).toBeGreaterThan(WORLDS);
    expect(seen.threeLegs).toBeGreaterThan(0);
    expect([...seen.venues].sort()).toEqual(PLAIN_MARKETS.map(({ venue }) => venue.id).sort());
  });
});
