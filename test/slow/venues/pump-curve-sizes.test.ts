import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { readU64 } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../../src/solana/programs.ts";
import {
  decodeBondingCurve,
  decodePumpGlobal,
  PUMP_GLOBAL,
  PUMP_PROGRAM,
} from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import { judge, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { alwaysLean } from "../../support/lean-venue.ts";
import { checkOnSvm } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { type PumpBuilds, pumpBuildsOf } from "./support/pump-builds.ts";
import { CURVE_SIZES, writeCoin, writePumpSettings } from "./support/pump-fun.ts";
import { releaseRuntimes } from "./support/runtimes.ts";

/**
 * Curves whose accounts are as short as those of earlier layouts. The program enlarges them before it trades, at the wallet's expense:
 * amounts, rent and compute units are held to the chain, at every rent that it has charged.
 */
const BUILDS = pumpBuildsOf("pump_fun");

const TRADES = 16;
/** Lamports per byte, and at what rent the account was made. */
const RENTS = [
  [5_080n, 5_080n],
  [6_960n, 6_960n],
  [5_080n, 6_960n],
  [696n, 6_960n],
] as const;
/** From this length on an account tells of fees that it still holds. */
const TELLS_OWED = 141;
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

interface Coin {
  readonly build: PumpBuilds;
  readonly size: number;
  readonly quoteMint: Address;
  readonly rents: (typeof RENTS)[number];
}

function openCurve({ build, size, quoteMint, rents: [rent, rentBefore] }: Coin, seed: number): Bench {
  const random = createRandom(seed);
  const svm = new Svm();
  svm.setRent(rent);
  svm.addProgram(PUMP_PROGRAM, build.fun);
  svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
  if (quoteMint !== SOL_MINT) svm.newMint({ decimals: 6, address: quoteMint });
  writePumpSettings(svm, { quoteMints: quoteMint === SOL_MINT ? [] : [quoteMint], creatorFeeConfigurable: true });
  const mint = svm.newMint({ decimals: 6, supply: 10n ** 15n });
  const owed = size >= TELLS_OWED && random.chance(0.5) ? 1_000_000_007n : 0n;
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
    owed,
    size,
  });
  const extra = (rentBefore - rent) * BigInt(size + 128);
  const made = svm.get(curve)!;
  svm.setAccount({ ...made, lamports: made.lamports + extra });
  const wallet = svm.newWallet(1n << 60n);
  const shorten = () => {
    const { data, lamports, ...account } = svm.get(curve)!;
    if (data.length === size) return;
    const traded = quoteMint === SOL_MINT ? readU64(data, 32) + 2n * owed : 0n;
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

describe.skipIf(BUILDS.length === 0).each(BUILDS)("curves of every length on the real program ($path)", (build) => {
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
      const bench = openCurve({ build, size, quoteMint, rents }, seed);
      const made = trade(bench, quoteMint, venue, seed);
      const [rent, rentBefore] = rents;
      const { curveSize } = decodePumpGlobal(bench.svm.get(PUMP_GLOBAL)!)!;
      const needed = rent * BigInt(curveSize + 128) - rentBefore * BigInt(size + 128);
      const growth = size < curveSize && needed > 0n ? needed : 0n;
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
    const { svm, mint, curve } = openCurve({ build, size: 81, quoteMint: SOL_MINT, rents: RENTS[0] }, 1);
    svm.addProgram(PUMP_PROGRAM, "src/sandbox/programs/pump_fun.so");
    const sides = { a: SOL_MINT, b: mint };
    const answer = checkOnSvm({ svm, venue: pumpFun, market: curve, pair: sides, turn: 1 });
    expect(answer).toMatchObject({ kind: "checked", differences: [], leanDifference: undefined });
  });

  it("by shadow execution, a build that enlarges them by less than its settings let expect agrees too", () => {
    const { svm, mint, curve } = openCurve({ build, size: 81, quoteMint: SOL_MINT, rents: RENTS[0] }, 1);
    const settings = svm.get(PUMP_GLOBAL)!;
    const data = new Uint8Array(1_200);
    data.set(settings.data);
    svm.setAccount({ ...settings, data });
    const answer = checkOnSvm({ svm, venue: pumpFun, market: curve, pair: { a: SOL_MINT, b: mint }, turn: 1 });
    expect(answer).toMatchObject({ kind: "checked", differences: [], leanDifference: undefined });
  });
});
