import type { Address } from "../../../primitives/address.ts";
import { ceilDiv, minOf } from "../../../primitives/integer.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { RouteLeg } from "../../trade.ts";
import type { RouteStep } from "../route.ts";

/** Fractions of a base unit for dividing amounts among paths: whole units are cheaper, but several paths may share a single one. */
const WHOLE = 1n;
const FINE = 1n << 64n;

/** The part of a market's trade not yet assigned to paths. Fractions of base units. */
interface Rest {
  readonly step: RouteStep;
  in: bigint;
  out: bigint;
  /** What it passes on for certain (exactIn), or may take (exactOut). */
  given: bigint;
  taken: bigint;
  /** True if no path leads over it yet. */
  isNew: boolean;
}

/** A leg with the amount that its path carries there. Fractions of base units. */
interface CarriedLeg {
  readonly leg: RouteLeg;
  readonly in: bigint;
  readonly out: bigint;
}

/**
 * The parallel paths of a route, one after another: every path leads from the input to the output, every market is on one, and the amounts
 * of a market that several paths share add up to its trade. If the trade is only a few base units, some of its paths may carry none.
 *
 * @param steps in order of execution
 */
export function pathsOfSteps(
  mode: SwapMode,
  steps: readonly RouteStep[],
  inMint: Address,
  outMint: Address,
): readonly RouteLeg[] {
  const ends = { mode, inMint, outMint };
  return pathsIn(WHOLE, ends, steps) ?? pathsIn(FINE, ends, steps)!;
}

interface PathEnds {
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly outMint: Address;
}

/** The paths, divided in such fractions of a base unit; undefined if whole units leave a market without a path, or all without a share. */
function pathsIn(
  parts: bigint,
  { mode, inMint, outMint }: PathEnds,
  steps: readonly RouteStep[],
): readonly RouteLeg[] | undefined {
  const rests = steps.map((step): Rest => {
    const { quote, threshold } = step;
    const { inAmount, outAmount } = quote;
    return {
      step,
      in: inAmount * parts,
      out: outAmount * parts,
      given: (mode === "exactIn" ? threshold : outAmount) * parts,
      taken: (mode === "exactIn" ? inAmount : threshold) * parts,
      isNew: true,
    };
  });
  const carried: CarriedLeg[] = [];
  for (let path = 0; path < steps.length; path++) {
    const chain = nextChain(rests, inMint, outMint);
    if (chain === undefined) break;
    const isAnyNew = rests.some(({ isNew }) => isNew);
    const taken = takePath(chain, path, parts, isAnyNew);
    if (taken === undefined) break;
    carried.push(...taken);
  }
  if (parts === WHOLE && rests.some(({ isNew }) => isNew)) return undefined;
  const legs = withShares(carried, mode);
  return legs === undefined ? undefined : withCrumbs(legs, rests, parts);
}

const BILLION = 1_000_000_000n;

/** Adds to each leg the share of the exact side that its path carries; nothing if there is one path. Undefined if none carries any. */
function withShares(carried: readonly CarriedLeg[], mode: SwapMode): readonly RouteLeg[] | undefined {
  const ends = carried.filter(
    ({ leg }, index) => carried[mode === "exactIn" ? index - 1 : index + 1]?.leg.path !== leg.path,
  );
  if (ends.length < 2) return carried.map(({ leg }) => leg);
  const amountOf = (end: CarriedLeg) => (mode === "exactIn" ? end.in : end.out);
  const total = ends.reduce((sum, end) => sum + amountOf(end), 0n);
  if (total === 0n) return undefined;
  return carried.map(({ leg }) => {
    const end = ends.find((one) => one.leg.path === leg.path)!;
    return { ...leg, sharePpb: Number((amountOf(end) * BILLION) / total) };
  });
}

/** Assigns what rounding left of a market to the last path over it. */
function withCrumbs(legs: readonly RouteLeg[], rests: readonly Rest[], parts: bigint): readonly RouteLeg[] {
  const left = rests.filter((rest) => rest.in > 0n || rest.out > 0n);
  if (left.length === 0) return legs;
  return legs.map((leg, index) => {
    const crumb = left.find(({ step }) => step.hot.market.address === leg.market);
    if (crumb === undefined || legs.findLastIndex(({ market }) => market === leg.market) !== index) return leg;
    const [inAmount, outAmount] = [unitsOf(crumb.in, parts), unitsOf(crumb.out, parts)];
    return { ...leg, inAmount: leg.inAmount + inAmount, outAmount: leg.outAmount + outAmount };
  });
}

/** What is left, in whole base units. Rounded up. */
const unitsOf = (left: bigint, parts: bigint) => (parts === WHOLE ? left : ceilDiv(left, parts));

/** Rows of markets that still have amounts to assign, the largest first. */
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

/**
 * Takes as much along a chain as every market of it can carry; undefined if that is only a rounding remainder, and every market has a path.
 *
 * @param isAnyNew true if a market has none: the next path may lead over it
 */
function takePath(
  chain: readonly Rest[],
  path: number,
  fineness: bigint,
  isAnyNew: boolean,
): readonly CarriedLeg[] | undefined {
  // The input that each market gets: computed forwards, then reduced where a later market takes less.
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
  const carried = chain.map((rest, index) => {
    const [part, whole] = [parts[index]!, rest.taken];
    const [into, out] = [share(rest.in, part, whole), share(rest.out, part, whole)];
    const { hot, quote } = rest.step;
    const leg: RouteLeg = {
      venue: hot.venue.id,
      market: hot.market.address,
      inMint: quote.inMint,
      outMint: quote.outMint,
      inAmount: unitsOf(rest.in, fineness) - unitsOf(rest.in - into, fineness),
      outAmount: unitsOf(rest.out, fineness) - unitsOf(rest.out - out, fineness),
      path,
    };
    return { leg, in: into, out };
  });
  const isEmpty = carried.some(({ leg }) => leg.inAmount === 0n && leg.outAmount === 0n);
  if (isEmpty && !isAnyNew) return undefined;
  for (const [index, rest] of chain.entries()) {
    rest.in -= carried[index]!.in;
    rest.out -= carried[index]!.out;
    rest.given -= share(rest.given, parts[index]!, rest.taken);
    rest.taken -= parts[index]!;
    rest.isNew = false;
  }
  return carried;
}

const share = (amount: bigint, part: bigint, whole: bigint) => (part === whole ? amount : (amount * part) / whole);
const ceilShare = (amount: bigint, part: bigint, whole: bigint) =>
  part === whole ? amount : ceilDiv(amount * part, whole);

/** Price impacts are rounded to twelve decimals. */
const IMPACT_PARTS = 1e12;

/** The price impact of a route: along its paths, weighted by what each carries. Fraction. */
export function impactOf(steps: readonly RouteStep[], inMint: Address, outMint: Address): number {
  // The fraction of the price that is left on arrival at a mint, weighted by what arrives there.
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
