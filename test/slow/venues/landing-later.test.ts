import { describe, expect, it } from "vitest";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { classifyFailure, parseProgramFailure } from "../../../src/trade/submit/outcome/program-failure.ts";
import type { Quote, SwapMode } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import { releaseRuntimes } from "./support/runtimes.ts";
import { RANGED_POOL, TIMED_MARKETS, type TimedBench } from "./support/timed-markets.ts";

/**
 * Trades built now that land later, with the clock moved between: fees that fall with time, by schedule or with volatility,
 * limits on size that end, profit that unlocks. What lands is within the bound that was signed, and within the compute bound;
 * what is not, the program refuses as slippage. Where another trades in between, the compute bound holds all the same on the
 * venues whose programs take more units for another price: steps of a schedule, a limiter's root.
 */
const present = TIMED_MARKETS.filter(({ needs }) => needs.length === 0);
for (const { name, needs } of TIMED_MARKETS) if (needs.length > 0) console.log(`skipped: ${name}: ${needs.join(", ")}`);

const TRADES = Number(process.env.TRADES ?? 150);
/** Each on a new market. */
const FIRST_TRADES = 8;
/** Trades after another's, and how many of them a market is used for. */
const CROSSED_TRADES = 240;
const CROSSED_ON_ONE = 6;
/** Until it lands, and between two trades. Seconds. */
const DELAYS = [0, 1, 5, 12, 29, 31, 60, 90];
const PAUSES = [0, 0, 1, 20, 60, 130];
/** Slippage signed: none, a tenth of a percent, one percent. Bps. */
const SLIPPAGES = [0n, 10n, 100n];
const BUDGET_UNITS = 150;

describe.runIf(present.length > 0)("a trade lands some time after it was built", () => {
  it.each(present)("$name", ({ name, open, onlyFalls }) => {
    const bench = open();
    const { svm } = bench;
    const random = createRandom(name.length * 6_151);
    const counts: Record<string, number> = {};
    const faults: string[] = [];
    let worst = 0;
    let most = 0;
    for (let index = 0; index < TRADES; index++) {
      pass(svm, random.pick(PAUSES));
      bench.fund();
      const order = orderOf(bench, random);
      if (order === undefined) continue;
      const slippage = random.pick(SLIPPAGES);
      const landed = landLater(bench, order, slippage, random.pick(DELAYS));
      counts[landed.kind] = (counts[landed.kind] ?? 0) + 1;
      worst = Math.max(worst, landed.worseBps);
      most = Math.max(most, landed.unitsRatio);
      if (landed.fault !== undefined) faults.push(`#${index}: ${landed.fault}`);
    }
    console.log(
      `landing later | ${name} | ${JSON.stringify(counts)} | worse by ${worst} bps at most | use / bound ${most.toFixed(3)}`,
    );
    expect(faults).toEqual([]);
    if (onlyFalls) expect(Object.keys(counts).filter((kind) => kind !== "better" && kind !== "as quoted")).toEqual([]);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(TRADES / 2);
  });

  it.each(present)("$name: its first step falls between", ({ open }) => {
    const random = createRandom(1);
    const faults: string[] = [];
    let landed = 0;
    for (let index = 0; index < FIRST_TRADES; index++) {
      const bench = open();
      const order = orderOf(bench, random);
      if (order === undefined) continue;
      const { kind, fault } = landLater(bench, order, SLIPPAGES.at(-1)!, 61);
      if (fault !== undefined) faults.push(`#${index}: ${fault}`);
      if (kind !== "refused as slippage") landed += 1;
    }
    expect(faults).toEqual([]);
    expect(landed).toBeGreaterThan(0);
  });

  it.each(present.filter(({ onlyFalls }) => onlyFalls))("$name: another trades between", async ({ name, open }) => {
    const random = createRandom(name.length);
    const faults: string[] = [];
    let most = 0;
    let landed = 0;
    for (let index = 0; index < CROSSED_TRADES; index += CROSSED_ON_ONE) {
      const bench = open();
      for (let trade = 0; trade < CROSSED_ON_ONE; trade++) {
        bench.fund();
        const order = orderOf(bench, random, 2n + random.magnitude(1n << random.pick([30n, 36n, 42n])));
        if (order === undefined) continue;
        const another = orderOf(bench, random, 2n + random.magnitude(1n << 42n));
        const done = landLater(bench, order, random.pick([500n, 3_000n, 9_000n]), 0, another);
        if (done.fault !== undefined) faults.push(`#${index}: ${done.fault}`);
        most = Math.max(most, done.unitsRatio);
        if (done.unitsRatio > 0) landed++;
      }
      await releaseRuntimes();
    }
    console.log(`after another's trade | ${name} | ${landed} landed | use / bound ${most.toFixed(3)}`);
    expect(faults).toEqual([]);
    expect(landed).toBeGreaterThan(CROSSED_TRADES / 4);
  });

  it.each(present.filter(({ limit }) => limit !== undefined))(
    "$name: a price pushes a buy over a step of it",
    ({ open, limit }) => {
      const used: number[] = [];
      for (const tenths of [985n, 995n, 1_005n]) {
        const bench = open();
        const { state } = readMarket(bench.svm, bench.venue, bench.market, bench.pair);
        const [inMint, outMint] = limit!.buysWith === "a" ? [bench.pair.a, bench.pair.b] : [bench.pair.b, bench.pair.a];
        const sides = { inMint, outMint, clock: bench.svm.clock() };
        const quoteOf = (mode: SwapMode, amount: bigint) => bench.venue.quote(state, { mode, amount, ...sides });
        const orderOf = (mode: SwapMode, amount: bigint) => ({ mode, ...sides, quote: quoteOf(mode, amount), state });
        const wanted = quoteOf("exactIn", (limit!.reference * tenths) / 1_000n).outAmount;
        const another = orderOf("exactIn", limit!.push);
        const { fault, unitsRatio } = landLater(bench, orderOf("exactOut", wanted), 5_000n, 0, another);
        expect(fault).toBeUndefined();
        used.push(unitsRatio);
      }
      console.log(`over a step | use / bound ${used.map((ratio) => ratio.toFixed(3)).join(", ")}`);
      expect(Math.min(...used)).toBeGreaterThan(0);
    },
  );
});

/** Markets that end at a price, whose fee on the input of buys has fallen a minute later, and the mint that buys pay with. */
const ending = [
  ...TIMED_MARKETS.filter(({ name }) => /^meteora_dbc, .* schedule$/.test(name)).map((kind) => ({
    ...kind,
    paid: "a",
  })),
  { ...RANGED_POOL, paid: "b" },
].filter(({ needs }) => needs.length === 0);

describe.runIf(ending.length > 0)("a buy of all that is left of a market lands after a step of its fee", () => {
  type Ending = (typeof ending)[number];

  function openFunded({ open }: Ending): TimedBench {
    const bench = open();
    // The first step lasts a minute.
    pass(bench.svm, 5);
    for (const mint of [bench.pair.a, bench.pair.b]) bench.svm.setTokens(bench.wallet, mint, 1n << 60n);
    return bench;
  }

  function buyOf({ svm, venue, market, pair }: TimedBench, { paid }: Ending, mode: SwapMode, amount: bigint): Order {
    const { state } = readMarket(svm, venue, market, pair);
    const [inMint, outMint] = paid === "a" ? [pair.a, pair.b] : [pair.b, pair.a];
    const quote = venue.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
    return { mode, inMint, outMint, quote, state };
  }

  /** The largest buy by input that is quoted. */
  function largestBuy(bench: TimedBench, kind: Ending): Order {
    let most = buyOf(bench, kind, "exactIn", 1n << 20n);
    for (let step = 1n << 59n; step > 0n; step >>= 1n)
      try {
        most = buyOf(bench, kind, "exactIn", most.quote.inAmount + step);
      } catch (error) {
        if (!(error instanceof TradewireError)) throw error;
      }
    return most;
  }

  it.each(ending)("$name: by input it fails, since more of that reaches the market than it takes", (kind) => {
    const now = openFunded(kind);
    expect(landLater(now, largestBuy(now, kind), 0n, 0).kind).toBe("as quoted");
    const later = openFunded(kind);
    expect(landLater(later, largestBuy(later, kind), 9_000n, 61).fault).toContain("later: INSUFFICIENT_LIQUIDITY");
  });

  it.each(ending)("$name: by output it lands, for less", (kind) => {
    const bench = openFunded(kind);
    const { outAmount } = largestBuy(bench, kind).quote;
    expect(landLater(bench, buyOf(bench, kind, "exactOut", outAmount), 0n, 61).kind).toBe("better");
  });
});

/** Base units: what takes volatility to its maximum, and a percent of what the market holds near its price. */
const PUSH = 5n * 10n ** 12n;
const LARGE = 3n * 10n ** 11n;

describe.runIf(present.length > 0)("a trade over many groups of ticks is quoted at the most volatility", () => {
  const volatile = present.filter(({ name }) => name.startsWith("orca_whirlpool"));
  const cases = volatile.flatMap(({ open }) =>
    (["exactIn", "exactOut"] as const).flatMap((mode) => [true, false].map((goesOn) => ({ open, mode, goesOn }))),
  );

  it.each(cases)("$mode, price goes on: $goesOn, and lands once volatility has decayed", ({ open, mode, goesOn }) => {
    const bench = open();
    const { svm, venue, market, pair } = bench;
    const swapOf = (mode: SwapMode, [inMint, outMint]: readonly [Address, Address], amount: bigint): Order => {
      const { state } = readMarket(svm, venue, market, pair);
      return {
        mode,
        inMint,
        outMint,
        state,
        quote: venue.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() }),
      };
    };
    expect(landLater(bench, swapOf("exactIn", [pair.b, pair.a], PUSH), 0n, 0).kind).toBe("as quoted");
    bench.fund();
    pass(svm, 1);
    const { kind, fault } = landLater(bench, swapOf(mode, goesOn ? [pair.b, pair.a] : [pair.a, pair.b], LARGE), 0n, 30);
    expect(fault).toBeUndefined();
    expect(kind).toBe("better");
  });
});

interface Order {
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly quote: Quote;
  readonly state: unknown;
}

interface Landed {
  readonly kind: "better" | "as quoted" | "worse, within its bound" | "refused as slippage" | "wrong";
  /** How much worse than quoted, if it landed. Bps. */
  readonly worseBps: number;
  readonly unitsRatio: number;
  readonly fault?: string;
}

/** Lets seconds pass, with slots of 400 ms. */
function pass(svm: TimedBench["svm"], seconds: number): void {
  const { slot, epoch, unixTimestamp } = svm.clock();
  svm.setClock({
    slot: slot + BigInt(Math.ceil(seconds * 2.5)),
    epoch,
    unixTimestamp: unixTimestamp + BigInt(seconds),
  });
}

/** A trade drawn and quoted now; undefined if the market refuses it. */
function orderOf(
  { svm, venue, market, pair, wallet }: TimedBench,
  random: Random,
  amount = 1n << BigInt(20 + random.pick([0, 4, 8, 12, 16, 18, 20])),
): Order | undefined {
  const forwards = random.chance(0.5);
  const [inMint, outMint] = forwards ? [pair.a, pair.b] : [pair.b, pair.a];
  const mode: SwapMode = venue.supports.exactOut && random.chance(0.5) ? "exactOut" : "exactIn";
  const { state } = readMarket(svm, venue, market, pair);
  try {
    const quote = venue.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
    const held = svm.tokens(associatedTokenAddress(wallet, inMint, svm.get(inMint)!.owner));
    return held < 2n * quote.inAmount ? undefined : { mode, inMint, outMint, quote, state };
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

function landLater(
  { svm, venue, wallet }: TimedBench,
  order: Order,
  slippageBps: bigint,
  seconds: number,
  another?: Order,
): Landed {
  const { mode, inMint, outMint, quote, state } = order;
  const accountOf = (mint: Address) => associatedTokenAddress(wallet, mint, svm.get(mint)!.owner);
  const [source, destination] = [accountOf(inMint), accountOf(outMint)];
  const threshold =
    mode === "exactIn"
      ? quote.outAmount - (quote.outAmount * slippageBps) / 10_000n
      : quote.inAmount + (quote.inAmount * slippageBps) / 10_000n;
  const exists = (address: Address) => svm.get(address) !== null;
  const leg = venue.swap(state, quote, { wallet, source, destination, threshold, salt: 0, exists });
  pass(svm, seconds);
  if (another !== undefined) {
    const sides = { source: accountOf(another.inMint), destination: accountOf(another.outMint) };
    const threshold = another.mode === "exactIn" ? 0n : another.quote.inAmount;
    const first = venue.swap(another.state, another.quote, { wallet, ...sides, threshold, salt: 0, exists });
    svm.send(wallet, [setComputeUnitLimit(1_400_000), ...first.instructions]);
  }
  const before = { in: svm.tokens(source), out: svm.tokens(destination) };
  const done = svm.send(wallet, [setComputeUnitLimit(1_400_000), ...leg.instructions]);
  const paid = before.in - svm.tokens(source);
  const received = svm.tokens(destination) - before.out;
  const unitsRatio = (done.computeUnits - BUDGET_UNITS) / leg.computeUnits;
  const what = `${mode} of ${quote.inAmount} for ${quote.outAmount}, ${slippageBps} bps, ${seconds} s later`;
  if (!done.ok) {
    const failure = parseProgramFailure(done.logs);
    const code = failure === undefined ? done.error : classifyFailure(failure, [venue]);
    if (code === "SLIPPAGE_EXCEEDED") return { kind: "refused as slippage", worseBps: 0, unitsRatio: 0 };
    return { kind: "wrong", worseBps: 0, unitsRatio: 0, fault: `${what}: ${code} ${done.logs.slice(-3).join(" ")}` };
  }
  const moved = `${what}: paid ${paid}, received ${received}`;
  const isWithin =
    mode === "exactIn"
      ? paid <= quote.inAmount && received >= threshold
      : paid <= threshold && received >= quote.outAmount;
  if (!isWithin) return { kind: "wrong", worseBps: 0, unitsRatio, fault: `${moved}, bound ${threshold}` };
  const fault = unitsRatio > 1 ? { fault: `${moved}: used ${done.computeUnits} units, bound ${leg.computeUnits}` } : {};
  const [better, worse] =
    mode === "exactIn"
      ? [received - quote.outAmount, quote.outAmount - received]
      : [quote.inAmount - paid, paid - quote.inAmount];
  const quoted = mode === "exactIn" ? quote.outAmount : quote.inAmount;
  if (worse > 0n)
    return { kind: "worse, within its bound", worseBps: Number((worse * 10_000n) / quoted), unitsRatio, ...fault };
  return { kind: better > 0n ? "better" : "as quoted", worseBps: 0, unitsRatio, ...fault };
}
