import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { readU64 } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../../src/solana/programs.ts";
import { CURVE_FULL_SIZE, decodeBondingCurve, PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import { judge, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { alwaysLean } from "../../support/lean-venue.ts";
import { checkOnSvm } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { CURVE_SIZES, writeCoin, writePumpSettings } from "./support/pump-fun.ts";
import { releaseRuntimes } from "./support/runtimes.ts";

/**
 * Curves whose accounts are as short as those of earlier layouts. The program enlarges them before it trades, at the wallet's expense:
 * amounts, rent and compute units are held to the chain, at every rent that it has charged.
 */
const PROGRAM = ".venues/pump_fun_2026.so";
const FEES_PROGRAM = ".venues/pump_fees_2026.so";
const present = existsSync(PROGRAM) && existsSync(FEES_PROGRAM);

const TRADES = 16;
/** Lamports per byte, and at what rent the account was made. */
const RENTS = [
  [5_080n, 5_080n],
  [6_960n, 6_960n],
  [5_080n, 6_960n],
  [696n, 6_960n],
] as const;
/** From this length on an account names what its coin is priced in. */
const NAMES_QUOTE = 115;

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

interface Bench {
  readonly svm: Svm;
  readonly mint: Address;
  readonly curve: Address;
  readonly wallet: Address;
  /** Makes the curve's account as short as it was. */
  readonly shorten: () => void;
}

function openCurve(size: number, quoteMint: Address, [rent, rentBefore]: (typeof RENTS)[number], seed: number): Bench {
  const random = createRandom(seed);
  const svm = new Svm();
  svm.setRent(rent);
  svm.addProgram(PUMP_PROGRAM, PROGRAM);
  svm.addProgram(PUMP_FEE_PROGRAM, FEES_PROGRAM);
  if (quoteMint !== SOL_MINT) svm.newMint({ decimals: 6, address: quoteMint });
  writePumpSettings(svm, { quoteMints: quoteMint === SOL_MINT ? [] : [quoteMint], creatorFeeConfigurable: true });
  const mint = svm.newMint({ decimals: 6, supply: 10n ** 15n });
  const curve = writeCoin(svm, {
    mint,
    quoteMint,
    virtualTokens: 779_900_000_000_000n,
    virtualQuote: 41_000_000_000n,
    realTokens: 500_000_000_000_000n,
    realQuote: 11_000_000_000n,
    creator: svm.newAddress(),
    withoutVault: random.chance(0.3),
    mayhem: random.chance(0.2),
    cashback: random.chance(0.3),
    creatorFeeBps: random.pick([0n, 120n]),
    size,
  });
  const extra = (rentBefore - rent) * BigInt(size + 128);
  const made = svm.get(curve)!;
  svm.setAccount({ ...made, lamports: made.lamports + extra });
  const wallet = svm.newWallet(1n << 60n);
  const shorten = () => {
    const { data, lamports, ...account } = svm.get(curve)!;
    if (data.length === size) return;
    const traded = quoteMint === SOL_MINT ? readU64(data, 32) : 0n;
    svm.setAccount({ ...account, data: data.slice(0, size), lamports: traded + rentBefore * BigInt(size + 128) });
  };
  return { svm, mint, curve, wallet, shorten };
}

function trade({ svm, mint, curve, wallet, shorten }: Bench, quoteMint: Address, venue: typeof pumpFun, seed: number) {
  return runTrades({
    svm,
    venue,
    market: curve,
    pair: { a: quoteMint, b: mint },
    wallet,
    random: createRandom(seed),
    count: TRADES,
    limit: (side) => {
      const state = decodeBondingCurve(svm.get(curve)!)!;
      return side === mint ? state.realTokens / 4n + 1n : state.virtualQuote / 5n;
    },
    before: () => {
      shorten();
      svm.setTokens(wallet, mint, 1n << 60n);
      if (quoteMint !== SOL_MINT) svm.setTokens(wallet, quoteMint, 1n << 50n);
    },
    shadow: false,
  });
}

describe.skipIf(!present)(`curves of every length on the real program (${PROGRAM})`, () => {
  const cases = CURVE_SIZES.flatMap((size) => [
    { size, quote: "SOL", form: "newest" },
    { size, quote: "SOL", form: "older" },
    ...(size < NAMES_QUOTE ? [] : [{ size, quote: "USDC", form: "newest" }]),
  ]);

  it.each(cases)("$size bytes, priced in $quote, by the $form instructions", async ({ size, quote, form }) => {
    const quoteMint = quote === "SOL" ? SOL_MINT : USDC_MINT;
    const venue = form === "older" ? alwaysLean(pumpFun) : pumpFun;
    const outcomes: TradeOutcome[] = [];
    for (const [index, rents] of RENTS.entries()) {
      const seed = size * 10 + index;
      const bench = openCurve(size, quoteMint, rents, seed);
      const made = trade(bench, quoteMint, venue, seed);
      const [rent, rentBefore] = rents;
      const needed = rent * BigInt(CURVE_FULL_SIZE + 128) - rentBefore * BigInt(size + 128);
      const growth = size < CURVE_FULL_SIZE && needed > 0n ? needed : 0n;
      for (const { executed, rent } of made)
        if (executed !== undefined) expect(rent.paid).toBeGreaterThanOrEqual(growth);
      outcomes.push(...made);
      bench.shorten();
      const sides = { a: quoteMint, b: bench.mint };
      const answer = checkOnSvm({ svm: bench.svm, venue: pumpFun, market: bench.curve, pair: sides, turn: seed });
      expect(answer).toMatchObject({ kind: "checked", differences: [], leanDifference: undefined });
      await releaseRuntimes();
    }
    const { faults, trades, worstUnitRatio } = judge(outcomes);
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(TRADES);
    expect(worstUnitRatio).toBeLessThanOrEqual(1.22);
  });

  it("by shadow execution, a build that leaves their accounts as they are agrees too", () => {
    const { svm, mint, curve } = openCurve(81, SOL_MINT, RENTS[0], 1);
    svm.addProgram(PUMP_PROGRAM, "src/sandbox/programs/pump_fun.so");
    const sides = { a: SOL_MINT, b: mint };
    const answer = checkOnSvm({ svm, venue: pumpFun, market: curve, pair: sides, turn: 1 });
    expect(answer).toMatchObject({ kind: "checked", differences: [], leanDifference: undefined });
  });
});
