import type { ChainClock } from "../../../../solana/account.ts";
import type { Steps } from "../../long-searches.ts";
import type { QuoteBudget } from "../curves/market-curve.ts";
import { sampleLimit, sampleNear } from "../curves/sampled-curves.ts";
import { fillForOutput } from "../flow/fill-for-output.ts";
import { fillNetwork, pathsOf } from "../flow/fill-network.ts";
import type { Flow } from "../flow/flow.ts";
import type { CurveNetwork } from "../network.ts";
import type { StepWork } from "../step-work.ts";

/** Parts into which the input is first cut to find which markets take part, and the smallest ones moved afterwards. */
const COARSE = { parts: 16, leastParts: 128 } as const;
/** Rounds in which markets are quoted where a coarse flow uses them, before any is closed. */
const INFORMED_ROUNDS = 3;
/** Most edges compared, the least valuable ones; the one whose closing costs least is closed. */
const LOSSES_COMPARED = 12;
/** The same, of each of several shapes that are narrowed side by side; how many of those there are; and how many paths more than allowed they begin with. */
const SIDE_LOSSES_COMPARED = 6;
const SIDE_BY_SIDE = 4;
const MOST_MORE_PATHS = 4;
/** Closing an edge is assumed to cost at least this part of its value, which is estimated at the price of a coarse part. */
const LEAST_LOSS = 0.25;
/** Paths are exchanged only if all paths together give this much more. Fraction. */
const LEAST_EXCHANGE = 1e-4;

const NONE_KEPT: ReadonlySet<number> = new Set();

/** How a network is narrowed. */
export interface ShapeTerms {
  /** About what goes in. Base units. */
  readonly inAmount: number;
  /** See `FlowSearch`. */
  readonly enough?: number | undefined;
  readonly maxLegs: number;
  readonly clock: ChainClock;
  readonly budget: QuoteBudget;
  readonly work: StepWork;
}

/** The edges of a network that stay open for a number of parallel paths, and their output. */
export interface Shape {
  readonly paths: number;
  readonly closed: Uint8Array;
  readonly outAmount: number;
  readonly flow: Flow;
}

/**
 * Narrows a network: all its edges are filled, then the path whose loss costs least is closed, and so on down to the requested
 * width. Every shape on the way is kept.
 */
export class ShapeSearch {
  readonly #network: CurveNetwork;
  readonly #terms: ShapeTerms;
  readonly #closed: Uint8Array;
  readonly #kept: ReadonlySet<number>;
  readonly #shapes: Shape[] = [];
  readonly #found = new Map<number, Shape>();
  #flow: Flow | undefined;
  #isDone = false;
  #isStuck = false;
  /** The flow of the widest shape. */
  get widestFlow(): Flow | undefined {
    return this.#shapes[0]?.flow;
  }

  /** True if narrowing ended because fewer markets do not take everything. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** What the widest shape gives; 0 if there is none. */
  readonly widestOut: number;

  /**
   * @param closed edges that no shape may use
   * @param start a flow to begin with
   * @param kept edges that stay open while others are closed; a shape has those of them that it uses
   */
  constructor(
    network: CurveNetwork,
    terms: ShapeTerms,
    closed: Uint8Array,
    start?: Flow,
    kept: ReadonlySet<number> = NONE_KEPT,
  ) {
    this.#kept = kept;
    this.#network = network;
    this.#terms = terms;
    this.#closed = closed;
    this.#flow = start;
    this.#settle(quoteNear(network, terms, closed, start));
    this.widestOut = this.#flow?.outAmount ?? 0;
  }

  /** The best shape of two up to `maxPaths` paths; undefined if there is none. */
  *shapeFor(maxPaths: number): Steps<Shape | undefined> {
    const known = this.#found.get(maxPaths);
    if (known !== undefined) return known;
    const narrowed = yield* this.#narrowed(maxPaths);
    if (narrowed === undefined) return undefined;
    const shape = yield* this.#exchanged(narrowed, maxPaths);
    this.#found.set(maxPaths, shape);
    return shape;
  }

  /** The shape of up to `maxPaths` paths, reached by closing one edge after another. */
  *#narrowed(maxPaths: number): Steps<Shape | undefined> {
    for (;;) {
      yield* this.#terms.work.pause();
      const shape = this.#shapes.find(({ paths }) => paths <= maxPaths);
      if (shape !== undefined) return shape.paths < 2 ? undefined : shape;
      if (this.#isDone || this.#flow === undefined) return undefined;
      const flow: Flow = this.#flow;
      const least: number | undefined = yield* this.#cheapestLoss(flow);
      if (this.#flow !== flow) continue;
      if (least === undefined) {
        this.#isStuck = true;
        return undefined;
      }
      this.#closed[least] = 1;
      this.#settle(this.#fill(this.#flow));
    }
  }

  /**
   * The shape with some of its paths exchanged for closed ones, while that gives more. Not tried if all paths together hardly give more, or
   * if every path has one market: those were closed in the right order.
   */
  *#exchanged(shape: Shape, maxPaths: number): Steps<Shape> {
    const widest = this.#shapes[0]!;
    let best = shape;
    if (!widest.flow.paths.some(({ legs }) => legs[1] >= 0)) return best;
    for (const { legs } of widest.flow.paths) {
      if (best.outAmount > widest.outAmount * (1 - LEAST_EXCHANGE)) return best;
      if (legs.every((index) => index < 0 || best.closed[index] === 0)) continue;
      const closed = best.closed.slice();
      for (const index of legs) if (index >= 0) closed[index] = 0;
      const other = yield* new ShapeSearch(this.#network, this.#terms, closed, best.flow).#narrowed(maxPaths);
      if (other !== undefined && other.outAmount > best.outAmount) best = other;
    }
    return best;
  }

  /**
   * The best shape of two up to `maxPaths` paths if in the last steps several shapes are narrowed, not only the best. Near the limits of markets
   * the cheapest loss may be the wrong one: what is left then takes the trade only over far worse markets, or not at all.
   */
  *shapeBesides(maxPaths: number): Steps<Shape | undefined> {
    const first = this.#shapes.find(({ paths }) => paths <= maxPaths + MOST_MORE_PATHS) ?? this.#shapes[0];
    let wide = first === undefined ? [] : [first];
    let best: Shape | undefined;
    while (wide.length > 0) {
      const narrower = new Map<string, Shape>();
      for (const { closed, flow } of wide) {
        for (const index of this.#leastWorth(flow, closed).order.slice(0, SIDE_LOSSES_COMPARED)) {
          yield* this.#terms.work.pause();
          const shape = this.#without(index, closed, flow);
          if (shape === undefined || shape.outAmount <= (best?.outAmount ?? 0)) continue;
          if (shape.paths > maxPaths) narrower.set(shape.closed.join(), shape);
          else if (shape.paths > 1) best = shape;
        }
      }
      wide = [...narrower.values()].sort((a, b) => b.outAmount - a.outAmount).slice(0, SIDE_BY_SIDE);
    }
    return best;
  }

  /** A shape with one more edge closed, and all that it leaves unused; undefined if it does not take everything. */
  #without(index: number, open: Uint8Array, start: Flow): Shape | undefined {
    const closed = open.slice();
    closed[index] = 1;
    const flow = coarseFlow(this.#network, this.#terms, closed, start);
    return flow === undefined ? undefined : this.#shapeOf(flow, closed);
  }

  #shapeOf(flow: Flow, open: Uint8Array): Shape {
    const closed = open.map((isClosed, index) => (flow.inputs[index]! > 0 ? isClosed : 1));
    return { paths: pathsOf(this.#network, flow), closed, outAmount: flow.outAmount, flow };
  }

  #settle(flow: Flow | undefined): void {
    this.#flow = flow;
    if (flow === undefined) {
      this.#isDone = true;
      this.#isStuck = true;
      return;
    }
    const shape = this.#shapeOf(flow, this.#closed);
    for (const [index, isClosed] of shape.closed.entries())
      if (isClosed !== 0 && !this.#kept.has(index)) this.#closed[index] = 1;
    this.#shapes.push(shape);
    if (shape.paths < 2) this.#isDone = true;
  }

  /**
   * The edge to close next, if any: among the least valuable ones, the one whose closing costs least. An edge's own value does not show
   * what depends on it behind a hub, nor what other edges would give for its part: a market whose price hardly falls would seem worthless.
   * Ends without one if another trade narrows on during a pause.
   */
  *#cheapestLoss(flow: Flow): Steps<number | undefined> {
    const closed = this.#closed;
    const { order, worth } = this.#leastWorth(flow, closed);
    let best: { readonly index: number; readonly out: number } | undefined;
    for (const index of order.slice(0, LOSSES_COMPARED)) {
      if (best !== undefined && flow.outAmount - best.out <= worth[index]! * LEAST_LOSS) break;
      yield* this.#terms.work.pause();
      // During a pause another trade may have closed an edge.
      if (this.#flow !== flow) return undefined;
      closed[index] = 1;
      const out = this.#fill(this.#flow)?.outAmount ?? 0;
      closed[index] = 0;
      if (out > 0 && (best === undefined || out > best.out)) best = { index, out };
    }
    return best?.index;
  }

  /** The open edges of a flow, the least valuable first, and the loss if the other markets took an edge's part at the price of their last part. */
  #leastWorth({ inputs, outputs, values: valuesOf }: Flow, closed: Uint8Array) {
    const { edges } = this.#network;
    const order: number[] = [];
    const worth = new Float64Array(edges.length);
    const values = valuesOf();
    for (const [index, { from, to }] of edges.entries()) {
      if (closed[index] !== 0 || this.#kept.has(index) || inputs[index] === 0) continue;
      order.push(index);
      worth[index] = outputs[index]! * values[to]! - inputs[index]! * values[from]!;
    }
    order.sort((a, b) => worth[a]! - worth[b]!);
    return { order, worth };
  }

  #fill(start: Flow | undefined): Flow | undefined {
    return coarseFlow(this.#network, this.#terms, this.#closed, start);
  }
}

/** A coarse flow whose markets have all been quoted near what they take in it, as far as the budget allows. */
export function quoteNear(
  network: CurveNetwork,
  terms: ShapeTerms,
  closed: Uint8Array,
  start?: Flow,
): Flow | undefined {
  const { clock, budget, work } = terms;
  let flow = coarseFlow(network, terms, closed, start);
  for (let round = 0; flow !== undefined && round < INFORMED_ROUNDS; round++) {
    let learned = 0;
    const { left } = budget;
    for (const [index, { curve }] of network.edges.entries()) {
      const input = flow.inputs[index]!;
      if (input > 0 && sampleNear(curve, input, clock, budget)) learned++;
    }
    work.quotes(left - budget.left);
    if (learned === 0) return flow;
    flow = coarseFlow(network, terms, closed, flow);
  }
  return flow;
}

/** Finds out more closely what the open markets take. @returns false if that was known */
function narrowLimits({ edges }: CurveNetwork, { clock, budget, work }: ShapeTerms, closed: Uint8Array): boolean {
  const { left } = budget;
  let isNew = false;
  for (const [index, { curve }] of edges.entries())
    if (closed[index] === 0 && sampleLimit(curve, clock, budget)) isNew = true;
  work.quotes(left - budget.left);
  return isNew;
}

/** A flow that is good enough to compare shapes. If the markets do not take everything, they are first quoted closer to their limits. */
export function coarseFlow(
  network: CurveNetwork,
  terms: ShapeTerms,
  closed: Uint8Array,
  start?: Flow,
): Flow | undefined {
  const { inAmount, enough, maxLegs, work } = terms;
  const search = { ...COARSE, inAmount, enough, maxLegs, closed, work };
  const flow = fillNetwork(network, search, start);
  if (flow !== undefined || !narrowLimits(network, terms, closed)) return flow;
  return fillNetwork(network, search, start);
}

/** The same over all markets, with about the given output. Base units. */
export function coarseFlowFor(network: CurveNetwork, terms: ShapeTerms, outAmount: number): Flow | undefined {
  const { inAmount, maxLegs, work } = terms;
  const closed = new Uint8Array(network.edges.length);
  const search = { ...COARSE, inAmount, maxLegs, closed, work };
  const flow = fillForOutput(network, search, outAmount);
  if (flow !== undefined || !narrowLimits(network, terms, closed)) return flow;
  return fillForOutput(network, search, outAmount);
}
