import type { Address } from "../../../primitives/address.ts";
import { printable } from "../../answers/printable.ts";
import type { RouteLimits, TradeLimits } from "../../order/limits.ts";
import {
  answeredAddress,
  answeredMint,
  type BuildAnswer,
  type Estimate,
  mintOf,
  rawAmount,
  unexpected,
} from "../build-answer.ts";
import { SWAP_TABLES } from "../venues/swap-tables.ts";

/** One market of a trade, as announced by the service: what all paths over it trade there together. */
export interface ExpectedLeg {
  readonly venue: string;
  readonly market: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  /** Estimated amounts; they only help to find price-dependent accounts. Base units. */
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** Announced numbers of the arrays of ticks or bins, which save the search for them. They prove nothing. */
  readonly arrayNumbers?: readonly number[] | undefined;
}

/** Parallel paths of a route at most, and markets of each. */
const MOST_PATHS = 4;
const MOST_LEGS = 3;

/** A market as one path lists it. */
interface PathLeg extends ExpectedLeg {
  readonly path: number;
}

/**
 * The markets of the response's route, in order of execution: every path leads from the input mint to the output mint,
 * through mints that the caller allows, and paths over one market are one swap of their sum.
 * @throws TradeError UNEXPECTED_TRANSACTION
 */
export function readLegs(
  { route, platform }: BuildAnswer,
  inMint: Address,
  outMint: Address,
  { inAmount, outAmount }: Estimate,
  limits: TradeLimits,
): ExpectedLeg[] {
  if (route.length > MOST_PATHS * MOST_LEGS) throw unexpected(`the response's route has ${route.length} markets`);
  const legs = route.map((leg) => ({
    venue: printable(leg.venue),
    market: answeredAddress(leg.market),
    inMint: answeredMint(leg.inputMint),
    outMint: answeredMint(leg.outputMint),
    inAmount: rawAmount(leg.inputAmountRaw),
    outAmount: rawAmount(leg.outputAmountRaw),
    arrayNumbers: leg.arrayNumbers,
    path: leg.path ?? 0,
  }));
  const paths = pathsOf(legs);
  const allowed = limits.middleMints === undefined ? undefined : new Set(limits.middleMints.map(mintOf));
  for (const path of paths) checkPath(path, inMint, outMint, allowed);
  keepBounds(paths, limits);
  if (platform !== legs.map(({ venue }) => venue).join("+")) {
    throw unexpected(`the response names the platform ${platform}, which is not its route`);
  }
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  const given = sum(paths.map((path) => path[0]!.inAmount));
  const taken = sum(paths.map((path) => path.at(-1)!.outAmount));
  const swaps = inOrder(mergeLegs(legs), inMint);
  const passes = swaps.every(({ inMint: mint }) => {
    if (mint === inMint) return true;
    const arrives = swaps.filter((swap) => swap.outMint === mint).map((swap) => swap.outAmount);
    const leaves = swaps.filter((swap) => swap.inMint === mint).map((swap) => swap.inAmount);
    return sum(leaves) <= sum(arrives);
  });
  if (given !== inAmount || taken !== outAmount || !passes) {
    throw unexpected("the amounts of the response's route are not those of its estimates");
  }
  return swaps;
}

/** The legs path by path. @throws TradeError UNEXPECTED_TRANSACTION unless paths are numbered from 0 and follow one another */
function pathsOf(legs: readonly PathLeg[]): PathLeg[][] {
  const paths: PathLeg[][] = [];
  for (const leg of legs) {
    if (leg.path === paths.length) paths.push([]);
    else if (paths.length === 0 || leg.path !== paths.length - 1)
      throw unexpected("the response's route does not list its paths in order");
    paths.at(-1)!.push(leg);
  }
  if (paths.length > MOST_PATHS) throw unexpected(`the response's route has ${paths.length} paths`);
  return paths.length === 0 ? [[]] : paths;
}

function checkPath(
  legs: readonly PathLeg[],
  inMint: Address,
  outMint: Address,
  allowed: ReadonlySet<Address> | undefined,
): void {
  if (legs.length > MOST_LEGS) throw unexpected(`the response's route has ${legs.length} markets in a row`);
  const joined = legs.every((leg, index) => leg.inMint === (index === 0 ? inMint : legs[index - 1]!.outMint));
  if (legs.length === 0 || !joined || legs.at(-1)!.outMint !== outMint) {
    throw unexpected("the response's route does not lead from the input mint to the output mint");
  }
  for (const [index, { outMint: middle }] of legs.slice(0, -1).entries()) {
    const repeats = legs.slice(0, index).some((leg) => leg.outMint === middle);
    const isAllowed = allowed?.has(middle) !== false;
    if (isAllowed && middle !== inMint && middle !== outMint && !repeats) continue;
    throw unexpected(`its route passes through ${middle}, which middleMints does not list`);
  }
}

/** Each market once, with what all paths trade on it. @throws TradeError UNEXPECTED_TRANSACTION if they differ in direction */
function mergeLegs(legs: readonly PathLeg[]): ExpectedLeg[] {
  const swaps = new Map<Address, ExpectedLeg>();
  for (const { path, ...leg } of legs) {
    const known = swaps.get(leg.market);
    if (known === undefined) {
      swaps.set(leg.market, leg);
      continue;
    }
    if (known.venue !== leg.venue || known.inMint !== leg.inMint || known.outMint !== leg.outMint) {
      throw unexpected(`its route trades on ${leg.market} in two ways`);
    }
    const [inAmount, outAmount] = [known.inAmount + leg.inAmount, known.outAmount + leg.outAmount];
    swaps.set(leg.market, { ...known, inAmount, outAmount });
  }
  return [...swaps.values()];
}

/** The swaps, each after all that feed it. @throws TradeError UNEXPECTED_TRANSACTION if there is no such order */
function inOrder(swaps: readonly ExpectedLeg[], inMint: Address): ExpectedLeg[] {
  const ordered: ExpectedLeg[] = [];
  let left = swaps;
  while (left.length > 0) {
    const isFed = ({ inMint: mint }: ExpectedLeg) => mint === inMint || !left.some(({ outMint }) => outMint === mint);
    const next = left.filter(isFed);
    if (next.length === 0) throw unexpected("its route leads in a circle");
    ordered.push(...next);
    left = left.filter((swap) => !isFed(swap));
  }
  return ordered;
}

/** The route keeps to the caller's bounds. @throws TradeError UNEXPECTED_TRANSACTION */
function keepBounds(
  paths: readonly (readonly PathLeg[])[],
  { directOnly = false, maxLegs = MOST_LEGS, maxPaths = MOST_PATHS, venues, excludeVenues }: RouteLimits,
): void {
  const longest = Math.max(...paths.map((path) => path.length));
  const mostLegs = directOnly ? 1 : maxLegs;
  if (longest > mostLegs) throw unexpected(`its route has ${longest} markets in a row, but you allow ${mostLegs}`);
  if (paths.length > maxPaths) throw unexpected(`its route has ${paths.length} paths, but you allow ${maxPaths}`);
  for (const { venue } of paths.flat()) {
    if (venues !== undefined && !venues.includes(venue)) {
      throw unexpected(`its route trades on ${venue}, which venues does not list`);
    }
    if (excludeVenues?.includes(venue)) throw unexpected(`its route trades on ${venue}, which excludeVenues lists`);
  }
}

/** @throws TypeError for bounds of a route that would bound nothing */
export function checkRouteLimits(limits: RouteLimits): void {
  const { directOnly, maxLegs, maxPaths, venues, excludeVenues, requireChecked } = limits;
  for (const [name, value] of Object.entries({ directOnly, requireChecked })) {
    if (value !== undefined && typeof value !== "boolean") throw new TypeError(`${name} is true or false.`);
  }
  for (const [name, value, most] of [
    ["maxLegs", maxLegs, MOST_LEGS],
    ["maxPaths", maxPaths, MOST_PATHS],
  ] as const) {
    const fits = value === undefined || (Number.isInteger(value) && value >= 1 && value <= most);
    if (!fits) throw new TypeError(`${name} is a whole number from 1 to ${most}, not ${String(value)}.`);
  }
  for (const [name, list] of Object.entries({ venues, excludeVenues })) {
    if (list === undefined) continue;
    const isList = Array.isArray(list) && (name !== "venues" || list.length > 0);
    if (!isList) throw new TypeError(`${name} is a list of venues, such as ["raydium_cpmm"].`);
    for (const venue of list) {
      if (!SWAP_TABLES.some((table) => table.venue === venue)) throw new TypeError(`${name}: no venue "${venue}".`);
    }
  }
}
