import type { HotMarket } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { bestPairRate, mostRateOf } from "../bounds/best-rate.ts";
import { bestSmallRate } from "../bounds/best-small-rate.ts";
import { roundSizeOf } from "../bounds/market-rate.ts";
import { allAtOnce, type Steps } from "../long-searches.ts";
import { type ChangedMarkets, heldMarkets } from "./changed-markets.ts";
import { singleOut } from "./flow/fill-network.ts";
import { KeptFindings } from "./kept-findings.ts";
import { type CurveNetwork, type MintCrossing, type SmallTrades, sampleNetwork, sampleSmall } from "./network.ts";
import { DirectedSearch } from "./shapes/directed-search.ts";
import { coarseFlowFor, quoteNear, type Shape } from "./shapes/split-shape.ts";
import { StepWork } from "./step-work.ts";

/** Exact quotes of one search at most, besides those of its result. */
const QUOTE_BUDGET = 256;
/** Further quotes near what the chosen markets take, if the search has used up its own. */
const CHOSEN_BUDGET = 48;
/** If the curves promise a smaller gain than this, the division is not searched: it would not pay. Fraction. */
export const LEAST_SPLIT_GAIN = 2e-6;
/** Trades whose sizes lie within one of these parts of an octave share a plan; of the second ones, if the first plan is for too much. */
const SIZES_OF_AN_OCTAVE = 8;
const EXACT_SIZES_OF_AN_OCTAVE = 1_024;
/** If a trade takes this much more or less than its plan was made for, another plan may be better; for an exact output it is made again at most so often. Fraction. */
const LEAST_MISSED = 0.03;
const MOST_RESIZED = 2;
/** If fewer paths give too little of an exact output, the plan is made again for as much more input as that needs at their mean price, times this. */
const MORE = 1.05;
/** Transaction capacities that a plan remembers at most. */
const MOST_CAPACITIES = 16;
const NOTHING_LEFT_OUT: ReadonlySet<HotMarket> = new Set();

/** What a plan is made for. */
export interface PlanTerms {
  /** The input, or about that; for exact outputs an upper bound. Base units. */
  readonly inAmount: number;
  /** The output, for exact outputs. Base units. */
  readonly outAmount?: number | undefined;
  readonly maxLegs: number;
  readonly clock: ChainClock;
}

/** What fits into transactions of one capacity, for any wallet. */
interface KnownFit {
  /** The most paths that may fit. */
  readonly paths: number;
  /** Markets without which divisions fit. */
  readonly without: ReadonlySet<Address>;
  /** Value of the best route that fits no transaction, divided by that of the route trades start with; at least 1. */
  readonly unfitWorth: number;
}

const EVERYTHING_FITS: KnownFit = { paths: Number.POSITIVE_INFINITY, without: new Set(), unfitWorth: 1 };

/** The curves of a trade's markets, and which of them to divide it between. Serves all trades of about one size. */
export class SplitPlan {
  readonly #terms: PlanTerms;
  readonly #mode: SwapMode;
  readonly #small: SmallTrades;
  /** By transaction capacity: what fits, and what is lost by that. */
  #fits = new Map<string, KnownFit>();
  /** Kinds of transactions that hold no lighter division either. */
  #withoutLighter = new Set<string>();
  readonly #budget = { left: QUOTE_BUDGET };
  /** Work done for this plan since the last pause, by any trade. */
  readonly work = new StepWork();
  #network: CurveNetwork | undefined;
  /** Input and output of a division, for exact outputs. Base units. */
  #inAmount: number;
  #outAmount = 0;
  #resized = 0;
  #enlarged = 0;
  /** By most paths: the trades that this plan serves, from the least that had no better plan of its own. Base units. */
  #fitting = new Map<number, "all" | "none" | number>();
  /** True if markets that give the exact output count even if they do not take the plan's whole input. */
  #takesLess = false;
  #shapes: DirectedSearch | undefined;
  #pays: boolean | undefined;
  /** Closed edges of the last shapes; their open markets have been quoted. */
  #closelyQuoted = new WeakSet<Uint8Array>();

  private constructor(terms: PlanTerms, mode: SwapMode, small: SmallTrades) {
    this.#terms = terms;
    this.#mode = mode;
    this.#small = small;
    this.#inAmount = terms.inAmount;
  }

  /** A plan for these markets. */
  static make(intent: Intent, crossings: readonly MintCrossing[], terms: PlanTerms): SplitPlan {
    const budget = { left: QUOTE_BUDGET };
    const plan = new SplitPlan(terms, intent.mode, sampleSmall(intent, crossings, { ...terms, budget }));
    plan.#budget.left = budget.left;
    plan.work.quotes(QUOTE_BUDGET - budget.left);
    return plan;
  }

  /**
   * This plan for the new states of markets that have hardly changed; it divides between the same ones. Undefined if they have changed
   * more.
   */
  renewed(changed: ChangedMarkets, clock: ChainClock): SplitPlan | undefined {
    const known = heldMarkets({ network: this.network, small: this.#small }, changed, clock, { left: QUOTE_BUDGET });
    if (known === undefined) return undefined;
    const plan = new SplitPlan(this.#terms, this.#mode, known.small);
    plan.#network = known.network;
    plan.#inAmount = this.#inAmount;
    plan.#outAmount = this.#outAmount;
    plan.#resized = this.#resized;
    plan.#enlarged = this.#enlarged;
    plan.#takesLess = this.#takesLess;
    plan.#fitting = this.#fitting;
    plan.#pays = this.pays;
    plan.#shapes = this.#shapes;
    plan.#fits = this.#fits;
    plan.#withoutLighter = this.#withoutLighter;
    plan.#closelyQuoted = this.#closelyQuoted;
    return plan;
  }

  /** False if dividing gains next to nothing. */
  get pays(): boolean {
    this.#pays ??=
      this.network.edges.length > 1 && (this.coarse.size > 0 || this.#allShapes.gain() >= LEAST_SPLIT_GAIN);
    return this.#pays;
  }

  /** Markets whose curves are too coarse to rely on. */
  get coarse(): ReadonlySet<HotMarket> {
    return new Set(this.network.edges.filter(({ curve }) => curve.isCoarse).map(({ curve }) => curve.hot));
  }

  get network(): CurveNetwork {
    return this.#network ?? this.#learnNetwork(allAtOnce(this.#sampled()));
  }

  /** Computes what `network` and `pays` need, with pauses. */
  *ready(): Steps<void> {
    if (this.#network === undefined) {
      const network = yield* this.#sampled();
      // During a pause another trade may have done this.
      if (this.#network === undefined) this.#learnNetwork(network);
    }
    if (this.#pays !== undefined) return;
    yield* this.work.pause();
    this.#pays = this.pays;
  }

  /** Approximate input of a division of a trade. Base units. */
  inputFor({ mode, amount }: Intent): number {
    return mode === "exactIn" ? Number(amount) : (this.#inAmount * Number(amount)) / this.#outAmount;
  }

  /**
   * Makes the plan again for the input that a division of an exact output really takes, if that is far from the planned one: other markets
   * may be the best then.
   *
   * @returns a function that undoes it; undefined if the plan stays
   */
  resize(intent: Intent, inAmount: number): (() => void) | undefined {
    const isNear = Math.abs(inAmount / this.inputFor(intent) - 1) < LEAST_MISSED;
    if (intent.mode === "exactIn" || isNear || this.#resized >= MOST_RESIZED) return undefined;
    this.#resized++;
    return this.#madeFor(inAmount, intent);
  }

  /**
   * Makes the plan of an exact output again for more input if the best shape of up to `maxPaths` paths gives less than the output: the plan was
   * made for what all paths together take.
   *
   * @returns a function that undoes it; undefined if the plan stays
   */
  *takeMore(intent: Intent, maxPaths: number): Steps<(() => void) | undefined> {
    if (this.#mode === "exactIn" || this.#enlarged >= MOST_RESIZED) return undefined;
    const shape = yield* this.#allShapes.shapeFor(maxPaths);
    if (shape === undefined || shape.outAmount >= this.#outAmount) return undefined;
    this.#enlarged++;
    return this.#madeFor(((this.inputFor(intent) * this.#outAmount) / shape.outAmount) * MORE, intent);
  }

  /** @returns a function that undoes it */
  #madeFor(inAmount: number, { amount }: Intent): () => void {
    const before = { inAmount: this.#inAmount, outAmount: this.#outAmount, shapes: this.#shapes };
    this.#sizeFor(inAmount, Number(amount), undefined);
    return () => this.#sizeFor(before.inAmount, before.outAmount, before.shapes);
  }

  /**
   * From now on also searches markets that take less than the plan's input: with fewer paths, full exits may take less and still give the
   * exact output. @returns false if it does so already, or if all markets together do not give that much
   */
  takeLess(): boolean {
    if (this.#mode === "exactIn" || this.#takesLess || this.#allShapes.widestOut < this.#outAmount) return false;
    this.#takesLess = true;
    this.#shapes = undefined;
    return true;
  }

  /** The output that is enough, if the input need not be placed entirely. Base units. */
  enoughFor({ amount }: Intent): number | undefined {
    return this.#takesLess ? Number(amount) : undefined;
  }

  #sizeFor(inAmount: number, outAmount: number, shapes: DirectedSearch | undefined): void {
    this.#inAmount = inAmount;
    this.#outAmount = outAmount;
    this.#shapes = shapes;
  }

  #learnNetwork(network: CurveNetwork): CurveNetwork {
    this.#network = network;
    if (this.#mode === "exactOut") this.#learnInput(network);
    return network;
  }

  /**
   * Finds the input with which a division gives as much as the best single path. That may be far less than the path's input, and other
   * markets may be the best for it.
   */
  #learnInput(network: CurveNetwork): void {
    const terms = this.#searchTerms;
    const { outAmount: asked = 0 } = terms;
    // Plan for more if no single path gives the output, or if it comes near a market's limit that the curves know only roughly.
    const single = singleOut(network, terms.inAmount, terms.maxLegs);
    this.#outAmount = Math.max(asked, single);
    const flow = coarseFlowFor(network, terms, this.#outAmount);
    if (flow !== undefined && (asked > single || flow.inAmount < terms.inAmount)) this.#inAmount = flow.inAmount;
  }

  #sampled(): Steps<CurveNetwork> {
    return sampleNetwork(this.#small, this.#searchTerms);
  }

  get #searchTerms() {
    const enough = this.#takesLess ? this.#outAmount : undefined;
    return { ...this.#terms, inAmount: this.#inAmount, enough, budget: this.#budget, work: this.work };
  }

  get #allShapes(): DirectedSearch {
    this.#shapes ??= this.#search(new Uint8Array(this.network.edges.length));
    return this.#shapes;
  }

  /**
   * True if trades of up to this many paths have plans of their own: limits of markets make this one, for more, worse. False if that was not so
   * for a trade of nearly this size; undefined if not known.
   */
  isTooLargeFor({ amount }: Intent, maxPaths: number): boolean | undefined {
    const known = this.#fitting.get(maxPaths);
    if (known === undefined || known === "none") return known === undefined ? undefined : true;
    return known !== "all" && Number(amount) < known * (1 - LEAST_MISSED) ? undefined : false;
  }

  /** True if a plan for less may be better: limits of markets leave this one nothing, or much less than all paths together. */
  *mayBeTooLarge(maxPaths: number): Steps<boolean> {
    if (this.#mode === "exactIn" && (yield* this.#allShapes.isHeldBack(maxPaths))) return true;
    this.#fitting.set(maxPaths, "all");
    return false;
  }

  /** Notes whether a plan for this trade alone was better. */
  learnTooLarge({ amount }: Intent, maxPaths: number, isTooLarge: boolean): void {
    this.#fitting.set(maxPaths, isTooLarge ? "none" : Number(amount));
  }

  /** The best shape of a division over two up to `maxPaths` paths; undefined if there is none. */
  *shapeFor(maxPaths: number, refused: ReadonlySet<HotMarket>): Steps<Shape | undefined> {
    const shapes = refused.size === 0 ? this.#allShapes : this.#search(this.#edgesOf(refused));
    const shape = yield* shapes.shapeFor(maxPaths);
    if (shape !== undefined && this.#budget.left <= 0) this.#quoteClosely(shape.closed);
    return shape;
  }

  /** Quotes the markets of a shape near what they take: with distant sizes only, a price seems to bend too early. */
  #quoteClosely(closed: Uint8Array): void {
    if (this.#closelyQuoted.has(closed)) return;
    this.#closelyQuoted.add(closed);
    quoteNear(this.network, { ...this.#searchTerms, budget: { left: CHOSEN_BUDGET } }, closed);
  }

  /** The same for divisions that leave markets out so that they fit. */
  shapeWithout(maxPaths: number, refused: ReadonlySet<HotMarket>): Shape | undefined {
    return this.#allShapes.shapeWithout(maxPaths, this.#edgesOf(refused));
  }

  #edgesOf(markets: ReadonlySet<HotMarket>): Uint8Array {
    return Uint8Array.from(this.network.edges, ({ curve }) => (markets.has(curve.hot) ? 1 : 0));
  }

  /** The markets to leave out so that divisions fit, as far as known. */
  leftOut(capacity: string | undefined): ReadonlySet<HotMarket> {
    const { without } = this.#fitOf(capacity);
    if (without.size === 0) return NOTHING_LEFT_OUT;
    const { edges } = this.network;
    return new Set(edges.map(({ curve }) => curve.hot).filter(({ market }) => without.has(market.address)));
  }

  /** Notes that no wallet's transaction holds a division with these markets. @returns false if that was known */
  leavesOut(capacity: string | undefined, markets: ReadonlySet<HotMarket>): boolean {
    const without = new Set(Array.from(markets, ({ market }) => market.address));
    const known = this.#fitOf(capacity).without;
    if (known.size === without.size && [...without].every((address) => known.has(address))) return false;
    this.#learnFit(capacity, { without });
    return true;
  }

  /** The most paths that may fit into a transaction, as far as known. */
  widest(capacity: string | undefined): number {
    return this.#fitOf(capacity).paths;
  }

  /** Notes that this many paths fit into no transaction. @returns false if that was known */
  neverFits(capacity: string | undefined, paths: number): boolean {
    if (paths > this.widest(capacity)) return false;
    this.#learnFit(capacity, { paths: paths - 1 });
    return true;
  }

  /** True if divisions without some markets were found to fit no transaction of this kind either. */
  hasNoLighter(kind: string): boolean {
    return this.#withoutLighter.has(kind);
  }

  /** Notes that divisions without these markets fit no transaction of this kind. */
  findsNoLighter(kind: string): void {
    if (this.#withoutLighter.size >= MOST_CAPACITIES) this.#withoutLighter.clear();
    this.#withoutLighter.add(kind);
  }

  /** Value of the best route that fits no wallet, divided by that of the route that trades begin with, as far as known; at least 1. */
  unfitWorth(capacity: string | undefined): number {
    return this.#fitOf(capacity).unfitWorth;
  }

  /** Notes that trades begin with another route from now on, and the previous route's value divided by that of the new one. */
  beginsBelow(capacity: string | undefined, worth: number): void {
    this.#learnFit(capacity, { unfitWorth: Math.max(1, this.unfitWorth(capacity) * worth) });
  }

  /** Forgets what fits: the markets have changed too much for it. */
  forgetsFit(capacity: string | undefined): void {
    if (capacity !== undefined) this.#fits.delete(capacity);
  }

  #fitOf(capacity: string | undefined): KnownFit {
    return (capacity === undefined ? undefined : this.#fits.get(capacity)) ?? EVERYTHING_FITS;
  }

  #learnFit(capacity: string | undefined, learned: Partial<KnownFit>): void {
    if (capacity === undefined) return;
    const known = this.#fitOf(capacity);
    if (this.#fits.size >= MOST_CAPACITIES && !this.#fits.has(capacity)) this.#fits.clear();
    this.#fits.set(capacity, { ...known, ...learned });
  }

  #search(closed: Uint8Array): DirectedSearch {
    return new DirectedSearch(this.network, this.#searchTerms, closed);
  }
}

const plans = new KeptFindings<SplitPlan>((plan, changed, clock) => plan.renewed(changed, clock));
const rates = new KeptFindings<number>(() => undefined);

/**
 * The plan of a trade: kept while its markets hardly change.
 *
 * @param isExact true for one that only trades of nearly the same size share
 */
export function planOf(
  intent: Intent,
  crossings: readonly MintCrossing[],
  terms: PlanTerms,
  isExact: boolean,
): SplitPlan {
  const inAmount = sharedSize(terms.inAmount, isExact ? EXACT_SIZES_OF_AN_OCTAVE : SIZES_OF_AN_OCTAVE);
  return plans.recall(intent, crossings, terms, inAmount, () =>
    SplitPlan.make(intent, crossings, { ...terms, inAmount }),
  );
}

/** What the best path gives per unit of a small part of the trade: no division gives more for any unit. */
export function bestRateOf(intent: Intent, crossings: readonly MintCrossing[], terms: PlanTerms): number {
  const inAmount = roundSizeOf(terms.inAmount);
  // If there is one pair, the rate is also cached by its markets.
  if (crossings.length === 1) return onlyPairRate(intent, crossings[0]!, inAmount, terms.clock);
  return rates.recall(intent, crossings, terms, inAmount, () =>
    bestSmallRate(intent, crossings, { ...terms, inAmount }),
  );
}

function onlyPairRate({ mode }: Intent, { from, to, pair }: MintCrossing, inAmount: number, clock: ChainClock): number {
  if (pair.markets.length === 0 || inAmount < 1) return 0;
  return bestPairRate(pair, { mode, inMint: from, outMint: to, roundSize: inAmount, clock });
}

/** The most that the only pair of a trade gives per unit, without a quote. Infinity if there are several pairs, or if it is unknown. */
export function boundedRateOf([only, ...others]: readonly MintCrossing[]): number {
  if (only === undefined || others.length > 0) return Number.POSITIVE_INFINITY;
  return mostRateOf(only.pair, { inMint: only.from, outMint: only.to });
}

/** The size up to which a plan serves: the next of a few per octave. */
function sharedSize(amount: number, sizesOfAnOctave: number): number {
  const step = 2 ** Math.floor(Math.log2(amount)) / sizesOfAnOctave;
  return Math.ceil(amount / step) * step;
}
