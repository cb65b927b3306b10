import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { Address } from "../../src/primitives/address.ts";
import type { Random } from "../../src/primitives/random.ts";
import type { Account, AccountView } from "../../src/solana/account.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import { creationCalls, GROWTH_CALLS } from "../../src/trade/build/parts/compute-units.ts";
import { classifyFailure, parseProgramFailure } from "../../src/trade/submit/outcome/program-failure.ts";
import {
  type Ask,
  type Market,
  type MintPair,
  type Quote,
  rentOfGrowth,
  type SwapMode,
  type Venue,
} from "../../src/venues/venue.ts";
import { checkOnSvm } from "../support/shadow-check.ts";
import type { Executed, Svm } from "../support/svm.ts";
import { type ReadAccounts, recordExecution } from "./execution-record.ts";
import { recordRun } from "./run-record.ts";

/** The outcome of one requested trade. */
export interface TradeOutcome {
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly amount: bigint;
  /** The refusal of the quote, if there was one. */
  readonly refused: string | undefined;
  readonly quoted: { readonly inAmount: bigint; readonly outAmount: bigint } | undefined;
  readonly executed: { readonly inAmount: bigint; readonly outAmount: bigint } | undefined;
  readonly failure: string | undefined;
  /** Lamports of rent: announced by the leg, and paid by the wallet. */
  readonly rent: { readonly said: bigint; readonly paid: bigint };
  readonly computeUnits: number;
  readonly computeUnitBound: number;
  /** Instructions that programs called, and their bound. */
  readonly calls: number;
  readonly callBound: number;
  readonly transactionBytes: number;
  /** Code the program's refusal of a bound one unit too tight maps to; undefined if not tried. */
  readonly guard: string | undefined;
  /** How the state that the venue says the trade leaves differs from the one on the chain; undefined if it does not. */
  readonly left?: string | undefined;
}

export interface TradePlan {
  readonly svm: Svm;
  readonly venue: Venue;
  /** Address of the market account. */
  readonly market: Address;
  /** The pair it was found for; needed if the market account does not name its mints. */
  readonly pair?: MintPair;
  readonly wallet: Address;
  readonly random: Random;
  readonly count: number;
  /** Largest amount to request of a mint, inclusive: sizes spread over orders of magnitude from 1 up to it. */
  readonly limit: (mint: Address, mode: SwapMode) => bigint;
  /** Called before each trade, to move clocks or refill the wallet. */
  readonly before?: (index: number) => void;
  /** Check the market by shadow execution after the trades (default true). */
  readonly shadow?: boolean;
  /** Try a bound one unit too tight before each trade (default true). */
  readonly guards?: boolean;
  /** Seconds after which a trade may land instead: its units are the most that it takes then or at once (default: at once alone). */
  readonly landsAfter?: readonly number[];
}

/** For venues whose market accounts name their own mints. */
const NO_PAIR: MintPair = { a: SYSTEM_PROGRAM, b: SYSTEM_PROGRAM };

/** Reads everything `venue` needs for a market, round by round as the market layer does. @throws Error after more than three rounds */
export function readMarket<M extends Market, S>(
  svm: AccountView,
  venue: Venue<M, S>,
  address: Address,
  pair: MintPair = NO_PAIR,
): { market: M; state: S; rounds: number; accounts: ReadAccounts } {
  const account = svm.get(address);
  const market = account ? venue.decode(account, pair) : undefined;
  if (market === undefined) throw new Error(`${address} is not a market of ${venue.id}`);
  const known = new Map<Address, Account | null>([[address, account ?? null]]);
  const view: AccountView = { get: (key) => known.get(key) };
  let rounds = 1;
  for (let missing = venue.needs(market, view); missing.length > 0; missing = venue.needs(market, view)) {
    if (++rounds > 3) throw new Error(`${venue.id} ${address} needs more than three rounds of reads`);
    for (const key of missing) known.set(key, svm.get(key) ?? null);
  }
  return { market, state: venue.read(market, view), rounds, accounts: known };
}

/**
 * Makes seeded random trades one after another on one market, state re-read from the chain before each: quote, build,
 * execute, and compare the changes of the wallet's balances with the quote.
 * The wallet's token accounts are created and funded by the caller (wrapped SOL too).
 */
export function runTrades(plan: TradePlan): TradeOutcome[] {
  const outcomes = Array.from({ length: plan.count }, (_, index) => {
    plan.before?.(index);
    return runTrade(plan);
  });
  const { trades, refused, maxUnits, worstUnitRatio, maxBytes } = judge(outcomes);
  const guards = outcomes.map(({ guard }) => guard).filter((guard) => guard !== undefined);
  recordRun({
    venue: plan.venue.id,
    asked: outcomes.length,
    executed: trades,
    refused,
    mismatches: judge(outcomes.map((outcome) => ({ ...outcome, guard: undefined }))).faults.length,
    guards: guards.length,
    guardsHeld: guards.filter((guard) => guard === "SLIPPAGE_EXCEEDED").length,
    maxUnits,
    worstUnitRatio,
    unitRatios: unitRatiosOf(outcomes),
    build: plan.venue.programs.map((id) => plan.svm.programFile(id)).find((file) => file !== undefined) ?? "",
    maxBytes,
  });
  if (plan.shadow !== false) requireShadowAgrees(plan);
  return outcomes;
}

/** How many executed trades have each ratio of bound to use, in hundredths rounded up. */
function unitRatiosOf(outcomes: readonly TradeOutcome[]): Record<number, number> {
  const ratios: Record<number, number> = {};
  for (const { executed, computeUnits, computeUnitBound } of outcomes) {
    if (executed === undefined) continue;
    const hundredths = Math.ceil((100 * computeUnitBound) / computeUnits);
    ratios[hundredths] = (ratios[hundredths] ?? 0) + 1;
  }
  return ratios;
}

/** Shadow execution of the market as the trades left it must find nothing: it withholds what differs. @throws Error if it does */
function requireShadowAgrees({ svm, venue, market: address, pair = NO_PAIR, random }: TradePlan): void {
  const { mints } = readMarket(svm, venue, address, pair).market;
  const answer = checkOnSvm({ svm, venue, market: address, pair: { a: mints[0], b: mints[1] }, turn: random.u32() });
  if (answer.kind === "checked" && answer.differences.length > 0)
    throw new Error(`shadow execution of ${venue.id} ${address} differs: ${answer.differences.join(" | ")}`);
  if (answer.kind !== "checked") console.log(`shadow execution of ${venue.id} ${address}: ${JSON.stringify(answer)}`);
}

function runTrade({
  svm,
  venue,
  market: address,
  pair,
  wallet,
  random,
  limit,
  guards = true,
  landsAfter = [],
}: TradePlan): TradeOutcome {
  const { market, state, accounts } = readMarket(svm, venue, address, pair);
  const forwards = random.chance(0.5);
  const [inMint, outMint] = forwards ? market.mints : [market.mints[1], market.mints[0]];
  const mode: SwapMode = venue.supports.exactOut && random.chance(0.5) ? "exactOut" : "exactIn";
  const amount = random.magnitude(limit(mode === "exactIn" ? inMint : outMint, mode));
  const base = {
    mode,
    inMint,
    amount,
    executed: undefined,
    failure: undefined,
    rent: { said: 0n, paid: 0n },
    computeUnits: 0,
    computeUnitBound: 0,
    calls: 0,
    callBound: 0,
    transactionBytes: 0,
  };

  const quote = quoteOrRefusal(venue, state, { mode, inMint, outMint, amount, clock: svm.clock() });
  if (typeof quote === "string") return { ...base, refused: quote, quoted: undefined, guard: undefined };
  const source = tokenAccount(svm, wallet, inMint);
  const destination = tokenAccount(svm, wallet, outMint);
  const exists = (key: Address): boolean => svm.get(key) !== null;
  const terms = (threshold: bigint) => ({ wallet, source, destination, threshold, salt: random.u32(), exists });
  const threshold = mode === "exactIn" ? quote.outAmount : quote.inAmount;
  const leg = venue.swap(state, quote, terms(threshold));

  const tight = mode === "exactIn" ? threshold + 1n : threshold - 1n;
  const tryGuard = (): string => {
    const refused = svm.simulate(wallet, withBudget(venue.swap(state, quote, terms(tight)).instructions, 1_400_000));
    return refused.ok ? "NOT_REFUSED" : failureCode(refused, venue);
  };
  const guard = guards && tight > 0n ? tryGuard() : undefined;

  const before = balances(svm, market, wallet, inMint, outMint, leg.creates);
  const walletBefore = svm.lamports(wallet);
  const instructions = withBudget(leg.instructions, 1_400_000);
  const isNew = new Set(accountsOf(leg.instructions).filter((address) => svm.get(address) === null));
  const growths = leg.grows ?? [];
  const later = landsAfter.map((seconds) => unitsAfter(svm, wallet, instructions, seconds));
  const done = svm.send(wallet, instructions);
  const after = balances(svm, market, wallet, inMint, outMint, leg.creates);
  const rentExemption = (space: number) => svm.rent(space);
  // What an account that grew holds as rent is what its size takes, unless it held more before.
  const grown = growths
    .filter(({ address, from }) => (svm.get(address)?.data.length ?? 0) > from)
    .reduce((sum, growth) => sum + rentOfGrowth(growth, rentExemption), 0n);
  const said = done.ok ? venue.traded?.(state, quote, svm.clock()) : undefined;
  const found = said === undefined ? undefined : readMarket(svm, venue, address, pair);
  const left = found === undefined ? undefined : leftDifference(venue, said, found.state, quote, { svm, wallet });
  const executed = done.ok
    ? {
        inAmount: before.in - after.in - (market.nativeSol && inMint === SOL_MINT ? SIGNATURE_FEE + grown : 0n),
        outAmount: after.out - before.out + (market.nativeSol && outMint === SOL_MINT ? SIGNATURE_FEE + grown : 0n),
      }
    : undefined;
  const computeUnits = done.computeUnits - BUDGET_UNITS;
  if (executed !== undefined) {
    const ask = { mode, inMint, outMint, amount, clock: svm.clock() };
    const ends = { wallet, source, destination, absent: isNew, before: accounts, after: found?.accounts };
    recordExecution({ market, ask, moved: executed, units: computeUnits, ...ends });
  }
  return {
    ...base,
    left,
    refused: undefined,
    quoted: { inAmount: quote.inAmount, outAmount: quote.outAmount },
    executed,
    failure: done.ok ? undefined : `${done.error}\n${done.logs.slice(-6).join("\n")}`,
    rent: {
      said:
        leg.creates.reduce((sum, { space }) => sum + svm.rent(space), 0n) +
        growths.reduce((sum, growth) => sum + rentOfGrowth(growth, rentExemption), 0n),
      // Where lamports are traded, they and the rent leave together: the balances of the new accounts separate them.
      paid: !done.ok
        ? 0n
        : market.nativeSol
          ? rentOf(svm, [...isNew]) + grown
          : walletBefore - svm.lamports(wallet) - SIGNATURE_FEE,
    },
    computeUnits: Math.max(computeUnits, ...later),
    computeUnitBound: leg.computeUnits,
    calls: done.calls,
    callBound: leg.creates.reduce(
      (sum, { address, space }) => (isNew.has(address) ? sum + creationCalls(space, false) : sum),
      (venue.calls ?? 0) + GROWTH_CALLS * growths.length,
    ),
    transactionBytes: svm.wire(wallet, instructions).length,
    guard,
  };
}

/** What the same instructions would take so many seconds later; 0 if they would fail. */
function unitsAfter(svm: Svm, wallet: Address, instructions: readonly Instruction[], seconds: number): number {
  const clock = svm.clock();
  svm.setClock({ ...clock, unixTimestamp: clock.unixTimestamp + BigInt(seconds) });
  const { ok, computeUnits } = svm.simulate(wallet, instructions);
  svm.setClock(clock);
  return ok ? computeUnits - BUDGET_UNITS : 0;
}

/** Compares what a venue says a trade leaves with what it left: quotes of about its size, either way. */
function leftDifference(
  venue: Venue,
  said: unknown,
  found: unknown,
  made: Quote,
  trader: Pick<TradePlan, "svm" | "wallet">,
): string | undefined {
  if (said === undefined) return undefined;
  const clock = trader.svm.clock();
  const sizes = [made.inAmount, made.inAmount / 3n + 1n];
  const back = [made.outAmount, made.outAmount / 7n + 1n];
  const asks: Ask[] = [
    ...sizes.map((amount) => ({ mode: "exactIn" as const, inMint: made.inMint, outMint: made.outMint, amount, clock })),
    ...back.map((amount) => ({ mode: "exactIn" as const, inMint: made.outMint, outMint: made.inMint, amount, clock })),
  ];
  if (venue.supports.exactOut)
    asks.push({ mode: "exactOut", inMint: made.inMint, outMint: made.outMint, amount: back[1]!, clock });
  for (const ask of asks) {
    const [expected, actual] = [said, found].map((state) => {
      const answer = quoteOrRefusal(venue, state, ask);
      return typeof answer === "string" ? answer : show(answer);
    });
    // Ticks beyond those that were read may end a quote on the state that is said.
    if (venue.arrayNumbers !== undefined && expected?.startsWith("INSUFFICIENT_LIQUIDITY")) continue;
    // A state that is said keeps ticks that are no longer read once the price has left them: the program shows whether its quote holds.
    if (venue.arrayNumbers !== undefined && actual?.startsWith("INSUFFICIENT_LIQUIDITY")) {
      if (executesExactly(venue, said, ask, trader)) continue;
    }
    if (expected !== actual) return `${ask.mode} ${ask.amount} of ${ask.inMint}: said ${expected}, found ${actual}`;
  }
  return undefined;
}

/** True if the program makes the trade as a state quotes it, and refuses a bound one unit tighter. */
function executesExactly(
  venue: Venue,
  state: unknown,
  ask: Ask,
  { svm, wallet }: Pick<TradePlan, "svm" | "wallet">,
): boolean {
  const quote = quoteOrRefusal(venue, state, ask);
  if (typeof quote === "string") return false;
  const exactIn = ask.mode === "exactIn";
  const bound = exactIn ? quote.outAmount : quote.inAmount;
  const [source, destination] = [tokenAccount(svm, wallet, ask.inMint), tokenAccount(svm, wallet, ask.outMint)];
  const run = (threshold: bigint): Executed => {
    const terms = { wallet, source, destination, threshold, salt: 0, exists: (key: Address) => svm.get(key) !== null };
    return svm.simulate(wallet, withBudget(venue.swap(state, quote, terms).instructions, 1_400_000));
  };
  const tighter = run(exactIn ? bound + 1n : bound - 1n);
  return run(bound).ok && !tighter.ok && failureCode(tighter, venue) === "SLIPPAGE_EXCEEDED";
}

/** The quote, or the venue's refusal in words. */
function quoteOrRefusal(venue: Venue, state: unknown, ask: Ask): Quote | string {
  try {
    return venue.quote(state, ask);
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

/** Fee per signature. Lamports. */
const SIGNATURE_FEE = 5_000n;

/** Units the compute-budget instruction itself uses. */
const BUDGET_UNITS = 150;

const withBudget = (instructions: readonly Instruction[], units: number): Instruction[] => [
  setComputeUnitLimit(units),
  ...instructions,
];

const failureCode = (executed: Executed, venue: Venue): string => {
  const failure = parseProgramFailure(executed.logs);
  return failure === undefined ? executed.error : classifyFailure(failure, [venue]);
};

function tokenAccount(svm: Svm, wallet: Address, mint: Address): Address {
  const account = svm.get(mint);
  if (account === null) throw new Error(`no mint ${mint}`);
  return associatedTokenAddress(wallet, mint, decodeMint(account).program);
}

const accountsOf = (instructions: readonly Instruction[]): Address[] => [
  ...new Set(instructions.flatMap(({ accounts }) => accounts.map(({ address }) => address))),
];

/** Rent of the accounts that exist. */
function rentOf(svm: Svm, addresses: readonly Address[]): bigint {
  return addresses.reduce((sum, address) => {
    const account = svm.get(address);
    return account === null ? sum : sum + svm.rent(account.data.length);
  }, 0n);
}

/** The wallet's balances of both sides. Native SOL counts its lamports plus the rent that the trade put into new accounts. */
function balances(
  svm: Svm,
  market: Market,
  wallet: Address,
  inMint: Address,
  outMint: Address,
  creates: readonly { readonly address: Address; readonly space: number }[],
): { in: bigint; out: bigint } {
  const held = (mint: Address): bigint => {
    if (!(market.nativeSol && mint === SOL_MINT)) return svm.tokens(tokenAccount(svm, wallet, mint));
    const rent = creates.reduce(
      (sum, { address, space }) => sum + (svm.lamports(address) > 0n ? svm.rent(space) : 0n),
      0n,
    );
    return svm.lamports(wallet) + rent;
  };
  return { in: held(inMint), out: held(outMint) };
}

/** The figures of a run, and a sentence for each outcome that breaks a promise. */
export function judge(outcomes: readonly TradeOutcome[]): {
  trades: number;
  refused: number;
  faults: string[];
  maxUnits: number;
  worstUnitRatio: number;
  maxBytes: number;
} {
  const faults: string[] = [];
  let refused = 0;
  let maxUnits = 0;
  let worstUnitRatio = 0;
  let maxBytes = 0;
  for (const [index, outcome] of outcomes.entries()) {
    const what = `#${index} ${outcome.mode} ${outcome.amount} of ${outcome.inMint} in`;
    if (outcome.refused !== undefined) {
      refused++;
      continue;
    }
    if (outcome.executed === undefined) faults.push(`${what}: failed: ${outcome.failure}`);
    else if (
      outcome.executed.inAmount !== outcome.quoted!.inAmount ||
      outcome.executed.outAmount !== outcome.quoted!.outAmount
    ) {
      faults.push(`${what}: quoted ${show(outcome.quoted!)}, executed ${show(outcome.executed)}`);
    } else {
      if (outcome.rent.said !== outcome.rent.paid)
        faults.push(`${what}: said ${outcome.rent.said} lamports of rent, paid ${outcome.rent.paid}`);
      if (outcome.computeUnits > outcome.computeUnitBound) {
        faults.push(`${what}: used ${outcome.computeUnits} compute units, bound ${outcome.computeUnitBound}`);
      }
      if (outcome.calls > outcome.callBound)
        faults.push(`${what}: its programs called ${outcome.calls} instructions, bound ${outcome.callBound}`);
      maxUnits = Math.max(maxUnits, outcome.computeUnits);
      worstUnitRatio = Math.max(worstUnitRatio, outcome.computeUnitBound / outcome.computeUnits);
      maxBytes = Math.max(maxBytes, outcome.transactionBytes);
    }
    if (outcome.left !== undefined) faults.push(`${what}: leaves another state: ${outcome.left}`);
    if (outcome.guard !== undefined && outcome.guard !== "SLIPPAGE_EXCEEDED")
      faults.push(`${what}: a bound one unit too tight gave ${outcome.guard}`);
  }
  return { trades: outcomes.length - refused, refused, faults, maxUnits, worstUnitRatio, maxBytes };
}

const show = ({ inAmount, outAmount }: { readonly inAmount: bigint; readonly outAmount: bigint }): string =>
  `${inAmount} → ${outAmount}`;
