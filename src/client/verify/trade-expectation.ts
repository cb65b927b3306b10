import { Address } from "../../primitives/address.ts";
import { parseAmount } from "../../primitives/amount.ts";
import { passingShare } from "../../primitives/slippage.ts";
import { isBetweenHubs } from "../../solana/hub-mints.ts";
import { NATIVE_PSEUDO_MINT, SOL_MINT } from "../../solana/programs.ts";
import { TradeError } from "../trade-error.ts";

/** What a transaction is held against: the request, turned into base units, and what the caller allows beside it. */
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
  /** The markets the service says it trades on, in order. Each goes on with what the one before it yielded. */
  readonly legs: readonly ExpectedLeg[];
  /** The most lamports that priority, tips included, may cost. */
  readonly maxPriorityLamports: bigint;
  /** Lamports of tip the service said are in it. */
  readonly tipLamports: bigint;
  /** Where tips may go beside the accounts known to take them; "any": the service chooses, and the cap alone holds. */
  readonly tipAccounts: ReadonlySet<Address> | "any";
  /** True when the whole balance is sold and the service said that the emptied account's rent comes back. */
  readonly closesSource: boolean;
}

/** One market of a trade, as the service names it. */
export interface ExpectedLeg {
  readonly venue: string;
  readonly market: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  /** What the service expects to move; it only says where to look for price-dependent accounts. */
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

/** What was asked for, in the words of the API. `amount` is in whole units of the exact side; undefined for a share of the balance. */
export interface TradeOrder {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly swapMode: "exactIn" | "exactOut";
  readonly amount: number | undefined;
  readonly slippage: number;
  /** Of a sale of a share of the balance: percent, 0 < p ≤ 100. */
  readonly sellPercent?: number | undefined;
}

/** What the caller allows. All are checked here, before anything is signed. */
export interface TradeLimits {
  /** Refuse when the trade moves the price by more than this fraction: 0.1 is 10 %. */
  readonly maxPriceImpact?: number | undefined;
  /** Refuse when priority costs more than this many SOL. Without it the library refuses above 0.05 SOL. */
  readonly maxPriorityCost?: number | undefined;
  /** Refuse when less than this may come out, in whole units; needs `decimals.output` unless it is SOL. */
  readonly minOutputAmount?: number | undefined;
  /** Refuse when more than this may go in, in whole units; needs `decimals.input` unless it is SOL. */
  readonly maxInputAmount?: number | undefined;
  /** Accounts tips may go to beside those known to take them, or "any": what they may cost is capped by `maxPriorityCost`. */
  readonly tipAccounts?: readonly string[] | "any" | undefined;
  /** Decimals of the two mints as the caller knows them. Without them the service's word is taken for the scale of amounts. */
  readonly decimals?: { readonly input?: number | undefined; readonly output?: number | undefined } | undefined;
}

/** The parts of the service's answer the expectation is made from. The generated build responses are such. */
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
/** Without a limit of the caller's own. Lamports. */
const DEFAULT_MAX_PRIORITY = 50_000_000n;

/**
 * Turns an order, the service's answer and the caller's limits into what the transaction has to be.
 *
 * The service's estimate is a claim: slippage is counted from it, so `minOutputAmount` and `maxInputAmount` are the caller's
 * own floor and ceiling. The number of decimals of a token is the service's word too, unless `limits.decimals` says it.
 *
 * @throws TradeError UNEXPECTED_TRANSACTION when the answer contradicts the order; PRICE_IMPACT_TOO_HIGH,
 * PRIORITY_COST_TOO_HIGH, LIMIT_EXCEEDED when it breaks a limit
 */
export function expectTrade(
  wallet: Address,
  order: TradeOrder,
  answer: BuildAnswer,
  limits: TradeLimits = {},
): TradeExpectation {
  const inMint = mintOf(order.inputMint);
  const outMint = mintOf(order.outputMint);
  const { estimates } = answer;
  if (estimates === undefined) throw unexpected("the answer has no estimates");
  if (mintOf(answer.inputMint) !== inMint || mintOf(answer.outputMint) !== outMint) {
    throw unexpected(`the answer trades ${answer.inputMint} for ${answer.outputMint}, which is not what was asked for`);
  }
  const inAmount = rawAmount(estimates.inputAmountRaw);
  const outAmount = rawAmount(estimates.outputAmountRaw);
  const inDecimals = decimalsOf(inMint, limits.decimals?.input, estimates.inputAmount, inAmount);
  const outDecimals = decimalsOf(outMint, limits.decimals?.output, estimates.outputAmount, outAmount);

  const exactIn = order.swapMode === "exactIn";
  const amount = askedAmount(order, exactIn ? inDecimals : outDecimals, exactIn ? inAmount : outAmount);
  // A curve may leave a rest of an exact input unspent; nothing may take more, or deliver another exact output.
  if (exactIn ? inAmount > amount : outAmount !== amount) {
    throw unexpected(
      `the answer counts ${exactIn ? inAmount : outAmount} base units of the exact side where ${amount} were asked for`,
    );
  }
  const slippage = BigInt(Math.round(order.slippage * Number(PARTS)));
  if (!(order.slippage >= 0 && order.slippage < 1)) throw new TypeError("slippage is a fraction: 0 ≤ slippage < 1");
  const legs = legsOf(answer, inMint, outMint);
  // Over two markets a share of the slippage is for what passes between them, and the estimate has it in already.
  const decisive = exactIn ? legs[0]! : legs.at(-1)!;
  const share =
    legs.length > 1 ? slippage - passingShare(slippage, isBetweenHubs(decisive.inMint, decisive.outMint)) : slippage;
  const threshold = exactIn ? (outAmount * (PARTS - share) + PARTS - 1n) / PARTS : (inAmount * (PARTS + share)) / PARTS;
  const expectation: TradeExpectation = {
    wallet,
    inMint,
    outMint,
    mode: order.swapMode,
    amount,
    threshold,
    legs,
    maxPriorityLamports:
      limits.maxPriorityCost === undefined
        ? DEFAULT_MAX_PRIORITY
        : BigInt(Math.floor(limits.maxPriorityCost * LAMPORTS)),
    tipLamports: rawAmount(answer.costs?.tip ?? "0"),
    tipAccounts: limits.tipAccounts === "any" ? "any" : new Set((limits.tipAccounts ?? []).map(addressOf)),
    closesSource: order.sellPercent === 100 && rawAmount(answer.costs?.rentReturned ?? "0") > 0n,
  };
  checkLimits(expectation, answer, limits, { inDecimals, outDecimals });
  return expectation;
}

/** The route of the answer, checked to lead from the one mint to the other. */
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
    throw unexpected("the answer's route does not lead from the one mint to the other");
  }
  return legs;
}

function askedAmount(order: TradeOrder, decimals: number | undefined, claimed: bigint): bigint {
  if (order.amount === undefined) return claimed;
  const amount = decimals === undefined ? undefined : parseAmount(order.amount, decimals);
  if (amount === undefined) throw unexpected("the answer's amount of the exact side is not the one asked for");
  return amount;
}

function checkLimits(
  expectation: TradeExpectation,
  answer: BuildAnswer,
  limits: TradeLimits,
  decimals: { readonly inDecimals: number | undefined; readonly outDecimals: number | undefined },
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
  if (limit === undefined) throw new TypeError(`${name} is no amount of this token`);
  return limit;
}

/** Decimals from the caller, from the chain's constant for SOL, or as the one scale that fits both forms of the answer. */
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
  if (!/^\d{1,20}$/.test(text)) throw unexpected("the answer's amounts are not whole base units");
  return BigInt(text);
}

function unexpected(reason: string): TradeError {
  return new TradeError("UNEXPECTED_TRANSACTION", `Refused to sign: ${reason}.`);
}
