import type { ChainHead } from "../chain/port.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { Intent } from "./intent.ts";
import type { Route, RouteStep } from "./quote/route.ts";

/**
 * One bound on the sum of a divided trade instead of one on each of its parts: a market that moved in the trade's favour may make up for
 * one that moved against it.
 */
export interface TotalGuard {
  /** What the temporary wrapped-SOL account must hold once all markets have traded. Lamports. */
  readonly amount: bigint;
  /** What a single market may give less than quoted: as much as the whole trade may. Lamports. */
  readonly allowance: bigint;
}

/** Data size of the temporary account. Bytes. */
const ACCOUNT_BYTES = 165;
/** Lamports the network takes for a token account at least: 165 bytes and 128 of overhead at the lowest price that SIMD-0437 allows. */
const LEAST_RENT = (165n + 128n) * 696n;
/** Largest part of the slippage that the guard may cost: it is tighter than slippage by the rent that may be lower. */
const MOST_TAKEN = 32n;

/**
 * The guard of a trade, if it can be proven and serves the caller: an exact input for SOL, which arrives wrapped from two
 * markets or more in the temporary account. That account is new in the transaction, so that nothing else can be in it but the
 * rent it was opened with. A caller knows of that rent only what it is at least: what is above counts as if it were output, so
 * the guard asks for as much more. Undefined if that would take a noticeable part of the slippage, or there is no such account:
 * then the bounds of the markets hold the sum.
 */
export function totalGuardOf(
  { mode, outMint }: Intent,
  route: Route,
  head: Pick<ChainHead, "rentExemption">,
): TotalGuard | undefined {
  if (mode !== "exactIn" || outMint.address !== SOL_MINT) return undefined;
  const last = route.steps.filter(({ quote }) => quote.outMint === SOL_MINT);
  if (last.length < 2 || last.some(({ hot }) => hot.market.nativeSol)) return undefined;
  const above = head.rentExemption(ACCOUNT_BYTES) - LEAST_RENT;
  const allowance = route.outAmount - route.threshold;
  if (above < 0n || above * MOST_TAKEN > allowance) return undefined;
  return { amount: route.threshold + above, allowance };
}

/** A step whose market may fall short by what the whole trade may. */
export function loosened(step: RouteStep, { allowance }: Pick<TotalGuard, "allowance">): RouteStep {
  const { outMint, outAmount } = step.quote;
  if (outMint !== SOL_MINT) return step;
  return { ...step, threshold: outAmount > allowance ? outAmount - allowance : 1n };
}

/** The route with the bounds that bytes with the guard have its markets enforce: they are wider. */
export function guardedRoute(route: Route): Route {
  const allowance = route.outAmount - route.threshold;
  return { ...route, steps: route.steps.map((step) => loosened(step, { allowance })) };
}
