import type { ChainClock } from "../../../solana/account.ts";
import { type Flow, fillNetwork, pathsOf } from "./flow.ts";
import type { QuoteBudget } from "./market-curve.ts";
import type { CurveNetwork } from "./network.ts";

/** Parts that the input is cut into, to find which markets take part. */
const COARSE_PARTS = 16;
/** The same to compare what is lost by closing one or another of them. */
const LOSS_PARTS = 8;
/** Rounds in which markets are quoted where a coarse flow uses them, before any is closed. */
const INFORMED_ROUNDS = 3;
/** Edges that carry least, of which the cheapest to lose is closed. */
const LOSSES_COMPARED = 4;

/** How a network is narrowed. */
export interface ShapeTerms {
  /** About what goes in. Base units. */
  readonly inAmount: number;
  readonly maxLegs: number;
  readonly clock: ChainClock;
  readonly budget: QuoteBudget;
}

/** Which edges of a network stay open for a number of parallel paths. */
interface Shape {
  readonly paths: number;
  readonly closed: Uint8Array;
}

/**
 * Narrows a network: all its edges are filled, then the path whose loss costs least is closed, and again, as far down as it is
 * asked for. Every shape on the way is kept.
 */
export class ShapeSearch {
  readonly #network: CurveNetwork;
  readonly #terms: ShapeTerms;
  readonly #closed: Uint8Array;
  readonly #shapes: Shape[] = [];
  #flow: Flow | undefined;
  #isDone = false;

  /** @param closed edges that no shape may use */
  constructor(network: CurveNetwork, terms: ShapeTerms, closed: Uint8Array) {
    this.#network = network;
    this.#terms = terms;
    this.#closed = closed;
    this.#settle(this.#informedFlow());
  }

  /** What splitting over any number of paths gains over the best one, on the curves. Fraction. */
  gain(): number {
    const [split, single] = [this.#fill(COARSE_PARTS), this.#fill(1)];
    if (split === undefined) return 0;
    return single === undefined ? 1 : split.outAmount / single.outAmount - 1;
  }

  /** The closed edges of the best shape of two up to `maxPaths` paths; undefined if there is none. */
  closedFor(maxPaths: number): Uint8Array | undefined {
    for (;;) {
      const shape = this.#shapes.find(({ paths }) => paths <= maxPaths);
      if (shape !== undefined) return shape.paths < 2 ? undefined : shape.closed;
      if (this.#isDone || this.#flow === undefined) return undefined;
      const least = this.#cheapestLoss(this.#flow);
      if (least === undefined) return undefined;
      this.#closed[least] = 1;
      this.#settle(this.#informedFlow());
    }
  }

  #settle(flow: Flow | undefined): void {
    this.#flow = flow;
    if (flow === undefined) {
      this.#isDone = true;
      return;
    }
    for (const [index, carried] of flow.carried.entries()) if (carried === 0) this.#closed[index] = 1;
    const paths = pathsOf(this.#network, flow);
    this.#shapes.push({ paths, closed: this.#closed.slice() });
    if (paths < 2) this.#isDone = true;
  }

  /** A coarse flow whose markets were all quoted near what they take in it. */
  #informedFlow(): Flow | undefined {
    const { clock, budget } = this.#terms;
    let flow = this.#fill(COARSE_PARTS);
    for (let round = 0; flow !== undefined && round < INFORMED_ROUNDS; round++) {
      let learned = 0;
      for (const [index, { curve }] of this.#network.edges.entries()) {
        const input = flow.inputs[index]!;
        if (input > 0 && !curve.knows(input) && curve.sample(BigInt(Math.floor(input)), clock, budget)) learned++;
      }
      if (learned === 0) return flow;
      flow = this.#fill(COARSE_PARTS);
    }
    return flow;
  }

  /** Of the open edges that carry least, the one whose closing costs least. */
  #cheapestLoss({ carried }: Flow): number | undefined {
    const closed = this.#closed;
    const least = Array.from(carried.keys())
      .filter((index) => closed[index] === 0)
      .sort((a, b) => carried[a]! - carried[b]!)
      .slice(0, LOSSES_COMPARED);
    let best: { readonly index: number; readonly out: number } | undefined;
    for (const index of least) {
      closed[index] = 1;
      const out = this.#fill(LOSS_PARTS)?.outAmount ?? 0;
      closed[index] = 0;
      if (out > 0 && (best === undefined || out > best.out)) best = { index, out };
    }
    return best?.index;
  }

  #fill(parts: number): Flow | undefined {
    const { inAmount, maxLegs } = this.#terms;
    return fillNetwork(this.#network, {
      mode: "exactIn",
      inAmount,
      outAmount: 0,
      parts,
      maxLegs,
      closed: this.#closed,
    });
  }
}
