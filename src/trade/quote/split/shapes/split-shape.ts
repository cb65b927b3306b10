import type { ChainClock } from "../../../../solana/account.ts";
import type { Steps } from "../../long-searches.ts";
import type { QuoteBudget } from "../curves/market-curve.ts";
import { isLimitKnown, sampleLimit, sampleNear } from "../curves/sampled-curves.ts";
import { fillForOutput } from "../flow/fill-for-output.ts";
import { fillNetwork, pathsOf } from "../flow/fill-network.ts";
import type { Flow } from "../flow/flow.ts";
import type { CurveNetwork } from "../network.ts";
import { SharedSteps } from "../steps/shared-steps.ts";
import type { StepWork } from "../steps/step-work.ts";

/** Parts into which the input is first cut to find which markets take part, and the smallest ones moved afterwards. */
const COARSE = { parts: 16, leastParts: 128 };
/** The same if markets do not take everything in such parts. */
const FINER = { parts: 64, leastParts: 128 };
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
  /** True if closed markets may be exchanged for open ones: see `exchangedShape`. */
  readonly exchanges: boolean;
  readonly clock: ChainClock;
  readonly budget: QuoteBudget;
  readonly work: StepWork;
}

/** The curves of a network as one search knows them, and the terms of the search with the quotes that it has left. */
export interface Field {
  readonly network: CurveNetwork;
  readonly terms: ShapeTerms;
}

/**
 * A field of its own for another search: what one learns must not change what others find, because their order, and their pauses, are
 * chance.
 */
export function forkOf({ network, terms }: Field): Field {
  const edges = network.edges.map(({ from, to, curve }) => ({ from, to, curve: curve.copy() }));
  return { network: { ...network, edges }, terms: { ...terms, budget: { left: terms.budget.left } } };
}

/** The edges of a network that stay open for a number of parallel paths, and their output. */
export interface Shape {
  readonly paths: number;
  readonly closed: Uint8Array;
  readonly outAmount: number;
  readonly flow: Flow;
  /** What was known when it was found. */
  readonly field: Field;
}

/**
 * Narrows a network: all its edges are filled, then the path whose loss costs least is closed, and so on down to the requested
 * width. Every shape on the way is kept.
 */
export class ShapeSearch {
  /** What narrowing knows; another field once it learns more. */
  #field: Field;
  readonly #closed: Uint8Array;
  readonly #kept: ReadonlySet<number>;
  readonly #shapes: Shape[] = [];
  readonly #found = new Map<number, SharedSteps<Shape | undefined>>();
  readonly #fields = new Map<number, Field>();
  /** The next edge is being closed. */
  #closing: SharedSteps<void> | undefined;
  #flow: Flow | undefined;
  #isDone = false;
  #isStuck = false;

  private constructor(field: Field, closed: Uint8Array, kept: ReadonlySet<number>) {
    this.#field = field;
    this.#closed = closed;
    this.#kept = kept;
  }

  /**
   * @param field of this search alone
   * @param closed edges that no shape may use
   * @param start a flow to begin with
   * @param kept edges that stay open while others are closed; a shape has those of them that it uses
   */
  static *begin(
    field: Field,
    closed: Uint8Array,
    start?: Flow,
    kept: ReadonlySet<number> = NONE_KEPT,
  ): Steps<ShapeSearch> {
    const search = new ShapeSearch(field, closed, kept);
    search.#settle(yield* quoteNear(field, closed, start));
    return search;
  }

  /** The flow of the widest shape. */
  get widestFlow(): Flow | undefined {
    return this.#shapes[0]?.flow;
  }

  /** What the widest shape gives; 0 if there is none. */
  get widestOut(): number {
    return this.#shapes[0]?.outAmount ?? 0;
  }

  /** What was known of the widest shape. */
  get widestField(): Field {
    return this.#shapes[0]?.field ?? this.#field;
  }

  /** True if there is no shape of up to `maxPaths` paths because fewer markets do not take everything. */
  isStuckAt(maxPaths: number): boolean {
    return this.#isStuck && !this.#shapes.some(({ paths }) => paths <= maxPaths);
  }

  /** The best shape of two up to `maxPaths` paths; undefined if there is none. */
  shapeFor(maxPaths: number): Steps<Shape | undefined> {
    let search = this.#found.get(maxPaths);
    if (search === undefined) {
      search = new SharedSteps(() => this.#bestFor(maxPaths));
      this.#found.set(maxPaths, search);
    }
    return search.result();
  }

  *#bestFor(maxPaths: number): Steps<Shape | undefined> {
    const narrowed = yield* this.#narrowed(maxPaths);
    return narrowed === undefined ? undefined : yield* this.#exchanged(narrowed, maxPaths);
  }

  /** The shape of up to `maxPaths` paths, reached by closing one edge after another. */
  *#narrowed(maxPaths: number): Steps<Shape | undefined> {
    for (;;) {
      const shape = this.#shapes.find(({ paths }) => paths <= maxPaths);
      if (shape !== undefined) return shape.paths < 2 ? undefined : shape;
      if (this.#isDone) return undefined;
      this.#closing ??= new SharedSteps(() => this.#closeNext());
      yield* this.#closing.result();
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
    const field = this.#fieldFor(maxPaths);
    for (const { legs } of widest.flow.paths) {
      if (best.outAmount > widest.outAmount * (1 - LEAST_EXCHANGE)) return best;
      if (legs.every((index) => index < 0 || best.closed[index] === 0)) continue;
      const closed = best.closed.slice();
      for (const index of legs) if (index >= 0) closed[index] = 0;
      const search: ShapeSearch = yield* ShapeSearch.begin(field, closed, best.flow);
      const other = yield* search.#narrowed(maxPaths);
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
    if (first === undefined) return undefined;
    const field = this.#fieldFor(maxPaths);
    let wide = [first];
    let best: Shape | undefined;
    while (wide.length > 0) {
      const narrower = new Map<string, Shape>();
      for (const { closed, flow } of wide) {
        for (const index of this.#leastWorth(flow, closed).order.slice(0, SIDE_LOSSES_COMPARED)) {
          yield* field.terms.work.pause();
          const shape = without(field, index, closed, flow);
          if (shape === undefined || shape.outAmount <= (best?.outAmount ?? 0)) continue;
          if (shape.paths > maxPaths) narrower.set(shape.closed.join(), shape);
          else if (shape.paths > 1) best = shape;
        }
      }
      wide = [...narrower.values()].sort((a, b) => b.outAmount - a.outAmount).slice(0, SIDE_BY_SIDE);
    }
    return best;
  }

  /** What a search beside the narrowing to so many paths knows, and the shapes that were found, the widest first. */
  beside(maxPaths: number): { readonly field: Field; readonly shapes: readonly Shape[] } {
    return { field: this.#fieldFor(maxPaths), shapes: this.#shapes };
  }

  /** What the searches beside the narrowing to so many paths know: at first what that has learned down to so few, or to its end. */
  #fieldFor(maxPaths: number): Field {
    let field = this.#fields.get(maxPaths);
    if (field === undefined) {
      field = forkOf(this.#shapes.find(({ paths }) => paths <= maxPaths)?.field ?? this.#field);
      this.#fields.set(maxPaths, field);
    }
    return field;
  }

  /** Closes the edge whose loss costs least. */
  *#closeNext(): Steps<void> {
    const least = yield* this.#cheapestLoss(this.#flow!);
    this.#closing = undefined;
    if (least === undefined) {
      this.#isDone = true;
      this.#isStuck = true;
      return;
    }
    this.#closed[least] = 1;
    this.#settle(this.#fill(this.#flow));
  }

  #settle(flow: Flow | undefined): void {
    this.#flow = flow;
    if (flow === undefined) {
      this.#isDone = true;
      this.#isStuck = true;
      return;
    }
    const shape = shapeOf(this.#field, flow, this.#closed);
    for (const [index, isClosed] of shape.closed.entries())
      if (isClosed !== 0 && !this.#kept.has(index)) this.#closed[index] = 1;
    this.#shapes.push(shape);
    if (shape.paths < 2) this.#isDone = true;
  }

  /**
   * The edge to close next, if any: among the least valuable ones, the one whose closing costs least. An edge's own value does not show
   * what depends on it behind a hub, nor what other edges would give for its part: a market whose price hardly falls would seem worthless.
   */
  *#cheapestLoss(flow: Flow): Steps<number | undefined> {
    const closed = this.#closed;
    const { order, worth } = this.#leastWorth(flow, closed);
    let best: { readonly index: number; readonly out: number } | undefined;
    for (const index of order.slice(0, LOSSES_COMPARED)) {
      if (best !== undefined && flow.outAmount - best.out <= worth[index]! * LEAST_LOSS) break;
      yield* this.#field.terms.work.pause();
      closed[index] = 1;
      const out = this.#fill(flow)?.outAmount ?? 0;
      closed[index] = 0;
      if (out > 0 && (best === undefined || out > best.out)) best = { index, out };
    }
    return best?.index;
  }

  /** The open edges of a flow, the least valuable first, and the loss if the other markets took an edge's part at the price of their last part. */
  #leastWorth({ inputs, outputs, values: valuesOf }: Flow, closed: Uint8Array) {
    const { edges } = this.#field.network;
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
    const flow = fillCoarsely(this.#field, this.#closed, start);
    if (flow !== undefined || !canLearnLimits(this.#field, this.#closed)) return flow;
    // What it learns must not change the field of the shapes before.
    this.#field = forkOf(this.#field);
    return coarseFlow(this.#field, this.#closed, start);
  }
}

/** The shape that gives more. */
export function betterOf(shape: Shape | undefined, other: Shape | undefined): Shape | undefined {
  return other === undefined || (shape !== undefined && other.outAmount <= shape.outAmount) ? shape : other;
}

/** A shape with one more edge closed, and all that it leaves unused; undefined if it does not take everything. */
function without(field: Field, index: number, open: Uint8Array, start: Flow): Shape | undefined {
  const closed = open.slice();
  closed[index] = 1;
  const flow = coarseFlow(field, closed, start);
  return flow === undefined ? undefined : shapeOf(field, flow, closed);
}

/** @param open edges that the flow might use */
export function shapeOf(field: Field, flow: Flow, open: Uint8Array): Shape {
  const closed = open.map((isClosed, index) => (flow.inputs[index]! > 0 ? isClosed : 1));
  return { paths: pathsOf(field.network, flow), closed, outAmount: flow.outAmount, flow, field };
}

/** A coarse flow whose markets have all been quoted near what they take in it, as far as the budget allows. */
export function* quoteNear(field: Field, closed: Uint8Array, start?: Flow): Steps<Flow | undefined> {
  const { clock, budget, work } = field.terms;
  let flow = coarseFlow(field, closed, start);
  for (let round = 0; flow !== undefined && round < INFORMED_ROUNDS; round++) {
    yield* work.pause();
    let learned = 0;
    const { left } = budget;
    for (const [index, { curve }] of field.network.edges.entries()) {
      const input: number = flow.inputs[index]!;
      if (input > 0 && sampleNear(curve, input, clock, budget)) learned++;
    }
    work.quotes(left - budget.left);
    if (learned === 0) return flow;
    flow = coarseFlow(field, closed, flow);
  }
  return flow;
}

/** False if what the open markets take is known, or no quotes are left. */
function canLearnLimits({ network, terms }: Field, closed: Uint8Array): boolean {
  return terms.budget.left > 0 && network.edges.some(({ curve }, index) => closed[index] === 0 && !isLimitKnown(curve));
}

/** Finds out more closely what the open markets take. @returns false if that was known */
function narrowLimits({ network, terms: { clock, budget, work } }: Field, closed: Uint8Array): boolean {
  const { left } = budget;
  let isNew = false;
  for (const [index, { curve }] of network.edges.entries())
    if (closed[index] === 0 && sampleLimit(curve, clock, budget)) isNew = true;
  work.quotes(left - budget.left);
  return isNew;
}

function fillCoarsely({ network, terms }: Field, closed: Uint8Array, start?: Flow, parts = COARSE): Flow | undefined {
  const { inAmount, enough, maxLegs, work } = terms;
  return fillNetwork(network, { ...parts, inAmount, enough, maxLegs, closed, work }, start);
}

/** A flow that is good enough to compare shapes. If the markets do not take everything, they are first quoted closer to their limits. */
export function coarseFlow(field: Field, closed: Uint8Array, start?: Flow): Flow | undefined {
  let flow = fillCoarsely(field, closed, start);
  if (flow === undefined && narrowLimits(field, closed)) flow = fillCoarsely(field, closed, start);
  return flow ?? (start === undefined ? fillCoarsely(field, closed, start, FINER) : undefined);
}

/** The same over all markets, with about the given output. Base units. */
export function* coarseFlowFor(field: Field, outAmount: number): Steps<Flow | undefined> {
  const { network, terms } = field;
  const { inAmount, maxLegs, work } = terms;
  const closed = new Uint8Array(network.edges.length);
  const search = { ...COARSE, inAmount, maxLegs, closed, work };
  const flow = fillForOutput(network, search, outAmount);
  yield* work.pause();
  if (flow !== undefined || !narrowLimits(field, closed)) return flow;
  return fillForOutput(network, search, outAmount);
}
