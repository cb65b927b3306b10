import { allAtOnce, type Steps } from "../../long-searches.ts";
import { singlePath, wholeOut } from "../flow/fill-network.ts";
import type { FlowEdge } from "../flow/flow.ts";
import { SharedSteps } from "../steps/shared-steps.ts";
import { exchangedShape } from "./exchanged-shape.ts";
import { betterOf, coarseFlow, type Field, forkOf, type Shape, ShapeSearch } from "./split-shape.ts";

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
  readonly search: SharedSteps<ShapeSearch>;
  /** See `anchoredIn`. */
  readonly anchored: SharedSteps<ShapeSearch | undefined>;
}

/** Narrows a network, once for each direction in which trades between hubs may run, the most promising first. */
export class DirectedSearch {
  readonly #field: Field;
  readonly #directions: readonly Direction[];
  /** Shapes by the most paths. */
  readonly #best = new Map<number, SharedSteps<Shape | undefined>>();
  /** Shapes by the most paths and the edges that were left out. */
  readonly #light = new Map<string, Shape | undefined>();

  private constructor(field: Field, directions: readonly Direction[]) {
    this.#field = field;
    this.#directions = directions;
  }

  /** @param closed edges that no shape may use */
  static *begin(known: Field, closed: Uint8Array): Steps<DirectedSearch> {
    const field = forkOf(known);
    return new DirectedSearch(field, yield* directionsOf(field, closed));
  }

  /** What any number of paths gives, by the curves; 0 if they do not take everything. Base units. */
  *widestOut(): Steps<number> {
    const [first] = this.#directions;
    return first === undefined ? 0 : (yield* first.search.result()).widestOut;
  }

  /** What splitting over any number of paths gains over the best single path, by the curves. Fraction. */
  *gain(): Steps<number> {
    const [first] = this.#directions;
    if (first === undefined) return 0;
    const { widestOut, widestField } = yield* first.search.result();
    if (widestOut === 0) return 0;
    const { network, terms } = widestField;
    const single = wholeOut(network, { ...terms, closed: first.closed });
    return single === 0 ? 1 : widestOut / single - 1;
  }

  /** True if limits of markets leave the best shape of up to `maxPaths` paths much less than all paths together, or leave none. */
  *isHeldBack(maxPaths: number): Steps<boolean> {
    const shape = yield* this.shapeFor(maxPaths);
    if (shape !== undefined)
      return fillsMarket(shape) && shape.outAmount <= (yield* this.widestOut()) * (1 - MOST_LOST);
    const isStuck = ({ search }: Direction) => search.found?.value.isStuckAt(maxPaths) === true;
    return this.#directions.length === 0 || this.#directions.some(isStuck);
  }

  /** True if the best shape of up to `maxPaths` paths fills a market to its limit. */
  *fillsMarket(maxPaths: number): Steps<boolean> {
    const shape = yield* this.shapeFor(maxPaths);
    return shape !== undefined && fillsMarket(shape);
  }

  /** The best shape of two up to `maxPaths` paths; undefined if there is none. */
  shapeFor(maxPaths: number): Steps<Shape | undefined> {
    let search = this.#best.get(maxPaths);
    if (search === undefined) {
      search = new SharedSteps(() => this.#bestFor(maxPaths));
      this.#best.set(maxPaths, search);
    }
    return search.result();
  }

  *#bestFor(maxPaths: number): Steps<Shape | undefined> {
    const { work } = this.#field.terms;
    let best: Shape | undefined;
    for (const direction of this.#directions) {
      if (best !== undefined && direction.outAmount <= best.outAmount) break;
      yield* work.pause();
      const search = yield* direction.search.result();
      const shape = yield* search.shapeFor(maxPaths);
      best = betterOf(best, shape);
      if (!losesMuch(search, shape)) continue;
      yield* work.pause();
      // A market that takes much at a bad price is the first to be closed while the others hold the trade; once fewer of them are left, nothing does.
      const anchored = yield* direction.anchored.result();
      best = betterOf(best, anchored === undefined ? undefined : yield* anchored.shapeFor(maxPaths));
      if (!losesMuch(search, best) || (best !== undefined && !fillsMarket(best))) continue;
      best = betterOf(best, yield* search.shapeBesides(maxPaths));
      if (this.#field.terms.exchanges && losesMuch(search, best))
        best = betterOf(
          best,
          yield* exchangedShape({ ...search.beside(maxPaths), closed: direction.closed, maxPaths, start: best }),
        );
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
    const { widestField, widestFlow } = allAtOnce(first.search.result());
    const closed = first.closed.map((isClosed, index) => isClosed | left[index]!);
    const search = allAtOnce(ShapeSearch.begin(forkOf(widestField), closed, widestFlow));
    return allAtOnce(search.shapeFor(maxPaths));
  }
}

/** True if all paths together give much more than a shape. */
function losesMuch({ widestOut }: ShapeSearch, shape: Shape | undefined): boolean {
  return shape === undefined || shape.outAmount <= widestOut * (1 - MOST_LOST);
}

/** True if a shape fills a market to its limit. */
function fillsMarket({ flow: { inputs }, field: { network } }: Shape): boolean {
  return network.edges.some(({ curve }, index) => inputs[index]! > curve.most * NEAR_LIMIT);
}

function directionOf(field: Field, closed: Uint8Array, outAmount: number): Direction {
  const search = new SharedSteps(() => ShapeSearch.begin(forkOf(field), closed.slice()));
  return { closed, outAmount, search, anchored: new SharedSteps(() => anchoredIn(search, closed)) };
}

/** A search that keeps the best single path open; undefined if no single path takes everything. */
function* anchoredIn(search: SharedSteps<ShapeSearch>, closed: Uint8Array): Steps<ShapeSearch | undefined> {
  const { widestField, widestFlow } = yield* search.result();
  if (widestFlow === undefined) return undefined;
  const kept = singlePath(widestField.network, { ...widestField.terms, closed });
  return kept === undefined
    ? undefined
    : yield* ShapeSearch.begin(forkOf(widestField), closed.slice(), widestFlow, kept);
}

/** The directions worth trying: each division of the hubs into starts and ends of trades between them, once per outcome. */
function* directionsOf(field: Field, closed: Uint8Array): Steps<readonly Direction[]> {
  const { network, terms } = field;
  const { mints, edges } = network;
  const hubs = mints - 2;
  const isBetween = ({ from, to }: FlowEdge) => from > 1 && to > 1;
  const hasBetween = edges.some((edge, index) => isBetween(edge) && closed[index] === 0);
  if (!hasBetween || hubs > MOST_DIRECTED || terms.maxLegs < 3) return [directionOf(field, closed, 0)];
  const directions: { readonly closed: Uint8Array; readonly outAmount: number }[] = [];
  for (let bits = 1; bits < 2 ** hubs - 1; bits++) {
    const starts = bits << 2;
    const directed = closed.slice();
    for (const [index, edge] of edges.entries())
      if (isBetween(edge) && (((starts >> edge.from) & 1) === 0 || ((starts >> edge.to) & 1) === 1))
        directed[index] = 1;
    yield* terms.work.pause();
    const outAmount = coarseFlow(field, directed)?.outAmount ?? 0;
    // Equal outputs: the edges by which the two differ are not used.
    if (outAmount > 0 && !directions.some((other) => other.outAmount === outAmount))
      directions.push({ closed: directed, outAmount });
  }
  directions.sort((a, b) => b.outAmount - a.outAmount);
  return directions.slice(0, MOST_NARROWED).map((one) => directionOf(field, one.closed, one.outAmount));
}
