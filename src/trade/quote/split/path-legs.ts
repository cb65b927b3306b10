import type { Address } from "../../../primitives/address.ts";
import { minOf } from "../../../primitives/integer.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { RouteLeg } from "../../trade.ts";
import type { RouteStep } from "../route.ts";

/** What is left of a market's trade to be given to paths. */
interface Rest {
  readonly step: RouteStep;
  in: bigint;
  out: bigint;
  /** What it passes on for certain (exactIn), or may take (exactOut). */
  given: bigint;
  taken: bigint;
}

/**
 * The parallel paths of a route, one after another: every path leads from the input to the output, and the amounts of a
 * market that several paths share add up to its trade.
 *
 * @param steps in order of execution
 */
export function pathsOfSteps(
  mode: SwapMode,
  steps: readonly RouteStep[],
  inMint: Address,
  outMint: Address,
): readonly RouteLeg[] {
  const rests = steps.map(
    (step): Rest => ({
      step,
      in: step.quote.inAmount,
      out: step.quote.outAmount,
      given: mode === "exactIn" ? step.threshold : step.quote.outAmount,
      taken: mode === "exactIn" ? step.quote.inAmount : step.threshold,
    }),
  );
  const legs: RouteLeg[] = [];
  for (let path = 0; path < steps.length; path++) {
    const chain = nextChain(rests, inMint, outMint);
    if (chain === undefined) break;
    for (const leg of takePath(chain)) legs.push({ ...leg, path });
  }
  return withShares(withCrumbs(legs, rests), mode);
}

const BILLION = 1_000_000_000n;

/** Adds to each leg what its path carries of the exact side; nothing if there is one path. */
function withShares(legs: readonly RouteLeg[], mode: SwapMode): readonly RouteLeg[] {
  const ends = legs.filter(({ path }, index) => legs[mode === "exactIn" ? index - 1 : index + 1]?.path !== path);
  if (ends.length < 2) return legs;
  const amountOf = ({ inAmount, outAmount }: RouteLeg) => (mode === "exactIn" ? inAmount : outAmount);
  const total = ends.reduce((sum, leg) => sum + amountOf(leg), 0n);
  return legs.map((leg) => {
    const end = ends.find(({ path }) => path === leg.path)!;
    return { ...leg, sharePpb: Number((amountOf(end) * BILLION) / total) };
  });
}

/** Gives what rounding left of a market to the last path over it. */
function withCrumbs(legs: readonly RouteLeg[], rests: readonly Rest[]): readonly RouteLeg[] {
  const left = rests.filter((rest) => rest.in > 0n || rest.out > 0n);
  if (left.length === 0) return legs;
  return legs.map((leg, index) => {
    const crumb = left.find(({ step }) => step.hot.market.address === leg.market);
    if (crumb === undefined || legs.findLastIndex(({ market }) => market === leg.market) !== index) return leg;
    return { ...leg, inAmount: leg.inAmount + crumb.in, outAmount: leg.outAmount + crumb.out };
  });
}

/** Markets in a row that still have something to give, the largest first. */
function nextChain(rests: readonly Rest[], inMint: Address, outMint: Address): Rest[] | undefined {
  const chain: Rest[] = [];
  let mint = inMint;
  while (mint !== outMint) {
    let next: Rest | undefined;
    for (const rest of rests) {
      if (rest.step.quote.inMint !== mint || rest.in === 0n) continue;
      if (next === undefined || rest.in > next.in) next = rest;
    }
    if (next === undefined) return undefined;
    chain.push(next);
    mint = next.step.quote.outMint;
  }
  return chain;
}

/** Takes as much along a chain as all of it can carry. */
function takePath(chain: readonly Rest[]): Omit<RouteLeg, "path">[] {
  // The part of each market, as what it takes; found forwards, then cut back where a later market takes less.
  const parts = chain.map(({ taken }) => taken);
  for (let index = 1; index < chain.length; index++) {
    const before = chain[index - 1]!;
    const arriving = share(before.given, parts[index - 1]!, before.taken);
    parts[index] = minOf(parts[index]!, arriving);
  }
  for (let index = chain.length - 1; index > 0; index--) {
    const before = chain[index - 1]!;
    const arriving = share(before.given, parts[index - 1]!, before.taken);
    if (parts[index]! < arriving) parts[index - 1] = ceilShare(before.taken, parts[index]!, before.given);
  }
  return chain.map((rest, index) => {
    const part = parts[index]!;
    const whole = rest.taken;
    const [inAmount, outAmount] = [share(rest.in, part, whole), share(rest.out, part, whole)];
    const given = share(rest.given, part, whole);
    rest.in -= inAmount;
    rest.out -= outAmount;
    rest.given -= given;
    rest.taken -= part;
    const { hot, quote } = rest.step;
    return {
      venue: hot.venue.id,
      market: hot.market.address,
      inMint: quote.inMint,
      outMint: quote.outMint,
      inAmount,
      outAmount,
    };
  });
}

const share = (amount: bigint, part: bigint, whole: bigint) => (part === whole ? amount : (amount * part) / whole);
const ceilShare = (amount: bigint, part: bigint, whole: bigint) =>
  part === whole ? amount : (amount * part + whole - 1n) / whole;

/** Price impacts are rounded to twelve decimals. */
const IMPACT_PARTS = 1e12;

/** The price impact of a route: along its paths, weighed by what each carries. Fraction. */
export function impactOf(steps: readonly RouteStep[], inMint: Address, outMint: Address): number {
  // What is left of the price on arrival at a mint, weighed by what arrives there.
  const kept = new Map<Address, { kept: number; weight: number }>([[inMint, { kept: 1, weight: 1 }]]);
  const totals = new Map<Address, number>();
  for (const { quote } of steps) {
    totals.set(quote.inMint, (totals.get(quote.inMint) ?? 0) + Number(quote.inAmount));
  }
  for (const { quote } of steps) {
    const from = kept.get(quote.inMint) ?? { kept: 1, weight: 1 };
    const weight = (from.weight * Number(quote.inAmount)) / totals.get(quote.inMint)!;
    const at = kept.get(quote.outMint) ?? { kept: 0, weight: 0 };
    const sum = at.weight + weight;
    const arriving = from.kept * (1 - quote.priceImpact);
    kept.set(quote.outMint, { kept: (at.kept * at.weight + arriving * weight) / sum, weight: sum });
  }
  return Math.round((1 - kept.get(outMint)!.kept) * IMPACT_PARTS) / IMPACT_PARTS;
}
