import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { TOKEN_PROGRAM, USDC_MINT } from "../../../src/solana/programs.ts";
import { createTokenAccount } from "../../../src/solana/token/token-instructions.ts";
import { DBC_PROGRAM } from "../../../src/venues/meteora-dbc/layout.ts";
import { meteoraDbc } from "../../../src/venues/meteora-dbc/venue.ts";
import type { SwapMode } from "../../../src/venues/venue.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { checkOnSvm } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf } from "./support/builds.ts";
import {
  createDbcPool,
  METAPLEX_PROGRAM,
  mostIntoCurve,
  type NewDbcPool,
  stopsAtItsEnd,
} from "./support/meteora-dbc.ts";
import { randomDbcPool } from "./support/random-curves.ts";

/**
 * Curves of any shape, on every build: what a trade uses follows the bits of prices and liquidity, the stretches that it crosses, and
 * whether it completes the curve. `SEED=9 CURVES=200` draws others.
 */
const METAPLEX = ".venues/metaplex_token_metadata.so";
const present = existsSync(METAPLEX);
const SEED = Number(process.env.SEED ?? 1);
const CURVES = Number(process.env.CURVES ?? 40);
const TRADES = 20;
/** Units of the instruction that sets the limit. */
const BUDGET_UNITS = 150;
const PLENTY = 10n ** 18n;

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

describe.skipIf(!present).each(buildsOf("meteora_dbc"))("meteora_dbc on curves of any shape ($path)", ({ path }) => {
  it("is exact and within its limit, or withheld", () => {
    const svm = new Svm();
    svm.addProgram(METAPLEX_PROGRAM, METAPLEX);
    svm.addProgram(DBC_PROGRAM, path);
    svm.newMint({ address: USDC_MINT, decimals: 6, supply: PLENTY });
    const outcomes: TradeOutcome[] = [];
    const faults: string[] = [];
    const shares: number[] = [];
    let withheld = 0;
    let even = 0;
    let near = 0;
    for (let index = 0; index < CURVES; index++) {
      const seed = SEED * 10_000 + index;
      const random = createRandom(seed);
      const curve = openCurve(svm, randomDbcPool(random));
      if (curve === undefined) continue;
      const { made, last } = tradeOn(svm, curve, random);
      outcomes.push(...made, ...last);
      const ends = (["exactIn", "exactOut"] as const).map((mode) => complete(svm, curve, mode));
      shares.push(...ends.flatMap(({ ratio }) => ratio ?? []));
      const found = [...judge(made).faults, ...ends.flatMap(({ fault }) => fault ?? [])];
      const more = [...last.map(beyondQuote), ...ends.map((end) => end.beyond ?? 0n)];
      if (more.some((amount) => amount < 0n || (amount > 0n && stopsAtItsEnd(path))))
        found.push(`completing it gives ${more} more than quoted`);
      const isWithheld = differencesOf(svm, curve, index).length > 0;
      const canEnd = ends.some(({ ratio }) => ratio !== undefined);
      if (isWithheld !== (canEnd && !stopsAtItsEnd(path))) found.push(`withheld: ${isWithheld}`);
      if (isWithheld) withheld++;
      if (isWithheld && ends.every(({ beyond = 0n }) => beyond === 0n)) even++;
      if (approachEnd(svm, curve)) {
        near++;
        const isFound = differencesOf(svm, curve, index).length > 0;
        if (isFound === stopsAtItsEnd(path)) found.push(`withheld near its end: ${isFound}`);
      }
      faults.push(...found.map((fault) => `seed ${seed}: ${fault}`));
    }
    const { trades, worstUnitRatio } = judge(outcomes);
    console.log(
      `meteora_dbc | ${path} | ${trades} trades, bound/used at most ${worstUnitRatio}; ${shares.length} completions, ${Math.min(...shares)} at least; ${withheld} withheld, ${even} of them with an even end; ${near} again near their end`,
    );
    expect(faults).toEqual([]);
    expect(withheld > 0).toBe(!stopsAtItsEnd(path));
    if (CURVES >= 40) expect(even > 0).toBe(!stopsAtItsEnd(path));
    expect(trades).toBeGreaterThan(CURVES);
    expect(shares.length).toBeGreaterThan(CURVES / 2);
    expect(near).toBeGreaterThan(CURVES / 4);
  });
});

/** Where stretches end, and their liquidity: the second and the third hold less than one unit of quote. */
const THIN: NewDbcPool["curve"] = [
  { sqrtPrice: 19_815_838_360_430_182n, liquidity: 9_444_732_965_739_292_524_544_000n },
  { sqrtPrice: 20_013_996_744_034_483n, liquidity: 515_167_252_676_690_710_981_606n },
  { sqrtPrice: 20_414_276_678_915_172n, liquidity: 340_044_391_205_735_610_366_023n },
  { sqrtPrice: 24_497_132_014_698_206n, liquidity: 5_000_652_811_849_045_499_901_130n },
  { sqrtPrice: 31_846_271_619_107_667n, liquidity: 4_630_234_085_045_412_625_915_968n },
];

describe.skipIf(!present).each(buildsOf("meteora_dbc"))(
  "meteora_dbc on stretches of next to nothing ($path)",
  ({ path }) => {
    it("sells as quoted for as much quote as a stretch holds", () => {
      const svm = new Svm();
      svm.addProgram(METAPLEX_PROGRAM, METAPLEX);
      svm.addProgram(DBC_PROGRAM, path);
      svm.newMint({ address: USDC_MINT, decimals: 6, supply: PLENTY });
      const shape = { ...randomDbcPool(createRandom(SEED)), curve: THIN, sqrtStartPrice: 1n << 54n };
      const baseFee = { cliff: 2_500_000n, first: 0, second: 0n, third: 0n, mode: 0 };
      const plain = { quoteMint: USDC_MINT, migrationThreshold: 180n, baseFee, volatility: false, collectFeeMode: 0 };
      const curve = openCurve(svm, { ...shape, ...plain })!;
      const { wallet, market, baseMint, coins } = curve;
      const quotes = associatedTokenAddress(wallet, USDC_MINT, TOKEN_PROGRAM);
      /** Makes a trade as it is quoted now. @returns what it quoted and what it moved, in and out */
      const trade = (mode: SwapMode, selling: boolean, amount: bigint) => {
        fund(svm, curve);
        const [inMint, outMint] = selling ? [baseMint, USDC_MINT] : [USDC_MINT, baseMint];
        const [source, destination] = selling ? [coins, quotes] : [quotes, coins];
        const { state } = readMarket(svm, meteoraDbc, market, pairOf(curve));
        const quote = meteoraDbc.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
        const threshold = mode === "exactIn" ? 0n : quote.inAmount;
        const terms = { wallet, source, destination, threshold, salt: 0, exists: () => true };
        const held = [source, destination].map((address) => svm.tokens(address));
        svm.send(wallet, meteoraDbc.swap(state, quote, terms).instructions);
        const moved = [held[0]! - svm.tokens(source), svm.tokens(destination) - held[1]!];
        return { quoted: [quote.inAmount, quote.outAmount], moved };
      };
      trade("exactIn", false, 150n);
      const { state } = readMarket(svm, meteoraDbc, market, pairOf(curve));
      const kept = [market, ...state.market.vaults].map((address) => svm.get(address)!);
      for (const amount of [93n, 94n, 95n]) {
        const { quoted, moved } = trade("exactOut", true, amount);
        expect(moved).toEqual(quoted);
        for (const account of kept) svm.setAccount({ ...account });
      }
    });
  },
);

interface OpenCurve {
  readonly shape: NewDbcPool;
  readonly wallet: Address;
  readonly market: Address;
  readonly baseMint: Address;
  readonly coins: Address;
}

/** Undefined for a shape that the program does not accept. */
function openCurve(svm: Svm, shape: NewDbcPool): OpenCurve | undefined {
  const wallet = svm.newWallet(10n ** 15n);
  try {
    const { address: market, baseMint } = createDbcPool(svm, wallet, shape);
    const program = svm.get(baseMint)!.owner;
    const coins = associatedTokenAddress(wallet, baseMint, program);
    svm.send(wallet, [createTokenAccount(coins, wallet, baseMint, program)]);
    return { shape, wallet, market, baseMint, coins };
  } catch {
    return undefined;
  }
}

/** Trades of any size on a curve, those apart that completed it; a complete one begins anew. */
function tradeOn(svm: Svm, curve: OpenCurve, random: Random) {
  const { wallet, market, baseMint } = curve;
  const pair = pairOf(curve);
  const { vaults } = readMarket(svm, meteoraDbc, market, pair).market;
  const fresh = [market, ...vaults].map((address) => svm.get(address)!);
  let { slot, epoch, unixTimestamp } = svm.clock();
  const left = (): bigint => {
    const { pool, config } = readMarket(svm, meteoraDbc, market, pair).state;
    return config.migrationThreshold - pool.quoteReserve;
  };
  const completions = new Set<number>();
  const beginAnew = (index: number) => {
    if (left() > 0n) return;
    completions.add(index - 1);
    for (const account of fresh) svm.setAccount({ ...account });
  };
  const outcomes = runTrades({
    svm,
    venue: meteoraDbc,
    market,
    pair,
    wallet,
    random,
    count: TRADES,
    limit: (mint, mode) => {
      if (mint === baseMint) return mode === "exactIn" ? 10n ** 12n : 10n ** 17n;
      return left() + left() / 2n + 1n;
    },
    before: (index) => {
      const seconds = BigInt(random.pick([0, 1, 5, 60, 300]));
      unixTimestamp += seconds;
      slot += seconds * 4n;
      svm.setClock({ slot, epoch, unixTimestamp });
      beginAnew(index);
      fund(svm, curve);
    },
    guards: false,
    shadow: false,
  });
  beginAnew(TRADES);
  return {
    made: outcomes.filter((_, index) => !completions.has(index)),
    last: outcomes.filter((_, index) => completions.has(index)),
  };
}

/** What a trade that takes what was quoted gives beyond its quote: below 0 if it fails or takes another amount. */
function beyondQuote({ quoted, executed }: TradeOutcome): bigint {
  if (executed === undefined || executed.inAmount !== quoted?.inAmount) return -1n;
  return executed.outAmount - quoted.outAmount;
}

/** What shadow execution finds of a curve. */
function differencesOf(svm: Svm, curve: OpenCurve, turn: number): readonly string[] {
  const answer = checkOnSvm({ svm, venue: meteoraDbc, market: curve.market, pair: pairOf(curve), turn });
  return answer.kind === "checked" ? answer.differences : [];
}

/** How buying the rest of a curve went. */
interface Completion {
  readonly fault?: string;
  /** Bound/used. */
  readonly ratio?: number;
  /** What it gives beyond the quote. Base units. */
  readonly beyond?: bigint;
}

/** Buys all that is left of a curve, without keeping the result. */
function complete(svm: Svm, curve: OpenCurve, mode: SwapMode): Completion {
  const { wallet, market, baseMint, coins, shape } = curve;
  fund(svm, curve);
  const { state } = readMarket(svm, meteoraDbc, market, pairOf(curve));
  const most = mostIntoCurve(svm, market, pairOf(curve));
  if (most === undefined) return {};
  const ask = { mode: "exactIn", inMint: shape.quoteMint, outMint: baseMint, clock: svm.clock() } as const;
  const whole = meteoraDbc.quote(state, { ...ask, amount: most });
  const quote = mode === "exactIn" ? whole : meteoraDbc.quote(state, { ...ask, mode, amount: whole.outAmount });
  const source = associatedTokenAddress(wallet, shape.quoteMint, TOKEN_PROGRAM);
  const leg = meteoraDbc.swap(state, quote, {
    wallet,
    source,
    destination: coins,
    threshold: mode === "exactIn" ? 1n : PLENTY / 100n,
    salt: 0,
    exists: (address) => svm.get(address) !== null,
  });
  const kept = [market, ...state.market.vaults, coins, source].map((address) => svm.get(address)!);
  const [paidFrom, heldBefore] = [svm.tokens(source), svm.tokens(coins)];
  const done = svm.send(wallet, [setComputeUnitLimit(1_400_000), ...leg.instructions]);
  const [paid, got] = [paidFrom - svm.tokens(source), svm.tokens(coins) - heldBefore];
  for (const account of kept) svm.setAccount({ ...account });
  if (!done.ok) return { fault: `completing ${mode} of ${most}: ${done.error.slice(0, 300)}` };
  const used = done.computeUnits - BUDGET_UNITS;
  if (used > leg.computeUnits)
    return { fault: `completing ${mode} of ${most}: used ${used}, bound ${leg.computeUnits}` };
  if (paid !== quote.inAmount) return { fault: `completing ${mode}: quoted ${quote.inAmount} in, paid ${paid}` };
  return { ratio: leg.computeUnits / used, beyond: got - quote.outAmount };
}

/** Buys all but a thousandth of what a curve still takes. True if the rest buys something. */
function approachEnd(svm: Svm, curve: OpenCurve): boolean {
  const { wallet, market, coins, shape } = curve;
  const pair = pairOf(curve);
  const most = mostIntoCurve(svm, market, pair);
  if (most === undefined) return false;
  fund(svm, curve);
  const ask = { mode: "exactIn", inMint: pair.a, outMint: pair.b, clock: svm.clock() } as const;
  const { state } = readMarket(svm, meteoraDbc, market, pair);
  try {
    const quote = meteoraDbc.quote(state, { ...ask, amount: most - most / 1_000n });
    const source = associatedTokenAddress(wallet, shape.quoteMint, TOKEN_PROGRAM);
    const terms = { wallet, source, destination: coins, threshold: 1n, salt: 0, exists: () => true };
    if (!svm.send(wallet, meteoraDbc.swap(state, quote, terms).instructions).ok) return false;
    const left = mostIntoCurve(svm, market, pair);
    if (left === undefined) return false;
    const last = meteoraDbc.quote(readMarket(svm, meteoraDbc, market, pair).state, { ...ask, amount: left });
    return last.outAmount > 0n;
  } catch {
    return false;
  }
}

const pairOf = ({ shape, baseMint }: OpenCurve) => ({ a: shape.quoteMint, b: baseMint });

function fund(svm: Svm, { shape, wallet, coins }: OpenCurve): void {
  const account = svm.get(coins)!;
  writeU64(account.data, 64, PLENTY);
  svm.setAccount(account);
  svm.setTokens(wallet, shape.quoteMint, PLENTY / 100n);
}
