import type { SearchCaller } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SignedAsk, SwapMode } from "../../../venues/venue.ts";
import type { MarketWorstCase, WorstCase } from "../../trade.ts";
import type { Route, RouteStep } from "../route.ts";
import { findSandwich, type Sandwich, type Victim } from "./sandwich.ts";

/** What computing worst cases needs besides the route. */
export interface WorstCasePorts {
  /**
   * Waits for the caller's turn. @returns how to end the turn, which must follow
   * @throws TradewireError RATE_LIMIT_EXCEEDED, OVERLOADED
   */
  readonly turn: (caller: SearchCaller | undefined) => Promise<() => void>;
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
}

/**
 * Makes a call that asks for worst cases, in the caller's turn. It runs without them first, so that accounts are read by then and
 * refused calls take no turn.
 *
 * @param call receives whether worst cases are asked for
 * @throws TradewireError as `call`; also RATE_LIMIT_EXCEEDED, OVERLOADED
 */
export async function inTurn<T>(
  { turn }: WorstCasePorts,
  caller: SearchCaller | undefined,
  call: (worstCase: boolean) => T | Promise<T>,
): Promise<T> {
  await call(false);
  const end = await turn(caller);
  try {
    return await call(true);
  } finally {
    end();
  }
}

/**
 * The worst that the signed bytes of a route allow, and what an attacker could take of it by trading around each of its markets.
 * Pauses after each probe, so that builds go on beside it: one takes microseconds on a pool with reserves, milliseconds on many bins.
 */
export async function worstCaseOf(
  { pause }: WorstCasePorts,
  route: Route,
  mode: SwapMode,
  clock: ChainClock,
): Promise<WorstCase> {
  const search = searchWorstCase(route, mode, clock);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value;
    await pause();
  }
}

/** The same in steps: yields after each probe. */
function* searchWorstCase(route: Route, mode: SwapMode, clock: ChainClock): Generator<undefined, WorstCase> {
  const markets: MarketWorstCase[] = [];
  const states = route.steps.map(({ hot }) => hot.state);
  for (const [at, step] of route.steps.entries()) {
    markets.push(yield* marketWorstCase(step, states[at], clock));
    leaveToLater(route.steps, states, at);
  }
  const amount = mode === "exactIn" ? route.threshold : mostInput(route);
  const loss = mode === "exactIn" ? route.outAmount - amount : amount - route.inAmount;
  return { amount, loss, markets };
}

/** Applies the step's trade to the markets that come after it: some share vaults. */
function leaveToLater(steps: readonly RouteStep[], states: unknown[], at: number): void {
  const { hot, quote } = steps[at]!;
  const { venue } = hot;
  if (venue.after === undefined) return;
  for (let later = at + 1; later < steps.length; later++)
    if (steps[later]!.hot.venue === venue) states[later] = venue.after(states[at], quote, states[later]);
}

/** The most input of an exact output: swaps that sell a fixed input take no more than was quoted. */
function mostInput({ steps, threshold }: Route): bigint {
  const { inMint } = steps[0]!.quote;
  let most = 0n;
  for (const step of steps) {
    if (step.quote.inMint !== inMint) continue;
    const { mode, amount, bound } = signedAskOf(step);
    most += mode === "exactIn" ? amount : bound;
  }
  return most < threshold ? most : threshold;
}

function signedAskOf({ hot, quote, threshold }: RouteStep): SignedAsk & { readonly bound: bigint } {
  const { mode, inAmount, outAmount } = quote;
  const asked = hot.venue.signedAsk?.(quote) ?? { mode, amount: mode === "exactIn" ? inAmount : outAmount };
  return { ...asked, bound: asked.bound ?? threshold };
}

function* marketWorstCase(step: RouteStep, state: unknown, clock: ChainClock): Generator<undefined, MarketWorstCase> {
  const { hot, quote } = step;
  const { inMint, outMint } = quote;
  const ask = signedAskOf(step);
  const victim: Victim = { hot, state, inMint, outMint, signed: quote, ask, clock };
  const named = { venue: hot.venue.id, market: hot.market.address, inMint, outMint, mode: ask.mode, bound: ask.bound };
  return { ...named, ...attackOf(yield* findSandwich(victim), hot.venue.id) };
}

function attackOf(
  found: Sandwich | undefined,
  venue: string,
): Pick<MarketWorstCase, "attack" | "frontRun" | "taken" | "reason"> {
  if (found === undefined) {
    return {
      attack: "unknown",
      reason: `What a trade leaves of this ${venue} market is not computed; the bound holds all the same.`,
    };
  }
  switch (found.kind) {
    case "profitable":
      return { attack: "profitable", frontRun: found.frontRun, taken: found.taken };
    case "unprofitable":
      return { attack: "unprofitable", frontRun: 0n, taken: 0n };
    case "impossible":
      return {
        attack: "impossible",
        reason: `What is bought before the trade cannot be sold after it: ${found.reason}`,
      };
  }
}
