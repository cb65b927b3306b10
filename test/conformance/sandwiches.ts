import { expect } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import type { Random } from "../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import {
  findSandwich,
  MOST_QUOTES,
  replay,
  type Sandwich,
  type Victim,
} from "../../src/trade/quote/worst-case/sandwich.ts";
import type { Ask, Market, MintPair, Quote, Replay, SwapMode, Venue } from "../../src/venues/venue.ts";
import type { Executed, Svm } from "../support/svm.ts";
import { readMarket } from "./trades.ts";

const SIGNATURE_FEE = 5_000n;
/** What a drawn size may gain beyond the said one: one in a hundred thousand, and a few units of rounding. */
const TOLERANCE = 100_000n;
const ROUNDING = 16n;
const FUNDS = 1n << 60n;
/** Smaller swaps have bounds that round to nothing. */
const LEAST_OUTPUT = 1_000n;

/** Trades around swaps on one market, as worst cases state them and as programs execute them. */
export interface SandwichPlan {
  readonly svm: Svm;
  readonly venue: Venue;
  /** Address of the market account. */
  readonly market: Address;
  readonly pair: MintPair;
  readonly random: Random;
  readonly victim: Address;
  readonly attacker: Address;
  /** Sizes drawn against the one that is said to gain the most. */
  readonly drawnSizes: number;
  /** True if the build at hand refuses an ask that the quoted one takes: it is searched, and not executed. */
  readonly refuses?: ((state: unknown, ask: Ask) => boolean) | undefined;
}

/** What is said of a swap; "none": no swap was drawn, "unknown": nothing is said. */
export type SandwichKind = Sandwich["kind"] | "none" | "unknown";

/** Several of them on one market, with wallets of their own. @returns how many of each kind */
export function checkSandwiches(
  plan: Pick<SandwichPlan, "svm" | "venue" | "market" | "random" | "refuses"> & {
    /** The pair it was found for; needed if the market account does not name its mints. */
    readonly pair?: MintPair;
    readonly count: number;
  },
): Partial<Record<SandwichKind, number>> {
  const { svm, venue, market, random, count, refuses } = plan;
  const { mints } = readMarket(svm, venue, market, plan.pair).market;
  const [victim, attacker] = [svm.newWallet(FUNDS), svm.newWallet(FUNDS)];
  const pair = { a: mints[0], b: mints[1] };
  const kinds: Partial<Record<SandwichKind, number>> = {};
  for (let trade = 0; trade < count; trade++) {
    const clock = svm.clock();
    const seconds = BigInt(random.pick([0, 1, 40, 700]));
    svm.setClock({ ...clock, slot: clock.slot + 4n * seconds, unixTimestamp: clock.unixTimestamp + seconds });
    const kind = checkSandwich({ svm, venue, market, pair, random, victim, attacker, drawnSizes: 40, refuses });
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  expect(kinds.unknown, `${venue.id} ${market}`).toBeUndefined();
  return kinds;
}

/**
 * Draws a swap and holds what its worst case says against the programs: the largest purchase after which it passes, to the base
 * unit; what the said purchase gains, to the base unit; and that no drawn size gains more.
 */
export function checkSandwich(plan: SandwichPlan): SandwichKind {
  const { svm, venue, pair, random, victim, attacker, drawnSizes } = plan;
  for (const mint of [pair.a, pair.b]) for (const wallet of [victim, attacker]) svm.setTokens(wallet, mint, FUNDS);
  // First trades each way make the accounts that wallets pay rent for.
  for (const wallet of [victim, attacker]) {
    for (const forwards of [true, false]) {
      const first = draw(plan, forwards);
      if (first === undefined) continue;
      const done = execute(plan, wallet, first.asked.state, first.asked.signed, first.threshold);
      expect(done.ok, `${first.what}: ${done.error} ${done.logs.slice(-3).join(" | ")}`).toBe(true);
    }
  }
  const drawn = draw(plan, random.chance(0.5));
  if (drawn === undefined) return "none";
  const { asked, what } = drawn;
  const { found, quotes } = search(asked);
  expect(quotes, what).toBeLessThanOrEqual(MOST_QUOTES);
  if (found === undefined) return "unknown";
  const said = found.kind === "profitable" ? found.taken : 0n;
  for (let size = 0; size < drawnSizes; size++) {
    const tried = random.magnitude(found.kind === "profitable" ? found.frontRun * 4n : asked.signed.inAmount * 4n);
    const gained = gainOf(asked, tried) ?? 0n;
    const least = said + said / TOLERANCE + ROUNDING;
    expect(gained <= least, `${what}: ${tried} gains ${gained}, said ${said}`).toBe(true);
  }
  checkLargest(plan, drawn);
  if (found.kind === "profitable" && isTaken(plan, asked, found.frontRun))
    expect(runAround(plan, drawn, found.frontRun), what).toBe(found.taken);
  expect(venue.id).toBe(asked.hot.venue.id);
  return found.kind;
}

/** True if the build at hand takes a purchase of `size`, the swap after it, and the sale after that. */
function isTaken(plan: SandwichPlan, asked: Victim, size: bigint): boolean {
  const { refuses } = plan;
  if (refuses === undefined) return true;
  const { state, inMint, outMint, hot } = asked;
  const purchase = exactIn(asked, inMint, outMint, size);
  if (refuses(state, purchase)) return false;
  const bought = hot.venue.quote(state, purchase);
  return !isSwapRefused(plan, asked, bought) && !refuses(state, exactIn(asked, outMint, inMint, bought.outAmount));
}

/** True if the build at hand refuses the swap after a purchase. */
function isSwapRefused({ refuses }: SandwichPlan, { hot, state, inMint, outMint, ask, clock }: Victim, bought: Quote) {
  if (refuses === undefined) return false;
  return refuses(hot.venue.traded!(state, bought, clock), {
    mode: ask.mode,
    inMint,
    outMint,
    amount: ask.amount,
    clock,
  });
}

const exactIn = ({ clock }: Victim, from: Address, to: Address, amount: bigint): Ask => {
  return { mode: "exactIn", inMint: from, outMint: to, amount, clock };
};

/** What trading around the swap with a purchase of `size` gains; undefined if the swap fails then, or nothing is for sale. */
function gainOf(asked: Victim, size: bigint): bigint | undefined {
  const { inMint, outMint } = asked;
  const { venue } = asked.hot;
  try {
    const after = afterSwap(asked, size);
    if (after === undefined) return undefined;
    const { bought, replayed } = after;
    const sold = venue.quote(replayed.left(), exactIn(asked, outMint, inMint, bought.outAmount));
    return sold.outAmount - bought.inAmount;
  } catch {
    return undefined;
  }
}

/** A purchase of `size` and the swap after it; undefined if either fails. */
function afterSwap(asked: Victim, size: bigint): { bought: Quote; replayed: Replay<unknown, unknown> } | undefined {
  const { hot, state, inMint, outMint, signed, ask, clock } = asked;
  const { venue } = hot;
  try {
    const bought = venue.quote(state, exactIn(asked, inMint, outMint, size));
    const between = venue.traded!(state, bought, clock);
    const swap: Ask = { mode: ask.mode, inMint, outMint, amount: ask.amount, clock };
    const replayed = replay(hot, between, signed, swap, ask.bound);
    const { inAmount, outAmount } = replayed.made;
    const isKept = ask.mode === "exactIn" ? outAmount >= ask.bound : inAmount <= ask.bound;
    return isKept ? { bought, replayed } : undefined;
  } catch {
    return undefined;
  }
}

/** The largest purchase after which the swap is said to pass: it passes after that one, and not after one of a unit more. */
function checkLargest(plan: SandwichPlan, { asked, threshold, what }: Drawn): void {
  const passesAt = (size: bigint) => afterSwap(asked, size) !== undefined || isTooSmall(asked, size);
  let [fits, breaks] = [0n, 1n];
  for (; passesAt(breaks); breaks *= 2n) fits = breaks;
  while (breaks - fits > 1n) {
    const middle = (fits + breaks) / 2n;
    if (passesAt(middle)) fits = middle;
    else breaks = middle;
  }
  for (const [size, passes] of [
    [fits, true],
    [breaks, false],
  ] as const) {
    const { venue } = asked.hot;
    if (plan.refuses?.(asked.state, exactIn(asked, asked.inMint, asked.outMint, size)) === true) continue;
    let bought: Quote;
    try {
      bought = venue.quote(asked.state, exactIn(asked, asked.inMint, asked.outMint, size));
    } catch {
      continue;
    }
    const both = [
      ...swapOf(plan, plan.attacker, asked.state, bought, 1n),
      ...swapOf(plan, plan.victim, asked.state, asked.signed, threshold),
    ];
    const done = plan.svm.simulate(plan.attacker, [setComputeUnitLimit(1_400_000), ...both]);
    if (isRefusedInOne(done)) return;
    // A launch that is sold out gives the rest for less; nothing can be sold to it after that.
    if (done.ok && !passes && isEndOfCurve(plan, asked, bought, both)) continue;
    const isMade = passes && !isSwapRefused(plan, asked, bought);
    expect(done.ok, `${what} after ${size}: ${done.error} ${done.logs.slice(-4).join(" | ")}`).toBe(isMade);
  }
}

/** True if what was bought cannot be sold after the swap. */
function isEndOfCurve(plan: SandwichPlan, asked: Victim, bought: Quote, both: readonly Instruction[]): boolean {
  const { inMint, outMint, state } = asked;
  const sold = asked.hot.venue.quote(state, exactIn(asked, outMint, inMint, bought.outAmount / 2n));
  const sale = swapOf(plan, plan.attacker, state, sold, 1n);
  return !plan.svm.simulate(plan.attacker, [setComputeUnitLimit(1_400_000), ...both, ...sale]).ok;
}

/** Programs of launches refuse a second instruction on their pool in one transaction; and some trades fill it alone. */
const isRefusedInOne = ({ logs }: Executed): boolean =>
  logs.some((line) => /single swap instruction|exceeded CUs|SingleSwap/i.test(line));

function isTooSmall(asked: Victim, size: bigint): boolean {
  try {
    asked.hot.venue.quote(asked.state, exactIn(asked, asked.inMint, asked.outMint, size));
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "VALIDATION_ERROR";
  }
}

function tokenAccount(svm: Svm, wallet: Address, mint: Address): Address {
  return associatedTokenAddress(wallet, mint, decodeMint(svm.get(mint)!).program);
}

/** What a wallet holds of a mint that it trades on the market. */
function held(svm: Svm, wallet: Address, market: Market, mint: Address): bigint {
  if (market.nativeSol && mint === SOL_MINT) return svm.lamports(wallet);
  return svm.tokens(tokenAccount(svm, wallet, mint));
}

/** The instructions of a swap exactly as they were signed. */
function swapOf(
  { svm, venue }: SandwichPlan,
  wallet: Address,
  state: unknown,
  quote: Quote,
  threshold: bigint,
): readonly Instruction[] {
  return venue.swap(state, quote, {
    wallet,
    source: tokenAccount(svm, wallet, quote.inMint),
    destination: tokenAccount(svm, wallet, quote.outMint),
    threshold,
    salt: 0,
    exists: (address) => svm.get(address) !== null,
  }).instructions;
}

function execute(plan: SandwichPlan, wallet: Address, state: unknown, quote: Quote, threshold: bigint): Executed {
  return plan.svm.send(wallet, [setComputeUnitLimit(1_400_000), ...swapOf(plan, wallet, state, quote, threshold)]);
}

function search(asked: Victim): { readonly found: Sandwich | undefined; readonly quotes: number } {
  let quotes = 0;
  const { venue } = asked.hot;
  const counting: Venue = {
    ...venue,
    quote(state, ask) {
      quotes++;
      return venue.quote(state, ask);
    },
  };
  const steps = findSandwich({ ...asked, hot: { ...asked.hot, venue: counting } });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return { found: value, quotes };
  }
}

interface Drawn {
  readonly asked: Victim;
  readonly threshold: bigint;
  readonly what: string;
}

/** A swap that moves the price by some percent, with a bound of one to five. */
function draw(
  { svm, venue, market: address, pair, random, refuses }: SandwichPlan,
  forwards: boolean,
): Drawn | undefined {
  const { market, state } = readMarket(svm, venue, address, pair);
  const [inMint, outMint] = forwards ? [pair.b, pair.a] : [pair.a, pair.b];
  const mode: SwapMode = random.chance(0.5) ? "exactIn" : "exactOut";
  const clock = svm.clock();
  const quoted = (amount: bigint, wanted: SwapMode) => {
    const ask: Ask = { mode: wanted, inMint, outMint, amount, clock };
    if (refuses?.(state, ask) === true) return undefined;
    try {
      return venue.quote(state, ask);
    } catch {
      return undefined;
    }
  };
  let amount = 1n << 10n;
  while (amount < 1n << 50n && (quoted(amount * 2n, "exactIn")?.priceImpact ?? (amount < 1n << 20n ? 0 : 1)) < 0.04)
    amount *= 2n;
  const size = quoted(amount, "exactIn");
  const signed = size && quoted(mode === "exactIn" ? size.inAmount : size.outAmount, mode);
  if (signed === undefined || signed.outAmount < LEAST_OUTPUT) return undefined;
  const slippagePercent = 1n + random.below(5n);
  const threshold =
    mode === "exactIn"
      ? (signed.outAmount * (100n - slippagePercent)) / 100n
      : (signed.inAmount * (100n + slippagePercent)) / 100n;
  const asks = venue.signedAsk?.(signed) ?? { mode, amount: mode === "exactIn" ? signed.inAmount : signed.outAmount };
  const hot = { venue, market, state, slot: 0n };
  const ask = { ...asks, bound: asks.bound ?? threshold };
  const what = `${mode} ${signed.inAmount} of ${inMint} at ${slippagePercent} % on ${address}`;
  return { asked: { hot, state, inMint, outMint, signed, ask, clock }, threshold, what };
}

/** Executes the purchase, the swap as it was signed, and the sale. @returns what the attacker has gained */
function runAround(plan: SandwichPlan, { asked, threshold, what }: Drawn, size: bigint): bigint {
  const { svm, victim, attacker } = plan;
  const { hot, state, inMint, outMint, signed, ask } = asked;
  const { venue, market } = hot;
  const heldBy = (wallet: Address, mint: Address) => held(svm, wallet, market, mint);
  const run = (wallet: Address, on: unknown, quote: Quote, bound: bigint) => {
    const done = execute(plan, wallet, on, quote, bound);
    expect(done.ok, `${what}: ${done.error} ${done.logs.slice(-3).join(" | ")}`).toBe(true);
  };
  const [inBefore, outBefore] = [heldBy(attacker, inMint), heldBy(attacker, outMint)];
  const bought = venue.quote(state, exactIn(asked, inMint, outMint, size));
  run(attacker, state, bought, bought.outAmount);

  const [paidBefore, gotBefore] = [heldBy(victim, inMint), heldBy(victim, outMint)];
  run(victim, state, signed, threshold);
  const fee = market.nativeSol && inMint === SOL_MINT ? SIGNATURE_FEE : 0n;
  const feeOut = market.nativeSol && outMint === SOL_MINT ? SIGNATURE_FEE : 0n;
  if (ask.mode === "exactIn")
    expect(heldBy(victim, outMint) + feeOut - gotBefore, what).toBeGreaterThanOrEqual(ask.bound);
  else expect(paidBefore - heldBy(victim, inMint) - fee, what).toBeLessThanOrEqual(ask.bound);

  const rest = heldBy(attacker, outMint) + feeOut - outBefore;
  const now = readMarket(svm, venue, market.address, { a: inMint, b: outMint }).state;
  const sold = venue.quote(now, exactIn(asked, outMint, inMint, rest));
  run(attacker, now, sold, sold.outAmount);
  return heldBy(attacker, inMint) + 2n * fee - inBefore;
}
