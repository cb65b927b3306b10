import { Address } from "../../primitives/address.ts";
import { parseAmount } from "../../primitives/amount.ts";
import { passingShare } from "../../primitives/slippage.ts";
import { isBetweenHubs } from "../../solana/hub-mints.ts";
import { NATIVE_PSEUDO_MINT, SOL_MINT } from "../../solana/programs.ts";
import { TradeError } from "../trade-error.ts";

/** What a transaction must be: the order in base units, and what the caller allows besides. */
export interface TradeExpectation {
  readonly wallet: Address;
  /** SOL is the wrapped-SOL mint. */
  readonly inMint: Address;
  readonly outMint: Address;
  readonly mode: "exactIn" | "exactOut";
  /** Base units that go in (exactIn) or come out (exactOut). */
  readonly amount: bigint;
  /** Base units: the least that comes out (exactIn) or the most that goes in (exactOut). */
  readonly threshold: bigint;
  /** The markets the service announced, in order. Each one trades what the previous one yielded. */
  readonly legs: readonly ExpectedLeg[];
  /** Maximum cost of priority, tips included. Lamports. */
  readonly maxPriorityLamports: bigint;
  /** The tip the service announced. Lamports. */
  readonly tipLamports: bigint;
  /** Accounts that may receive tips besides the known ones; with "any" only the cap on priority cost applies. */
  readonly tipAccounts: ReadonlySet<Address> | "any";
  /** True if the whole balance is sold and the service announced that the emptied account's rent is returned. */
  readonly closesSource: boolean;
}

/** One market of a trade, as announced by the service. */
export interface ExpectedLeg {
  readonly venue: string;
  readonly market: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  /** Estimated amounts; they only help to find price-dependent accounts. Base units. */
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

/** An order in terms of the API. `amount` is in whole units of the exact side; undefined for a share of the balance. */
export interface TradeOrder {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly swapMode: "exactIn" | "exactOut";
  readonly amount: number | undefined;
  readonly slippage: number;
  /** Share of the balance to sell: percent, 0 < p ≤ 100. */
  readonly sellPercent?: number | undefined;
}

/** What the caller allows. Every limit is checked locally before signing. */
export interface TradeLimits {
  /** Maximum price impact as a fraction: 0.1 is 10 %. */
  readonly maxPriceImpact?: number | undefined;
  /** Maximum cost of priority in SOL. Default 0.05. */
  readonly maxPriorityCost?: number | undefined;
  /** Minimum output in whole units; needs `decimals.output` unless the output is SOL. */
  readonly minOutputAmount?: number | undefined;
  /** Maximum input in whole units; needs `decimals.input` unless the input is SOL. */
  readonly maxInputAmount?: number | undefined;
  /** Accounts that may receive tips besides the known ones, or "any". `maxPriorityCost` caps tips in either case. */
  readonly tipAccounts?: readonly string[] | "any" | undefined;
  /** Decimals of the two mints, if the caller knows them. Otherwise the service's figures set the scale of amounts. */
  readonly decimals?: { readonly input?: number | undefined; readonly output?: number | undefined } | undefined;
}

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
  readonly costs?: { readonly tip: string; readonly rentReturned: string } | undefined;
  readonly route: readonly {
    readonly venue: string;
    readonly market: string;
    readonly inputMint: string;
    readonly outputMint: string;
    readonly inputAmountRaw: string;
    readonly outputAmountRaw: string;
  }[];
}

const SOL_DECIMALS = 9;
const MAX_DECIMALS = 20;
const PARTS = 1_000_000_000n;
const LAMPORTS = 1_000_000_000;
/** Applies if the caller sets no limit. Lamports. */
const DEFAULT_MAX_PRIORITY = 50_000_000n;

/**
 * Derives what the transaction must be from an order, the build response and the caller's limits.
 *
 * Slippage counts from the service's estimate, which is unproven; `minOutputAmount` and `maxInputAmount` bound the trade
 * regardless of it. The decimals of a token are unproven too, unless `limits.decimals` gives them.
 *
 * @throws TradeError UNEXPECTED_TRANSACTION if the response contradicts the order; PRICE_IMPACT_TOO_HIGH,
 * PRIORITY_COST_TOO_HIGH or LIMIT_EXCEEDED if it exceeds a limit
 */
export function expectTrade(
  wallet: Address,
  order: TradeOrder,
  answer: BuildAnswer,
  limits: TradeLimits = {},
): TradeExpectation {
  const inMint = mintOf(order.inputMint);
  const outMint = mintOf(order.outputMint);
  if (mintOf(answer.inputMint) !== inMint || mintOf(answer.outputMint) !== outMint) {
    throw unexpected(`the response trades ${answer.inputMint} for ${answer.outputMint}, which is not the order`);
  }
  const estimate = estimateOf(answer, inMint, outMint, limits);
  const amount = orderedAmount(order, estimate);
  const slippage = BigInt(Math.round(order.slippage * Number(PARTS)));
  if (!(order.slippage >= 0 && order.slippage < 1)) throw new TypeError("slippage is a fraction: 0 ≤ slippage < 1");
  const legs = legsOf(answer, inMint, outMint);
  const expectation: TradeExpectation = {
    wallet,
    inMint,
    outMint,
    mode: order.swapMode,
    amount,
    threshold: thresholdOf(order.swapMode === "exactIn", estimate, slippage, legs),
    legs,
    maxPriorityLamports:
      limits.maxPriorityCost === undefined
        ? DEFAULT_MAX_PRIORITY
        : BigInt(Math.floor(limits.maxPriorityCost * LAMPORTS)),
    tipLamports: rawAmount(answer.costs?.tip ?? "0"),
    tipAccounts: limits.tipAccounts === "any" ? "any" : new Set((limits.tipAccounts ?? []).map(addressOf)),
    closesSource: order.sellPercent === 100 && rawAmount(answer.costs?.rentReturned ?? "0") > 0n,
  };
  checkLimits(expectation, answer, limits, estimate);
  return expectation;
}

/** What the service expects the trade to move, in base units, and the decimals of both mints if they are known. */
interface Estimate {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  readonly inDecimals: number | undefined;
  readonly outDecimals: number | undefined;
}

function estimateOf({ estimates }: BuildAnswer, inMint: Address, outMint: Address, limits: TradeLimits): Estimate {
  if (estimates === undefined) throw unexpected("the response has no estimates");
  const inAmount = rawAmount(estimates.inputAmountRaw);
  const outAmount = rawAmount(estimates.outputAmountRaw);
  return {
    inAmount,
    outAmount,
    inDecimals: decimalsOf(inMint, limits.decimals?.input, estimates.inputAmount, inAmount),
    outDecimals: decimalsOf(outMint, limits.decimals?.output, estimates.outputAmount, outAmount),
  };
}

/**
 * Base units of the exact side: those of the order, or the service's figure for a share of the balance.
 * @throws TradeError UNEXPECTED_TRANSACTION if the estimate contradicts the order
 */
function orderedAmount(order: TradeOrder, { inAmount, outAmount, inDecimals, outDecimals }: Estimate): bigint {
  const exactIn = order.swapMode === "exactIn";
  const estimated = exactIn ? inAmount : outAmount;
  const decimals = exactIn ? inDecimals : outDecimals;
  if (order.amount === undefined) return estimated;
  const amount = decimals === undefined ? undefined : parseAmount(order.amount, decimals);
  if (amount === undefined) throw unexpected("the response's exact amount is not the one ordered");
  // A curve may leave part of an exact input unspent; nothing may take more, or deliver another exact output.
  if (exactIn ? estimated > amount : estimated !== amount) {
    throw unexpected(`the response's exact amount is ${estimated} base units, but ${amount} were ordered`);
  }
  return amount;
}

/** Base units: the minimum output, rounded up (exactIn), or the maximum input, rounded down (exactOut). */
function thresholdOf(exactIn: boolean, estimate: Estimate, slippage: bigint, legs: readonly ExpectedLeg[]): bigint {
  // Over two markets, part of the slippage covers what passes between them, and the estimate already includes it.
  const decisive = exactIn ? legs[0]! : legs.at(-1)!;
  const share =
    legs.length > 1 ? slippage - passingShare(slippage, isBetweenHubs(decisive.inMint, decisive.outMint)) : slippage;
  return exactIn
    ? (estimate.outAmount * (PARTS - share) + PARTS - 1n) / PARTS
    : (estimate.inAmount * (PARTS + share)) / PARTS;
}

/** The legs of the response's route, which must lead from the input mint to the output mint. */
function legsOf({ route }: BuildAnswer, inMint: Address, outMint: Address): ExpectedLeg[] {
  const legs = route.map((leg) => ({
    venue: leg.venue,
    market: addressOf(leg.market),
    inMint: mintOf(leg.inputMint),
    outMint: mintOf(leg.outputMint),
    inAmount: rawAmount(leg.inputAmountRaw),
    outAmount: rawAmount(leg.outputAmountRaw),
  }));
  const joined = legs.every((leg, index) => leg.inMint === (index === 0 ? inMint : legs[index - 1]!.outMint));
  if (legs.length === 0 || !joined || legs.at(-1)!.outMint !== outMint) {
    throw unexpected("the response's route does not lead from the input mint to the output mint");
  }
  return legs;
}

function checkLimits(
  expectation: TradeExpectation,
  answer: BuildAnswer,
  limits: TradeLimits,
  decimals: Pick<Estimate, "inDecimals" | "outDecimals">,
): void {
  const { mode, amount, threshold } = expectation;
  const impact = answer.estimates?.priceImpact ?? Number.NaN;
  if (limits.maxPriceImpact !== undefined && !(impact <= limits.maxPriceImpact)) {
    throw new TradeError(
      "PRICE_IMPACT_TOO_HIGH",
      `The trade moves the price by ${impact}, more than ${limits.maxPriceImpact}. Nothing was signed.`,
    );
  }
  if (limits.maxPriorityCost !== undefined && !(answer.priorityCost <= limits.maxPriorityCost)) {
    throw new TradeError(
      "PRIORITY_COST_TOO_HIGH",
      `Priority costs ${answer.priorityCost} SOL, more than ${limits.maxPriorityCost}. Nothing was signed.`,
    );
  }
  const leastOut = mode === "exactIn" ? threshold : amount;
  const mostIn = mode === "exactIn" ? amount : threshold;
  const floor = ownLimit("minOutputAmount", limits.minOutputAmount, decimals.outDecimals);
  const ceiling = ownLimit("maxInputAmount", limits.maxInputAmount, decimals.inDecimals);
  if (floor !== undefined && leastOut < floor) {
    throw new TradeError(
      "LIMIT_EXCEEDED",
      `The trade may deliver as little as ${leastOut} base units, less than minOutputAmount ${limits.minOutputAmount}. Nothing was signed.`,
    );
  }
  if (ceiling !== undefined && mostIn > ceiling) {
    throw new TradeError(
      "LIMIT_EXCEEDED",
      `The trade may take as much as ${mostIn} base units, more than maxInputAmount ${limits.maxInputAmount}. Nothing was signed.`,
    );
  }
}

function ownLimit(name: string, wholeUnits: number | undefined, decimals: number | undefined): bigint | undefined {
  if (wholeUnits === undefined) return undefined;
  const limit = decimals === undefined ? undefined : parseAmount(wholeUnits, decimals);
  if (limit === undefined) throw new TypeError(`${name} is not a valid amount of this token`);
  return limit;
}

/** Decimals of SOL, those the caller gave, or the scale at which both forms of the estimate agree. */
function decimalsOf(mint: Address, known: number | undefined, wholeUnits: number, raw: bigint): number | undefined {
  if (mint === SOL_MINT) return SOL_DECIMALS;
  if (known !== undefined) return known;
  for (let decimals = 0; decimals <= MAX_DECIMALS; decimals++) {
    if (Number(raw) / 10 ** decimals === wholeUnits || parseAmount(wholeUnits, decimals) === raw) return decimals;
  }
  return undefined;
}

function mintOf(text: string): Address {
  if (text === "SOL") return SOL_MINT;
  const mint = addressOf(text);
  return mint === NATIVE_PSEUDO_MINT ? SOL_MINT : mint;
}

function addressOf(text: string): Address {
  const address = Address.parse(text);
  if (address === undefined) throw new TypeError(`not an address: ${text}`);
  return address;
}

function rawAmount(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw unexpected("the response's amounts are not whole base units");
  return BigInt(text);
}

function unexpected(reason: string): TradeError {
  return new TradeError("UNEXPECTED_TRANSACTION", `Refused to sign: ${reason}.`);
}
