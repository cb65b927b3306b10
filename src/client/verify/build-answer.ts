import { Address } from "../../primitives/address.ts";
import { parseAmount, toWholeUnits } from "../../primitives/amount.ts";
import { NATIVE_PSEUDO_MINT, SOL_MINT } from "../../solana/programs.ts";
import { decimalsOf, MIDDLE_MINTS, type TradeLimits } from "../limits.ts";
import { TradeError } from "../trade-error.ts";

/** The fields of a build response that the expectation depends on. Generated build responses have this shape. */
export interface BuildAnswer {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly platform: string;
  readonly priorityCost: number;
  readonly estimates?:
    | {
        readonly inputAmount: number;
        readonly outputAmount: number;
        readonly priceImpact: number;
        readonly inputAmountRaw: string;
        readonly outputAmountRaw: string;
      }
    | undefined;
  readonly costs?:
    | {
        readonly tip: string;
        readonly rentReturned: string;
        readonly baseFee?: string;
        readonly priorityFee?: string;
        readonly rentPaid?: string;
      }
    | undefined;
  readonly route: readonly {
    readonly venue: string;
    readonly market: string;
    readonly inputMint: string;
    readonly outputMint: string;
    readonly inputAmountRaw: string;
    readonly outputAmountRaw: string;
    /** Number of the parallel path, from 0; absent: 0. */
    readonly path?: number | undefined;
  }[];
}

/** One market of a trade, as announced by the service: what all paths over it trade there together. */
export interface ExpectedLeg {
  readonly venue: string;
  readonly market: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  /** Estimated amounts; they only help to find price-dependent accounts. Base units. */
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

/** What the service expects the trade to move, in base units, and the decimals that the client knows. */
export interface Estimate {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  readonly inDecimals: number | undefined;
  readonly outDecimals: number | undefined;
}

/** Parallel paths of a route at most, and markets of each. */
const MOST_PATHS = 4;
const MOST_LEGS = 3;
const MOST_DECIMALS = 20;
/** Far above the network's 5,000 lamports a signature, and far below what hurts. */
const MOST_BASE_FEE = 100_000n;

/**
 * The estimate of a response, each amount the same in both of its forms.
 * @throws TradeError UNEXPECTED_TRANSACTION
 */
export function readEstimate(
  { estimates }: BuildAnswer,
  inMint: Address,
  outMint: Address,
  { decimals }: TradeLimits,
): Estimate {
  if (estimates === undefined) throw unexpected("the response has no estimates");
  const { priceImpact } = estimates;
  if (!(priceImpact >= 0 && priceImpact <= 1)) throw unexpected(`a price impact of ${priceImpact} is impossible`);
  const inDecimals = decimalsOf(inMint, decimals?.input);
  const outDecimals = decimalsOf(outMint, decimals?.output);
  return {
    inAmount: readBoth(estimates.inputAmount, estimates.inputAmountRaw, inDecimals),
    outAmount: readBoth(estimates.outputAmount, estimates.outputAmountRaw, outDecimals),
    inDecimals,
    outDecimals,
  };
}

/** Base units of an amount in both forms, which must agree: at the known decimals, or else at any. */
function readBoth(wholeUnits: number, text: string, known: number | undefined): bigint {
  const raw = rawAmount(text);
  const agrees = (decimals: number) =>
    toWholeUnits(raw, decimals) === wholeUnits || parseAmount(wholeUnits, decimals) === raw;
  const scales = known === undefined ? Array.from({ length: MOST_DECIMALS + 1 }, (_, index) => index) : [known];
  if (raw === 0n) throw unexpected("the response estimates an amount of nothing");
  if (scales.some(agrees)) return raw;
  throw unexpected(`the response shows ${wholeUnits} for ${raw} base units, which is another amount`);
}

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
  { middleMints }: TradeLimits,
): ExpectedLeg[] {
  if (route.length > MOST_PATHS * MOST_LEGS) throw unexpected(`the response's route has ${route.length} markets`);
  const legs = route.map((leg) => ({
    venue: leg.venue,
    market: addressOf(leg.market),
    inMint: mintOf(leg.inputMint),
    outMint: mintOf(leg.outputMint),
    inAmount: rawAmount(leg.inputAmountRaw),
    outAmount: rawAmount(leg.outputAmountRaw),
    path: leg.path ?? 0,
  }));
  const paths = pathsOf(legs);
  const allowed = new Set((middleMints ?? MIDDLE_MINTS).map(mintOf));
  for (const path of paths) checkPath(path, inMint, outMint, allowed);
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
    else if (leg.path !== paths.length - 1) throw unexpected("the response's route does not list its paths in order");
    paths.at(-1)!.push(leg);
  }
  if (paths.length > MOST_PATHS) throw unexpected(`the response's route has ${paths.length} paths`);
  return paths.length === 0 ? [[]] : paths;
}

function checkPath(legs: readonly PathLeg[], inMint: Address, outMint: Address, allowed: ReadonlySet<Address>): void {
  if (legs.length > MOST_LEGS) throw unexpected(`the response's route has ${legs.length} markets in a row`);
  const joined = legs.every((leg, index) => leg.inMint === (index === 0 ? inMint : legs[index - 1]!.outMint));
  if (legs.length === 0 || !joined || legs.at(-1)!.outMint !== outMint) {
    throw unexpected("the response's route does not lead from the input mint to the output mint");
  }
  for (const [index, { outMint: middle }] of legs.slice(0, -1).entries()) {
    const repeats = legs.slice(0, index).some((leg) => leg.outMint === middle);
    if (allowed.has(middle) && middle !== inMint && middle !== outMint && !repeats) continue;
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

/** What a response says the trade costs besides its amounts. Lamports; undefined if it does not say. */
export interface AnnouncedCosts {
  readonly priority: bigint | undefined;
  readonly priorityFee: bigint | undefined;
  readonly tip: bigint;
  readonly rentPaid: bigint | undefined;
  readonly rentReturned: bigint;
}

/** The costs of a response. @throws TradeError UNEXPECTED_TRANSACTION */
export function readCosts({ costs, priorityCost }: BuildAnswer): AnnouncedCosts {
  const optional = (text: string | undefined) => (text === undefined ? undefined : rawAmount(text));
  if (!(priorityCost >= 0 && priorityCost < 1e9)) throw unexpected("the response's cost of priority is not an amount");
  if ((optional(costs?.baseFee) ?? 0n) > MOST_BASE_FEE) throw unexpected("the response's base fee is too high");
  return {
    priority: BigInt(Math.round(priorityCost * 1e9)),
    priorityFee: optional(costs?.priorityFee),
    tip: rawAmount(costs?.tip ?? "0"),
    rentPaid: optional(costs?.rentPaid),
    rentReturned: rawAmount(costs?.rentReturned ?? "0"),
  };
}

/** The mint that an order or a response names; `SOL` and the pseudo-mint are wrapped SOL. @throws TypeError */
export function mintOf(text: string): Address {
  if (text === "SOL") return SOL_MINT;
  const mint = addressOf(text);
  return mint === NATIVE_PSEUDO_MINT ? SOL_MINT : mint;
}

/** @throws TypeError unless the text is an address */
export function addressOf(text: string): Address {
  const address = Address.parse(text);
  if (address === undefined) throw new TypeError(`not an address: ${text}`);
  return address;
}

function rawAmount(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw unexpected("the response's amounts are not whole base units");
  return BigInt(text);
}

/** The response is not the trade ordered. */
export function unexpected(reason: string): TradeError {
  return new TradeError("UNEXPECTED_TRANSACTION", `Refused to sign: ${reason}.`);
}
