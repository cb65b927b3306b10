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
/** Trades whose outputs differ by less than this count as one. Fraction. */
const SAME_SIZE = 1 / EXACT_SIZES_OF_AN_OCTAVE;
/** Exact outputs of which a plan remembers whether another one is better. */
const MOST_OWN = 256;
/** If a trade takes this much more or less than its plan was made for, another plan may be better; for an exact output it is made again at most so often. Fraction. */
const LEAST_MISSED = 0.03;
const MOST_RESIZED = 2;
/** If fewer paths give too little of an exact output, the plan is made again for as much more input as that needs at their mean price, times this. */
const MORE = 1.05;
/** Transaction capacities that a plan remembers at most. */
const MOST_CAPACITIES = 16;
const NOTHING_TRIED: Tried = { resized: 0, enlarged: 0, less: false };
const NOTHING_LEFT_OUT: ReadonlySet<HotMarket> = new Set();

/** What a plan is made for. */
export interface PlanTerms {
  /** The input, or about that; for exact outputs an upper bound. Base units. */
  readonly inAmount: number;
  /** The output, for exact outputs. Base units. */
  readonly outAmount?: number | undefined;
  readonly maxLegs: number;
  readonly maxPaths: number;
  readonly clock: ChainClock;
}

/** What the shapes of a plan are searched for, and how often that was tried to improve. */
interface Sizing {
  /** Input and output of a division, the latter for exact outputs. Base units. */
  readonly inAmount: number;
  readonly outAmount: number;
  /** True if markets that give the exact output count even if they do not take the plan's whole input. */
  readonly takesLess: boolean;
  /** The trade that it was made for, if an exact output: its output in base units, and its most paths. */
  readonly madeFor: { readonly outAmount: number; readonly maxPaths: number };
  readonly tried: Tried;
}

/** Other sizings that were tried, whether they were better or not. */
interface Tried {
  readonly resized: number;
  readonly enlarged: number;
  readonly less: boolean;
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
  #budget = { left: QUOTE_BUDGET };
  /** Work done for this plan since a search of it began or paused. */
  readonly work: StepWork;
  #network: CurveNetwork | undefined;
  #sizing: Sizing;
  /** By most paths: the exact inputs that this plan serves, from the least that had no better plan of its own. Base units. */
  #fitting = new Map<number, "all" | "none" | number>();
  /** By most paths and output: true if a plan for this exact output alone was better. */
  #ownBetter = new Map<string, boolean>();
  #shapes: DirectedSearch | undefined;
  #pays: boolean | undefined;
  /** Closed edges of the last shapes; their open markets have been quoted. */
  #closelyQuoted = new WeakSet<Uint8Array>();

  private constructor(terms: PlanTerms, mode: SwapMode, small: SmallTrades, work = new StepWork()) {
    const { inAmount, outAmount = 0, maxPaths } = terms;
    this.#terms = terms;
    this.#mode = mode;
    this.#small = small;
    this.work = work;
    this.#sizing = { inAmount, outAmount: 0, takesLess: false, madeFor: { outAmount, maxPaths }, tried: NOTHING_TRIED };
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
    return this.#copied(new SplitPlan(this.#terms, this.#mode, known.small), known.network);
  }

  /** @returns the plan with everything that is known of this one, and the same shapes */
  #copied(plan: SplitPlan, network: CurveNetwork): SplitPlan {
    plan.#network = network;
    plan.#sizing = this.#sizing;
    plan.#fitting = this.#fitting;
    plan.#ownBetter = this.#ownBetter;
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

  /** Begins a search: computes what `network` and `pays` need, with pauses. */
  *ready(): Steps<void> {
    if (this.#network === undefined) {
      const network = yield* this.#sampled();
      // During a pause another trade may have done this.
      if (this.#network === undefined) this.#learnNetwork(network);
    } else {
      this.work.begin();
    }
    if (this.#pays !== undefined) return;
    yield* this.work.pause();
    this.#pays = this.pays;
  }

  /** Approximate input of a division of a trade. Base units. */
  inputFor({ mode, amount }: Intent): number {
    const { inAmount, outAmount } = this.#sizing;
    return mode === "exactIn" ? Number(amount) : (inAmount * Number(amount)) / outAmount;
  }

  /** True if the plan was made for a trade of about this output, in base units, over so many paths at most. */
  isMadeFor({ amount }: Intent, maxPaths: number): boolean {
    const { madeFor } = this.#sizing;
    return maxPaths === madeFor.maxPaths && Math.abs(Number(amount) / madeFor.outAmount - 1) < SAME_SIZE;
  }

  /**
   * This plan for the input that a division of an exact output really takes, if that is far from the planned one: other markets may be the
   * best then. Other trades use it only once the plan adopts it.
   *
   * @returns undefined if the plan is near enough, or was made again before
   */
  resized(intent: Intent, inAmount: number): SplitPlan | undefined {
    const { tried } = this.#sizing;
    const isNear = Math.abs(inAmount / this.inputFor(intent) - 1) < LEAST_MISSED;
    if (intent.mode === "exactIn" || isNear || tried.resized >= MOST_RESIZED) return undefined;
    const outAmount = Number(intent.amount);
    return this.#sized({ inAmount, outAmount, tried: { ...tried, resized: tried.resized + 1 } });
  }

  /**
   * This plan for more input, if the best shape of up to `maxPaths` paths gives less than the exact output: the plan was made for what all paths
   * together take. Other trades use it only once the plan adopts it.
   *
   * @returns undefined if the shape gives enough, or if that was tried before
   */
  *enlarged(intent: Intent, maxPaths: number): Steps<SplitPlan | undefined> {
    const { outAmount, tried } = this.#sizing;
    if (this.#mode === "exactIn" || tried.enlarged >= MOST_RESIZED) return undefined;
    const shape = yield* this.#allShapes.shapeFor(maxPaths);
    if (shape === undefined || shape.outAmount >= outAmount) return undefined;
    const inAmount = ((this.inputFor(intent) * outAmount) / shape.outAmount) * MORE;
    const enlarged = { ...tried, enlarged: tried.enlarged + 1 };
    return this.#sized({ inAmount, outAmount: Number(intent.amount), tried: enlarged });
  }

  /**
   * This plan over markets that may take less than its input: with fewer paths, full exits may take less and still give the exact output. Other
   * trades use it only once the plan adopts it.
   *
   * @returns undefined if that was tried before, or if all markets together do not give that much
   */
  takingLess(): SplitPlan | undefined {
    const { outAmount, tried } = this.#sizing;
    if (this.#mode === "exactIn" || tried.less || this.#allShapes.widestOut < outAmount) return undefined;
    return this.#sized({ takesLess: true, tried: { ...tried, less: true } });
  }

  /** The same plan for other amounts. It shares what is known of markets and fits, and the work between pauses. */
  #sized(sizing: Partial<Sizing>): SplitPlan {
    const plan = this.#copied(new SplitPlan(this.#terms, this.#mode, this.#small, this.work), this.network);
    plan.#budget = this.#budget;
    plan.#sizing = { ...this.#sizing, ...sizing };
    plan.#shapes = undefined;
    return plan;
  }

  /** From now on searches as another sizing of this plan does, which was better for a trade. */
  adopt(sized: SplitPlan, { amount }: Intent, maxPaths: number): void {
    this.#sizing = { ...sized.#sizing, madeFor: { outAmount: Number(amount), maxPaths } };
    this.#shapes = sized.#shapes;
    this.#ownBetter.clear();
  }

  /** Notes that another sizing of this plan was not better: it is not tried again. */
  reject(sized: SplitPlan): void {
    this.#sizing = { ...this.#sizing, tried: sized.#sizing.tried };
  }

  /** The output that is enough, if the input need not be placed entirely. Base units. */
  enoughFor({ amount }: Intent): number | undefined {
    return this.#sizing.takesLess ? Number(amount) : undefined;
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
    const outAmount = Math.max(asked, single);
    const flow = coarseFlowFor(network, terms, outAmount);
    const isCloser = flow !== undefined && (asked > single || flow.inAmount < terms.inAmount);
    this.#sizing = { ...this.#sizing, outAmount, ...(isCloser ? { inAmount: flow.inAmount } : {}) };
  }

  #sampled(): Steps<CurveNetwork> {
    return sampleNetwork(this.#small, this.#searchTerms);
  }

  get #searchTerms() {
    const { inAmount, outAmount, takesLess } = this.#sizing;
    const enough = takesLess ? outAmount : undefined;
    return { ...this.#terms, inAmount, enough, budget: this.#budget, work: this.work };
  }

  get #allShapes(): DirectedSearch {
    this.#shapes ??= this.#search(new Uint8Array(this.network.edges.length));
    return this.#shapes;
  }

  /**
   * True if trades of up to this many paths have plans of their own: limits of markets make this one, for others, worse. False if that was not so;
   * undefined if not known. What is found for an exact input holds for larger ones too, for an exact output for the same.
   */
  isWrongFor(intent: Intent, maxPaths: number): boolean | undefined {
    const amount = Number(intent.amount);
    if (this.#mode === "exactOut")
      return this.isMadeFor(intent, maxPaths) ? false : this.#ownBetter.get(outputKey(amount, maxPaths));
    const known = this.#fitting.get(maxPaths);
    if (known === undefined || known === "none") return known === undefined ? undefined : true;
    return known !== "all" && amount < known ? undefined : false;
  }

  /**
   * True if a plan for the trade alone may be better: limits of markets leave this one nothing, or much less than all paths together.
   *
   * @param isMade true if this one, or a single path, makes the trade
   */
  *mayBeWrong(maxPaths: number, isMade: boolean): Steps<boolean> {
    if (yield* this.#allShapes.isHeldBack(maxPaths)) return true;
    if (this.#mode === "exactOut") return !isMade;
    this.#fitting.set(maxPaths, "all");
    return false;
  }

  /** Notes whether a plan for this trade alone was better. */
  learnWrong({ amount }: Intent, maxPaths: number, isWrong: boolean): void {
    if (this.#mode === "exactIn") {
      this.#fitting.set(maxPaths, isWrong ? "none" : Number(amount));
      return;
    }
    if (this.#ownBetter.size >= MOST_OWN) this.#ownBetter.clear();
    this.#ownBetter.set(outputKey(Number(amount), maxPaths), isWrong);
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
  // Exact outputs of one size may take very different inputs, and their plans depend on the most paths. Negative: no other plan has that key.
  const isOutput = isExact && terms.outAmount !== undefined;
  const size = isOutput ? -sharedSize(terms.outAmount, EXACT_SIZES_OF_AN_OCTAVE) : inAmount;
  const { maxLegs, clock, maxPaths } = terms;
  return plans.recall(intent, crossings, { maxLegs, clock, maxPaths: isOutput ? maxPaths : 0 }, size, () =>
    SplitPlan.make(intent, crossings, { ...terms, inAmount }),
  );
}

/** The key of an exact output of about this size. */
const outputKey = (outAmount: number, maxPaths: number) =>
  `${sharedSize(outAmount, EXACT_SIZES_OF_AN_OCTAVE)}, ${maxPaths} paths`;

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
