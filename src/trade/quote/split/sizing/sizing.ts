import type { HotMarket } from "../../../../market/port.ts";
import type { Intent } from "../../../intent.ts";
import type { Steps } from "../../long-searches.ts";
import { DirectedSearch } from "../shapes/directed-search.ts";
import { type Field, forkOf, quoteNear, type Shape } from "../shapes/split-shape.ts";
import { SharedSteps } from "../steps/shared-steps.ts";
import { KnownFits } from "./known-fits.ts";

/** Further quotes near what the chosen markets take, if the search has used up its own. */
const CHOSEN_BUDGET = 48;
/** Searches without some markets that are kept at most. */
const MOST_KEPT = 16;

/** Amounts that shapes are searched for. Base units. */
export interface Size {
  /** Input of a division. */
  readonly inAmount: number;
  /** Its output, for exact outputs. */
  readonly outAmount: number;
  /** True if markets that give the exact output count even if they do not take the whole input. */
  readonly takesLess: boolean;
}

/** The markets to divide trades of about one size between. */
export class Sizing {
  readonly size: Size;
  readonly fits: KnownFits;
  readonly #field: Field;
  readonly #all: SharedSteps<DirectedSearch>;
  readonly #gain = new SharedSteps(() => this.#gained());
  /** By the edges that no shape may use. */
  readonly #without = new Map<string, SharedSteps<DirectedSearch>>();
  /** Shapes whose open markets have been quoted closely. */
  readonly #closely = new WeakMap<Shape, Shape>();

  /** @param known the field of all markets */
  constructor(known: Field, size: Size, fits = new KnownFits()) {
    const { inAmount, outAmount, takesLess } = size;
    this.size = size;
    this.fits = fits;
    this.#field = { ...known, terms: { ...known.terms, inAmount, enough: takesLess ? outAmount : undefined } };
    this.#all = this.#search(new Uint8Array(known.network.edges.length));
  }

  /** The same for other amounts. */
  resized(size: Partial<Size>): Sizing {
    return new Sizing(this.#field, { ...this.size, ...size }, this.fits);
  }

  /** Approximate input of a division of a trade. Base units. */
  inputFor({ mode, amount }: Intent): number {
    const { inAmount, outAmount } = this.size;
    return mode === "exactIn" ? Number(amount) : (inAmount * Number(amount)) / outAmount;
  }

  /** The output that is enough, if the input need not be placed entirely. Base units. */
  enoughFor({ amount }: Intent): number | undefined {
    return this.size.takesLess ? Number(amount) : undefined;
  }

  /** What any number of paths gives, by the curves; 0 if they do not take everything. Base units. */
  *widestOut(): Steps<number> {
    return yield* (yield* this.#all.result()).widestOut();
  }

  /** What dividing gains over the best single path, by the curves. Fraction. */
  gain(): Steps<number> {
    return this.#gain.result();
  }

  *#gained(): Steps<number> {
    return yield* (yield* this.#all.result()).gain();
  }

  /** See `DirectedSearch`. */
  *isHeldBack(maxPaths: number): Steps<boolean> {
    return yield* (yield* this.#all.result()).isHeldBack(maxPaths);
  }

  /** See `DirectedSearch`. */
  *fillsMarket(maxPaths: number): Steps<boolean> {
    return yield* (yield* this.#all.result()).fillsMarket(maxPaths);
  }

  /** The best shape of a division over two up to `maxPaths` paths; undefined if there is none. */
  *shapeFor(maxPaths: number, refused: ReadonlySet<HotMarket>): Steps<Shape | undefined> {
    const search = refused.size === 0 ? this.#all : this.#searchWithout(this.#edgesOf(refused));
    const shape = yield* (yield* search.result()).shapeFor(maxPaths);
    return shape === undefined || shape.field.terms.budget.left > 0 ? shape : yield* this.#quotedClosely(shape);
  }

  /** The same for divisions that leave markets out so that they fit. */
  *shapeWithout(maxPaths: number, refused: ReadonlySet<HotMarket>): Steps<Shape | undefined> {
    return (yield* this.#all.result()).shapeWithout(maxPaths, this.#edgesOf(refused));
  }

  /** The shape with its markets quoted near what they take: with distant sizes only, a price seems to bend too early. */
  *#quotedClosely(shape: Shape): Steps<Shape> {
    const known = this.#closely.get(shape);
    if (known !== undefined) return known;
    const { network, terms } = forkOf(shape.field);
    const field = { network, terms: { ...terms, budget: { left: CHOSEN_BUDGET } } };
    yield* quoteNear(field, shape.closed);
    const closely = { ...shape, field };
    this.#closely.set(shape, closely);
    return closely;
  }

  #search(closed: Uint8Array): SharedSteps<DirectedSearch> {
    return new SharedSteps(() => DirectedSearch.begin(this.#field, closed));
  }

  #searchWithout(closed: Uint8Array): SharedSteps<DirectedSearch> {
    const key = closed.join("");
    let search = this.#without.get(key);
    if (search === undefined) {
      search = this.#search(closed);
      if (this.#without.size >= MOST_KEPT) this.#without.clear();
      this.#without.set(key, search);
    }
    return search;
  }

  /** @param markets in the states in which the sizing knows them, or in later ones */
  #edgesOf(markets: ReadonlySet<HotMarket>): Uint8Array {
    const addresses = new Set(Array.from(markets, ({ market }) => market.address));
    return Uint8Array.from(this.#field.network.edges, ({ curve }) => (addresses.has(curve.hot.market.address) ? 1 : 0));
  }
}
