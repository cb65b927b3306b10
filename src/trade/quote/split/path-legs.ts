import type { Address } from "../../../primitives/address.ts";
import { ceilDiv, minOf } from "../../../primitives/integer.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { RouteLeg } from "../../trade.ts";
import type { RouteStep } from "../route.ts";

/** Parts of a base unit in which paths are told apart: whole units are cheap, but several paths may share a single one. */
const WHOLE = 1n;
const FINE = 1n << 64n;

/** What is left of a market's trade to be given to paths. Parts of base units. */
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

/** A leg with what its path carries there. Parts of base units. */
interface CarriedLeg {
  readonly leg: RouteLeg;
  readonly in: bigint;
  readonly out: bigint;
}

/**
 * The parallel paths of a route, one after another: every path leads from the input to the output, every market is on one, and the
 * amounts of a market that several paths share add up to its trade. Of a few base units some of its paths may have none.
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

/** The paths, told apart in such parts of a base unit; undefined if whole units leave a market on none. */
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
    const taken = takePath(chain, path, parts);
    if (taken === undefined) break;
    carried.push(...taken);
  }
  if (parts === WHOLE && rests.some(({ isNew }) => isNew)) return undefined;
  return withCrumbs(withShares(carried, mode), rests, parts);
}

const BILLION = 1_000_000_000n;

/** Adds to each leg what its path carries of the exact side; nothing if there is one path. */
function withShares(carried: readonly CarriedLeg[], mode: SwapMode): readonly RouteLeg[] {
  const ends = carried.filter(
    ({ leg }, index) => carried[mode === "exactIn" ? index - 1 : index + 1]?.leg.path !== leg.path,
  );
  if (ends.length < 2) return carried.map(({ leg }) => leg);
  const amountOf = (end: CarriedLeg) => (mode === "exactIn" ? end.in : end.out);
  const total = ends.reduce((sum, end) => sum + amountOf(end), 0n);
  return carried.map(({ leg }) => {
    const end = ends.find((one) => one.leg.path === leg.path)!;
    return { ...leg, sharePpb: Number((amountOf(end) * BILLION) / total) };
  });
}

/** Gives what rounding left of a market to the last path over it. */
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

/** Takes as much along a chain as all of it can carry; undefined if that is only what rounding left of its markets. */
function takePath(chain: readonly Rest[], path: number, fineness: bigint): readonly CarriedLeg[] | undefined {
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
  if (isEmpty && !chain.some(({ isNew }) => isNew)) return undefined;
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
