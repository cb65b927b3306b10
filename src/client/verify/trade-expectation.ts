import type { Address } from "../../primitives/address.ts";
import { limitUnits, parseAmount, SOL_DECIMALS } from "../../primitives/amount.ts";
import { dividePassing } from "../../primitives/passing.ts";
import { maximumIn, minimumOut, parseSlippage } from "../../primitives/slippage.ts";
import { isBetweenHubs } from "../../solana/hub-mints.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { checkAmounts } from "../order/amounts.ts";
import { refuseUnknownKeys } from "../order/known-keys.ts";
import { checkLimitForms } from "../order/limit-forms.ts";
import { decimalsRequired, defaultMaxPriority, LIMIT_KEYS, ownLimit, type TradeLimits } from "../order/limits.ts";
import type { SlippageBasis } from "../proof/slippage-basis.ts";
import { unsigned } from "../trade-error.ts";
import {
  addressOf,
  answeredMint,
  type BuildAnswer,
  type Estimate,
  mintOf,
  readCosts,
  readEstimate,
  unexpected,
} from "./build-answer.ts";
import { DEFAULT_MIDDLE_RENT } from "./rent.ts";
import { type ExpectedLeg, readLegs } from "./route/announced-route.ts";
import { SWAP_TABLES } from "./venues/swap-tables.ts";

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
  /** The markets the service announced, each after those that feed it. What several paths trade on one is one swap. */
  readonly legs: readonly ExpectedLeg[];
  /**
   * Mints between markets that must be of the plain Token program, where what a market pays arrives whole: all that the caller
   * did not list.
   */
  readonly plainMints?: ReadonlySet<Address> | undefined;
  /** The venues of the route, as the service names them. */
  readonly platform: string;
  /** The slippage of the caller's side; the rest covers what passes between markets. Parts per billion. */
  readonly slippagePpb: bigint;
  /** Maximum cost of priority, tips included. Lamports. */
  readonly maxPriorityLamports: bigint;
  /** Maximum rent of accounts opened for mints between markets. Lamports; absent: any. */
  readonly maxMiddleRentLamports?: bigint | undefined;
  /** The tip the service announced. Lamports. */
  readonly tipLamports: bigint;
  /** What the service announced besides; the transaction must agree. Lamports, tips included in `priority`. */
  readonly announced?: {
    readonly priority?: bigint | undefined;
    readonly priorityFee?: bigint | undefined;
    readonly rentPaid?: bigint | undefined;
  };
  /** Decimals of the two mints, where the client knows them by itself. */
  readonly decimals?: { readonly input: number | undefined; readonly output: number | undefined };
  /** Accounts that may receive tips besides the known ones; with "any" only the cap on priority cost applies. */
  readonly tipAccounts: ReadonlySet<Address> | "any";
  /** True if the whole balance is sold and the service announced that the emptied account's rent is returned. */
  readonly closesSource: boolean;
}

/** An order in terms of the API. Its amount is that of the exact side, in one of two forms; neither for a share of the balance. */
export interface TradeOrder {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly swapMode: "exactIn" | "exactOut";
  /** Whole units. */
  readonly amount?: number | undefined;
  /** Base units, as a decimal string. Needs no decimals. */
  readonly amountRaw?: string | undefined;
  readonly slippage: number;
  /** What the slippage was chosen by, if the library chose it. */
  readonly slippageBasis?: SlippageBasis | undefined;
  /** Share of the balance to sell: percent, 0 < p ≤ 100. */
  readonly sellPercent?: number | undefined;
}

/**
 * Derives what the transaction must be from an order, the build response and the caller's limits.
 *
 * Slippage counts from the service's estimate, which is unproven; `minOutputAmount` and `maxInputAmount` bound the trade
 * regardless of it. The decimals of a token are the caller's or known to this library, never the service's.
 *
 * @param boundedBy what bounds an input that only the service's estimate says, that of an exact output or of a share of the balance:
 * the limits, or the caller, who compares `amount` and `threshold` with the balance or shows them to the one who decides
 * @throws TradeError UNEXPECTED_TRANSACTION if the response contradicts the order or itself; DECIMALS_REQUIRED if an amount
 * of the caller cannot be scaled; BOUND_REQUIRED if nothing bounds the input; PRICE_IMPACT_TOO_HIGH, PRIORITY_COST_TOO_HIGH or LIMIT_EXCEEDED if it exceeds a limit;
 * TypeError for an unknown or malformed limit
 */
export function expectTrade(
  wallet: Address,
  order: TradeOrder,
  answer: BuildAnswer,
  limits: TradeLimits = {},
  boundedBy: "limits" | "caller" = "limits",
): TradeExpectation {
  refuseUnknownKeys(limits, LIMIT_KEYS, "the limits");
  checkLimitForms(limits);
  checkOrder(order);
  if (boundedBy !== "caller") requireBounds(order, limits);
  const slippage = slippageWithin(order, limits);
  const { inMint, outMint } = orderedMints(order, answer);
  const estimate = readEstimate(answer, inMint, outMint, limits);
  const legs = readLegs(answer, inMint, outMint, estimate, limits);
  const amount = orderedAmount(order, estimate, roundingOf(legs, outMint));
  const { tip, rentReturned, ...announced } = readCosts(answer);
  const mostIn = ownLimit(limits, "input", estimate.inDecimals);
  const leastOut = ownLimit(limits, "output", estimate.outDecimals);
  const isExactIn = order.swapMode === "exactIn";
  // Over several markets part of the slippage covers what passes between them, and the estimate already includes it.
  const terms = { inMint, outMint, mode: order.swapMode, slippagePpb: slippage, isBetweenHubs };
  const { rest } = dividePassing(legs, terms);
  const expectation: TradeExpectation = {
    wallet,
    inMint,
    outMint,
    mode: order.swapMode,
    amount,
    threshold: isExactIn ? minimumOut(estimate.outAmount, rest) : maximumIn(estimate.inAmount, rest),
    legs,
    plainMints: limits.middleMints === undefined ? middlesOf(legs, outMint) : undefined,
    platform: answer.platform,
    slippagePpb: rest,
    maxPriorityLamports: capOf(
      limits.maxPriorityCost,
      defaultMaxPriority(typedLamports(order, { inMint, outMint, amount, mostIn, leastOut })),
    ),
    maxMiddleRentLamports: capOf(limits.maxMiddleRent, DEFAULT_MIDDLE_RENT),
    tipLamports: tip,
    announced,
    decimals: { input: estimate.inDecimals, output: estimate.outDecimals },
    tipAccounts: limits.tipAccounts === "any" ? "any" : new Set((limits.tipAccounts ?? []).map(addressOf)),
    closesSource: isWhole(order) && rentReturned > 0n,
  };
  checkLimits(expectation, answer, limits, mostIn, leastOut);
  return expectation;
}

/** A limit of the caller's in lamports, or else the default. */
const capOf = (sol: number | undefined, otherwise: bigint): bigint =>
  sol === undefined ? otherwise : limitUnits(sol, SOL_DECIMALS);

/** The slippage of the order, in parts per billion. @throws TypeError; TradeError LIMIT_EXCEEDED */
function slippageWithin({ slippage }: TradeOrder, { maxSlippage = 1 }: TradeLimits): bigint {
  const parsed = typeof slippage === "number" ? parseSlippage(slippage) : undefined;
  if (parsed === undefined) throw new TypeError("slippage is a fraction: 0 ≤ slippage < 1");
  if (slippage <= maxSlippage) return parsed;
  throw unsigned("LIMIT_EXCEEDED", `The slippage of the order is ${slippage}, more than ${maxSlippage}`);
}

/** The two mints of the order, which the response has to name. @throws TypeError; TradeError UNEXPECTED_TRANSACTION */
function orderedMints(order: TradeOrder, answer: BuildAnswer): Pick<TradeExpectation, "inMint" | "outMint"> {
  const inMint = mintOf(order.inputMint);
  const outMint = mintOf(order.outputMint);
  if (inMint === outMint) throw new TypeError("a trade has two mints");
  if (answeredMint(answer.inputMint) === inMint && answeredMint(answer.outputMint) === outMint)
    return { inMint, outMint };
  throw unexpected(`the response trades ${answer.inputMint} for ${answer.outputMint}, which is not the order`);
}

/** The lamports of the trade that its caller typed, in the order or as a limit; 0 if only the service says how many there are. */
function typedLamports(
  order: TradeOrder,
  {
    inMint,
    outMint,
    amount,
    mostIn,
    leastOut,
  }: Pick<TradeExpectation, "inMint" | "outMint" | "amount"> & {
    readonly mostIn: bigint | undefined;
    readonly leastOut: bigint | undefined;
  },
): bigint {
  const exact = isShare(order) ? undefined : amount;
  const isExactIn = order.swapMode === "exactIn";
  if (inMint === SOL_MINT) return (isExactIn ? exact : mostIn) ?? 0n;
  if (outMint === SOL_MINT) return (isExactIn ? leastOut : exact) ?? 0n;
  return 0n;
}

/** Refuses an order that could cost more than its caller typed, unless a limit says how much. @throws TradeError BOUND_REQUIRED */
function requireBounds(order: TradeOrder, { maxInputAmount, maxInputRaw }: TradeLimits): void {
  if ((maxInputAmount ?? maxInputRaw) !== undefined || (order.swapMode === "exactIn" && !isShare(order))) return;
  const [what, otherwise] = isShare(order)
    ? ["A share of the balance is", ", or a node that reads the balance"]
    : ["An exact output costs", ""];
  throw unsigned(
    "BOUND_REQUIRED",
    `${what} what the service says, so it needs a bound: give maxInputAmount (or maxInputRaw)${otherwise}`,
  );
}

function middlesOf(legs: readonly ExpectedLeg[], outMint: Address): ReadonlySet<Address> {
  return new Set(legs.map((leg) => leg.outMint).filter((mint) => mint !== outMint));
}

const ORDER_KEYS = {
  inputMint: true,
  outputMint: true,
  swapMode: true,
  amount: true,
  amountRaw: true,
  slippage: true,
  sellPercent: true,
  slippageBasis: true,
} as const satisfies Record<keyof TradeOrder, true>;

/** @throws TypeError for an unknown key, or unless the order has a mode and one amount */
function checkOrder(order: TradeOrder): void {
  refuseUnknownKeys(order, ORDER_KEYS, "the order");
  const { swapMode, amount, amountRaw, sellPercent } = order;
  if (swapMode !== "exactIn" && swapMode !== "exactOut") throw new TypeError("swapMode is exactIn or exactOut.");
  checkAmounts("An order", { amount, amountRaw, sellPercent });
  if (sellPercent === undefined) return;
  if (swapMode !== "exactIn" || !(sellPercent > 0 && sellPercent <= 100)) {
    throw new TypeError("sellPercent is above 0 and at most 100, of what goes in.");
  }
}

/**
 * Base units of the exact side: those of the order, or the service's figure for a share of the balance.
 * @param rounding what may come out beyond an exact output. Base units
 * @throws TradeError UNEXPECTED_TRANSACTION if the estimate contradicts the order; DECIMALS_REQUIRED
 */
function orderedAmount(
  order: TradeOrder,
  { inAmount, outAmount, inDecimals, outDecimals }: Estimate,
  rounding: bigint,
): bigint {
  const exactIn = order.swapMode === "exactIn";
  const estimated = exactIn ? inAmount : outAmount;
  const decimals = exactIn ? inDecimals : outDecimals;
  if (isShare(order)) return estimated;
  const amount = typedAmount(order, exactIn ? "input" : "output", decimals);
  // A curve may leave part of an exact input unspent, and rounding may yield more than an exact output; never the reverse.
  const fits = exactIn ? estimated <= amount : estimated >= amount && estimated - amount <= rounding;
  if (fits) return amount;
  throw unexpected(`the response's exact amount is ${estimated} base units, but ${amount} were ordered`);
}

/** True if the order is for a share of the balance, of which only the service knows the amount. */
export function isShare({ amount, amountRaw }: Pick<TradeOrder, "amount" | "amountRaw">): boolean {
  return amount === undefined && amountRaw === undefined;
}

/** True if the order sells the whole balance. Shares are rounded to billionths of a percent, by the service too. */
function isWhole({ sellPercent = 0 }: TradeOrder): boolean {
  return Math.round(sellPercent * 1e9) === 1e11;
}

/** Base units of the amount that the caller typed. @throws TypeError, TradeError */
function typedAmount(
  { amount, amountRaw }: TradeOrder,
  side: "input" | "output",
  decimals: number | undefined,
): bigint {
  if (amountRaw !== undefined) return BigInt(amountRaw);
  if (decimals === undefined) throw decimalsRequired(side, "The exact amount of the order", "or give it in base units");
  const units = parseAmount(amount!, decimals);
  if (units === undefined) throw unexpected("the order's exact amount is less than one base unit, or too large");
  return units;
}

/** Base units that an input, and an output, may have to be rounded by. */
const COARSEST = 4n;
/** On venues whose tokens lie in shared vaults: a share cannot be divided, and profit makes it worth dozens of units. */
const COARSEST_SHARE = 64n;

/** What the steps of an input that cannot be divided further may yield beyond an exact output, on the last markets. Base units. */
function roundingOf(legs: readonly ExpectedLeg[], outMint: Address): bigint {
  const last = legs.filter((leg) => leg.outMint === outMint);
  return last.reduce((sum, { venue, inAmount, outAmount }) => {
    const isShared = SWAP_TABLES.some((table) => table.venue === venue && table.rounds === true);
    return sum + (isShared ? COARSEST_SHARE : COARSEST) * (outAmount / (inAmount || 1n) + 2n);
  }, 0n);
}

function checkLimits(
  { mode, amount, threshold }: TradeExpectation,
  answer: BuildAnswer,
  limits: TradeLimits,
  ceiling: bigint | undefined,
  floor: bigint | undefined,
): void {
  if (limits.requireChecked === true && answer.proof?.checked !== true) {
    throw unexpected("its quote is not checked on the deployed programs, which requireChecked wants");
  }
  const impact = answer.estimates?.priceImpact ?? Number.NaN;
  if (limits.maxPriceImpact !== undefined && !(impact <= limits.maxPriceImpact)) {
    throw unsigned(
      "PRICE_IMPACT_TOO_HIGH",
      `The trade moves the price by ${impact}, more than ${limits.maxPriceImpact}`,
    );
  }
  if (limits.maxPriorityCost !== undefined && !(answer.priorityCost <= limits.maxPriorityCost)) {
    throw unsigned(
      "PRIORITY_COST_TOO_HIGH",
      `Priority costs ${answer.priorityCost} SOL, more than ${limits.maxPriorityCost}`,
    );
  }
  const isExactIn = mode === "exactIn";
  const [mostIn, leastOut] = isExactIn ? [amount, threshold] : [threshold, amount];
  if (floor !== undefined && leastOut < floor) {
    throw unsigned(
      "LIMIT_EXCEEDED",
      `The trade may deliver as little as ${leastOut} base units${isExactIn ? " (its estimate less the slippage)" : ""}, less than your minimum of ${floor}`,
    );
  }
  if (ceiling !== undefined && mostIn > ceiling) {
    throw unsigned(
      "LIMIT_EXCEEDED",
      `The trade may take as much as ${mostIn} base units${isExactIn ? "" : " (its estimate plus the slippage)"}, more than your maximum of ${ceiling}`,
    );
  }
}
