import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { runTrades } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { installPrograms, missingFor, PLAIN_MARKETS } from "./support/open-markets.ts";

/**
 * Pools of a few units and of nearly all units that a token can have, and trades of any size up to that: far from what the venues'
 * own runs draw, and where roundings, zeros and 64 bits show.
 */
const present = PLAIN_MARKETS.filter((kind) => missingFor(kind).length === 0);
const DEPTHS = [2_000n, 10n ** 6n, 1n << 44n, 1n << 56n, 1n << 61n];
/** With the largest pool, all that a token can have. */
const HELD = 1n << 63n;
const TRADES = 60;
const SEEDS = 2;

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

describe.runIf(present.length > 0)("pools of a few units and of nearly all that a token can have", () => {
  const cases = present.flatMap((kind) => DEPTHS.map((depth) => ({ kind, depth, name: kind.name })));

  it.each(cases)("$name with $depth on each side is exact, and within its bound", ({ kind, depth }) => {
    let quotes = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const svm = new Svm();
      installPrograms(svm, kind);
      const wallet = svm.newWallet(10n ** 15n);
      const mints = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })] as const;
      const fund = () => new Map(mints.map((mint) => [mint, svm.setTokens(wallet, mint, HELD)]));
      fund();
      const market = kind.open(svm, wallet, mints, depth);
      const accounts = fund();
      const held = (mint: Address) => svm.tokens(accounts.get(mint)!);
      const before: (readonly [Address, bigint])[][] = [];
      const outcomes = runTrades({
        svm,
        venue: kind.venue,
        market,
        pair: { a: mints[0], b: mints[1] },
        wallet,
        random: createRandom(seed * 1_000 + DEPTHS.indexOf(depth)),
        count: TRADES,
        limit: (mint, mode) => (mode === "exactIn" ? held(mint) + 1n : 4n * depth),
        before: () => before.push(mints.map((mint) => [mint, held(mint)] as const)),
        guards: false,
        shadow: false,
      });
      for (const [index, outcome] of outcomes.entries()) {
        const { quoted, executed, failure, inMint, computeUnits, computeUnitBound } = outcome;
        // Nobody can sell what he does not have.
        if (quoted === undefined || quoted.inAmount > new Map(before[index]).get(inMint)!) continue;
        quotes++;
        expect([index, executed, failure]).toEqual([index, quoted, undefined]);
        expect([index, Math.max(computeUnits, computeUnitBound)]).toEqual([index, computeUnitBound]);
      }
    }
    console.log(`${kind.name} with ${depth} on each side: ${quotes} trades`);
    expect(quotes).toBeGreaterThan(0);
  });
});
