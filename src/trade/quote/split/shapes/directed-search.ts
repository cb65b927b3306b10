import { allAtOnce, type Steps } from "../../long-searches.ts";
import { singleOut, singlePath } from "../flow/fill-network.ts";
import type { FlowEdge } from "../flow/flow.ts";
import type { CurveNetwork } from "../network.ts";
import { coarseFlow, type Shape, ShapeSearch, type ShapeTerms } from "./split-shape.ts";

/**
 * Up to this many hubs, their trades with each other are tried in all directions; with more, only in the direction of the first such
 * trades.
 */
const MOST_DIRECTED = 4;
/** Directions that are narrowed at most. */
const MOST_NARROWED = 2;
/** Shapes without some edges that are kept at most. */
const MOST_LIGHT = 64;

/** If a shape gives this much less than all paths together, it is searched in another way too. Fraction. */
const MOST_LOST = 0.03;

/** A market that takes more than this part of its limit counts as full. */
const NEAR_LIMIT = 0.999;

/** A network whose trades between hubs run in one direction only, and what it gives over any number of paths. */
interface Direction {
  readonly closed: Uint8Array;
  readonly outAmount: number;
  search: ShapeSearch | undefined;
  /** See `#anchoredShape`. */
  anchored?: ShapeSearch | undefined;
}

/** Narrows a network, once for each direction in which trades between hubs may run, the most promising first. */
export class DirectedSearch {
  readonly #network: CurveNetwork;
  readonly #terms: ShapeTerms;
  readonly #directions: readonly Direction[];
  /** Shapes by the most paths. */
  readonly #best = new Map<number, Shape | undefined>();
  /** Shapes by the most paths and the edges that were left out. */
  readonly #light = new Map<string, Shape | undefined>();

  /** @param closed edges that no shape may use */
  constructor(network: CurveNetwork, terms: ShapeTerms, closed: Uint8Array) {
    this.#network = network;
    this.#terms = terms;
    this.#directions = directionsOf(network, terms, closed);
  }

  /** What any number of paths gives, by the curves; 0 if they do not take everything. Base units. */
  get widestOut(): number {
    const [first] = this.#directions;
    return first === undefined ? 0 : this.#searchOf(first).widestOut;
  }

  /** What splitting over any number of paths gains over the best single path, by the curves. Fraction. */
  gain(): number {
    const widest = this.widestOut;
    if (widest === 0) return 0;
    const single = singleOut(this.#network, this.#terms.inAmount, this.#terms.maxLegs);
    return single === 0 ? 1 : widest / single - 1;
  }

  /** True if a search for fewer paths ended because those do not take everything. */
  get #isStuck(): boolean {
    return this.#directions.length === 0 || this.#directions.some(({ search }) => search?.isStuck);
  }

  /** True if limits of markets leave the best shape of up to `maxPaths` paths much less than all paths together, or leave none. */
  *isHeldBack(maxPaths: number): Steps<boolean> {
    const shape = yield* this.shapeFor(maxPaths);
    if (shape === undefined) return this.#isStuck;
    return shape.outAmount <= this.widestOut * (1 - MOST_LOST) && this.#fillsMarket(shape);
  }

  /** True if a shape fills a market to its limit, and if there is none. */
  #fillsMarket(shape: Shape | undefined): boolean {
    if (shape === undefined) return true;
    const { inputs } = shape.flow;
    return this.#network.edges.some(({ curve }, index) => inputs[index]! > curve.most * NEAR_LIMIT);
  }

  /** The best shape of two up to `maxPaths` paths; undefined if there is none. */
  *shapeFor(maxPaths: number): Steps<Shape | undefined> {
    if (!this.#best.has(maxPaths)) this.#best.set(maxPaths, yield* this.#bestFor(maxPaths));
    return this.#best.get(maxPaths);
  }

  *#bestFor(maxPaths: number): Steps<Shape | undefined> {
    let best: Shape | undefined;
    for (const direction of this.#directions) {
      if (best !== undefined && direction.outAmount <= best.outAmount) break;
      yield* this.#terms.work.pause();
      const shape = yield* this.#searchOf(direction).shapeFor(maxPaths);
      if (shape !== undefined && (best === undefined || shape.outAmount > best.outAmount)) best = shape;
      if (!this.#losesMuch(direction, shape)) continue;
      yield* this.#terms.work.pause();
      const other = yield* this.#anchoredShape(direction, maxPaths);
      if (other !== undefined && (best === undefined || other.outAmount > best.outAmount)) best = other;
      if (!this.#losesMuch(direction, best) || !this.#fillsMarket(best)) continue;
      const besides = yield* this.#searchOf(direction).shapeBesides(maxPaths);
      if (besides !== undefined && (best === undefined || besides.outAmount > best.outAmount)) best = besides;
    }
    return best;
  }

  /**
   * The same with some more edges closed, in the most promising direction only and starting from its widest flow: cheap, and nearly as
   * good. Many of these are compared, and all are kept.
   */
  shapeWithout(maxPaths: number, left: Uint8Array): Shape | undefined {
    const key = `${maxPaths}: ${left}`;
    if (this.#light.has(key)) return this.#light.get(key);
    const found = this.#narrowedWithout(maxPaths, left);
    if (this.#light.size >= MOST_LIGHT) this.#light.clear();
    this.#light.set(key, found);
    return found;
  }

  #narrowedWithout(maxPaths: number, left: Uint8Array): Shape | undefined {
    const [first] = this.#directions;
    if (first === undefined) return undefined;
    const closed = first.closed.map((isClosed, index) => isClosed | left[index]!);
    const search = new ShapeSearch(this.#network, this.#terms, closed, this.#searchOf(first).widestFlow);
    return allAtOnce(search.shapeFor(maxPaths));
  }

  /** True if all paths together give much more than the shape of the direction. */
  #losesMuch(direction: Direction, shape: Shape | undefined): boolean {
    return shape === undefined || shape.outAmount <= this.#searchOf(direction).widestOut * (1 - MOST_LOST);
  }

  /**
   * The best shape of a search that keeps the best single path open; undefined if no single path takes everything. A market that takes much
   * at a bad price is the first to be closed while the others hold the trade; once fewer of them are left, nothing does.
   */
  *#anchoredShape(direction: Direction, maxPaths: number): Steps<Shape | undefined> {
    if (direction.anchored === undefined) {
      const { closed } = direction;
      const { widestFlow } = this.#searchOf(direction);
      const kept = widestFlow === undefined ? undefined : singlePath(this.#network, this.#terms, closed);
      if (kept === undefined) return undefined;
      direction.anchored = new ShapeSearch(this.#network, this.#terms, closed.slice(), widestFlow, kept);
    }
    return yield* direction.anchored.shapeFor(maxPaths);
  }

  #searchOf(direction: Direction): ShapeSearch {
    direction.search ??= new ShapeSearch(this.#network, this.#terms, direction.closed.slice());
    return direction.search;
  }
}

/** The directions worth trying: each division of the hubs into starts and ends of trades between them, once per outcome. */
function directionsOf(network: CurveNetwork, terms: ShapeTerms, closed: Uint8Array): readonly Direction[] {
  const { mints, edges } = network;
  const hubs = mints - 2;
  const isBetween = ({ from, to }: FlowEdge) => from > 1 && to > 1;
  const hasBetween = edges.some((edge, index) => isBetween(edge) && closed[index] === 0);
  if (!hasBetween || hubs > MOST_DIRECTED || terms.maxLegs < 3) return [{ closed, outAmount: 0, search: undefined }];
  const directions: Direction[] = [];
  for (let bits = 1; bits < 2 ** hubs - 1; bits++) {
    const starts = bits << 2;
    const directed = closed.slice();
    for (const [index, edge] of edges.entries())
      if (isBetween(edge) && (((starts >> edge.from) & 1) === 0 || ((starts >> edge.to) & 1) === 1))
        directed[index] = 1;
    const outAmount = coarseFlow(network, terms, directed)?.outAmount ?? 0;
    // Equal outputs: the edges by which the two differ are not used.
    if (outAmount > 0 && !directions.some((other) => other.outAmount === outAmount))
      directions.push({ closed: directed, outAmount, search: undefined });
  }
  return directions.sort((a, b) => b.outAmount - a.outAmount).slice(0, MOST_NARROWED);
}
