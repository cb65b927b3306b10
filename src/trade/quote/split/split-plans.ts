import type { HotMarket } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { bestPairRate, mostRateOf } from "../bounds/best-rate.ts";
import { bestSmallRate } from "../bounds/best-small-rate.ts";
import { isSameMoment } from "../bounds/life.ts";
import { movesInLife, roundSizeOf } from "../bounds/market-rate.ts";
import { allAtOnce, type Steps } from "../long-searches.ts";
import { type ChangedMarkets, heldMarkets, MOST_MOVED } from "./changed-markets.ts";
import { singleOut } from "./flow/fill-network.ts";
import { KeptFindings } from "./kept-findings.ts";
import {
  type CurveNetwork,
  type MintCrossing,
  type SmallTrades,
  sampleNetwork,
  sampleSmall,
  type TimedMarket,
} from "./network.ts";
import { coarseFlowFor, type Field, forkOf } from "./shapes/split-shape.ts";
import { KnownFits } from "./sizing/known-fits.ts";
import { Sizing } from "./sizing/sizing.ts";
import { SharedSteps } from "./steps/shared-steps.ts";
import { StepWork } from "./steps/step-work.ts";

/** Exact quotes of one search at most, besides those of its result. */
const QUOTE_BUDGET = 256;
/** If the curves promise a smaller gain than this, the division is not searched: it would not pay. Fraction. */
export const LEAST_SPLIT_GAIN = 2e-6;
/** Trades whose sizes lie within one of these parts of an octave share a plan. */
const SIZES_OF_AN_OCTAVE = 8;
/** Sizings that a plan keeps at most: of those that trades share, and of those for one amount each. */
const MOST_SIZINGS = 8;
/** Trades of which a plan remembers the best sizing at most. */
const MOST_TRADES = 256;

/** What a plan is made for. */
export interface PlanTerms {
  /** The input, or about that; for exact outputs an upper bound. Base units. */
  readonly inAmount: number;
  readonly maxLegs: number;
  readonly clock: ChainClock;
}

/** Which sizing: the one that trades of about the size share, the trade's own, or those for somewhat more or less. */
type BestSizing = "shared" | "own" | "near";

/** Finds the sizing for an exact output of this amount of base units, beginning with the one for all paths. */
type SizesOutput = (first: Sizing, outAmount: bigint) => Steps<Sizing>;

/** The curves of a trade's markets, and which of them to divide it between. Serves all trades of about one size. */
export class SplitPlan {
  readonly #terms: PlanTerms;
  readonly #mode: SwapMode;
  readonly #small: SmallTrades;
  /** Work done for this plan since a search of it began or paused. */
  readonly work: StepWork;
  /** The markets as they were sampled, and as they are now. */
  #sampled: SharedSteps<Field>;
  #network: CurveNetwork | undefined;
  #coarse: ReadonlySet<HotMarket> | undefined;
  /** What fits, of all trades that share a sizing. */
  #fits = new KnownFits();
  /** By the most paths if those matter. */
  #shared = new Map<string, SharedSteps<Sizing>>();
  /** By amount, and the most paths if those matter. */
  #own = new Map<string, SharedSteps<Sizing>>();
  #near = new Map<string, SharedSteps<Sizing>>();
  /** By amount and most paths. */
  #best = new Map<string, BestSizing>();
  /** Trades that no division makes. */
  #refused = new Set<string>();
  /** Whether a market gives noticeably more or less while the plan lives. */
  #moving = new WeakMap<TimedMarket, boolean>();

  private constructor(terms: PlanTerms, mode: SwapMode, small: SmallTrades, left: number, work = new StepWork()) {
    this.#terms = terms;
    this.#mode = mode;
    this.#small = small;
    this.work = work;
    this.#sampled = new SharedSteps(() => this.#sample({ left }));
  }

  /** A plan for these markets. */
  static make(intent: Intent, crossings: readonly MintCrossing[], terms: PlanTerms): SplitPlan {
    const budget = { left: QUOTE_BUDGET };
    const plan = new SplitPlan(terms, intent.mode, sampleSmall(intent, crossings, { ...terms, budget }), budget.left);
    plan.work.quotes(QUOTE_BUDGET - budget.left);
    return plan;
  }

  /**
   * This plan for another moment and the new states of markets that have hardly changed; it divides between the same ones. Undefined if
   * they have changed more.
   */
  renewed(changed: ChangedMarkets, clock: ChainClock): SplitPlan | undefined {
    const all = isSameMoment(this.#terms.clock, clock) ? changed : this.#withMoving(changed);
    if (all.size === 0) return this;
    const known = heldMarkets({ network: this.network, small: this.#small }, all, clock, { left: QUOTE_BUDGET });
    if (known === undefined) return undefined;
    const plan = new SplitPlan(this.#terms, this.#mode, known.small, 0, this.work);
    plan.#network = known.network;
    plan.#sampled = this.#sampled;
    plan.#fits = this.#fits;
    plan.#shared = this.#shared;
    plan.#own = this.#own;
    plan.#near = this.#near;
    plan.#best = this.#best;
    plan.#refused = this.#refused;
    plan.#moving = this.#moving;
    return plan;
  }

  /** The changed markets, and those that time alone changes. */
  #withMoving(changed: ChangedMarkets): ChangedMarkets {
    const all = new Map(changed);
    for (const timed of this.#small.timed)
      if (!all.has(timed.hot) && this.#isMoving(timed)) all.set(timed.hot, timed.hot);
    return all;
  }

  #isMoving(timed: TimedMarket): boolean {
    let isMoving = this.#moving.get(timed);
    if (isMoving === undefined) {
      isMoving = movesInLife(timed.hot, timed.ask, MOST_MOVED);
      this.#moving.set(timed, isMoving);
    }
    return isMoving;
  }

  get network(): CurveNetwork {
    return this.#network ?? allAtOnce(this.#sampled.result()).network;
  }

  /** True if each market takes a fee that does not grow beyond an amount: see `MarketCurve`. */
  get sharesFees(): boolean {
    return this.network.edges[0]?.curve.sharesFees === true;
  }

  /** Markets whose curves are too coarse to rely on. */
  get coarse(): ReadonlySet<HotMarket> {
    this.#coarse ??= new Set(this.network.edges.filter(({ curve }) => curve.isCoarse).map(({ curve }) => curve.hot));
    return this.#coarse;
  }

  /** Begins a search: finds the network, with pauses. */
  *ready(): Steps<void> {
    if (this.#sampled.found === undefined) yield* this.#sampled.result();
    else this.work.begin();
  }

  *#sample(budget: { left: number }): Steps<Field> {
    // The sizings of exact outputs are compared instead: exchanges in each of them would take too long.
    const terms = { ...this.#terms, exchanges: this.#mode === "exactIn", budget, work: this.work };
    return { network: yield* sampleNetwork(this.#small, terms), terms };
  }

  /**
   * The sizing that trades of about this size share; undefined if no path alone gives the exact output: what is best depends closely on the
   * amount then.
   *
   * @param finds searches the sizing of an exact output
   */
  *sharedSizing({ amount }: Intent, maxPaths: number, finds: SizesOutput): Steps<Sizing | undefined> {
    const field = yield* this.#sampled.result();
    const { inAmount, maxLegs } = field.terms;
    if (this.#mode === "exactIn") {
      const size = { inAmount, outAmount: 0, takesLess: false };
      return yield* kept(this.#shared, "", () => sizingOf(field, size, this.#fits));
    }
    const outAmount = singleOut(field.network, inAmount, maxLegs);
    if (outAmount < Number(amount)) return undefined;
    return yield* kept(this.#shared, `${maxPaths} paths`, () =>
      this.#outputSizing(field, outAmount, this.#fits, finds),
    );
  }

  /** A sizing for trades of this amount alone. @param finds searches the sizing of an exact output */
  ownSizing({ amount }: Intent, maxPaths: number, finds: SizesOutput): Steps<Sizing> {
    return this.#sizingFor(this.#own, Number(amount), maxPaths, finds);
  }

  /** Sizings for somewhat more, and somewhat less, than a trade that those for it do not make: their markets may. */
  *nearSizings({ amount }: Intent): Generator<Steps<Sizing>> {
    const more = sharedSize(Number(amount));
    for (const size of [sharedSize(more + 1), more, more - stepOf(more)]) yield this.#sizingFor(this.#near, size);
  }

  *#sizingFor(
    all: Map<string, SharedSteps<Sizing>>,
    amount: number,
    maxPaths?: number,
    finds?: SizesOutput,
  ): Steps<Sizing> {
    const field = yield* this.#sampled.result();
    if (this.#mode === "exactOut")
      return yield* kept(all, `${amount}, ${maxPaths} paths`, () =>
        this.#outputSizing(field, amount, new KnownFits(), finds),
      );
    const size = { inAmount: amount, outAmount: 0, takesLess: false };
    return yield* kept(all, `${amount}`, () => sizingOf(field, size));
  }

  /** The sizing of an exact output: first for what all paths together take for it, then as a division shows. */
  *#outputSizing(known: Field, outAmount: number, fits: KnownFits, finds?: SizesOutput): Steps<Sizing> {
    const field = forkOf(known);
    const flow = yield* coarseFlowFor(field, outAmount);
    const inAmount = flow?.inAmount ?? field.terms.inAmount;
    const first = new Sizing(field, { inAmount, outAmount, takesLess: false }, fits);
    return finds === undefined ? first : yield* finds(first, BigInt(Math.floor(outAmount)));
  }

  /** False if dividing trades of a sizing gains next to nothing. */
  *pays(sizing: Sizing): Steps<boolean> {
    if (this.network.edges.length < 2) return false;
    // If the markets do not take everything, those for less may.
    return this.coarse.size > 0 || (yield* sizing.gain()) >= LEAST_SPLIT_GAIN || (yield* sizing.widestOut()) === 0;
  }

  /** The sizing that was best for a trade; undefined if not known, or if nothing but the shared one was tried. */
  bestSizing({ amount }: Intent, maxPaths: number): BestSizing | undefined {
    return this.#best.get(`${amount}, ${maxPaths} paths`);
  }

  learnBestSizing({ amount }: Intent, maxPaths: number, best: BestSizing): void {
    if (this.#best.size >= MOST_TRADES) this.#best.clear();
    this.#best.set(`${amount}, ${maxPaths} paths`, best);
  }

  /** True if no division was found for a trade. @param kind see `learnRefused` */
  isRefused({ amount }: Intent, kind: string): boolean {
    return this.#refused.has(`${amount}, ${kind}`);
  }

  /** Notes that no division makes a trade. @param kind its other terms */
  learnRefused({ amount }: Intent, kind: string): void {
    if (this.#refused.size >= MOST_TRADES) this.#refused.clear();
    this.#refused.add(`${amount}, ${kind}`);
  }
}

function* sizingOf(field: Field, size: Sizing["size"], fits?: KnownFits): Steps<Sizing> {
  yield* field.terms.work.pause();
  return new Sizing(field, size, fits);
}

/** The sizing with a key, searched if there is none; the one that was asked for longest ago makes room. */
function kept(all: Map<string, SharedSteps<Sizing>>, key: string, begin: () => Steps<Sizing>): Steps<Sizing> {
  const search = all.get(key) ?? new SharedSteps(begin);
  all.delete(key);
  if (all.size >= MOST_SIZINGS) all.delete(all.keys().next().value!);
  all.set(key, search);
  return search.result();
}

const plans = new KeptFindings<SplitPlan>((plan, changed, clock) => plan.renewed(changed, clock));
const rates = new KeptFindings<number>(() => undefined);

/** The plan of a trade: kept while its markets hardly change. */
export function planOf(intent: Intent, crossings: readonly MintCrossing[], terms: PlanTerms): SplitPlan {
  const inAmount = sharedSize(terms.inAmount);
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
function sharedSize(amount: number): number {
  const step = stepOf(amount);
  return Math.ceil(amount / step) * step;
}

/** The distance of sizes around an amount. */
const stepOf = (amount: number): number => 2 ** Math.floor(Math.log2(amount)) / SIZES_OF_AN_OCTAVE;
