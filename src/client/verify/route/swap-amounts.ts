import type { Address } from "../../../primitives/address.ts";
import type { SwapBounds } from "../match-swap.ts";
import type { TradeExpectation } from "../trade-expectation.ts";
import type { SwapTable } from "../venues/swap-table.ts";
import type { ExpectedLeg } from "./announced-route.ts";
import { pathFault } from "./path-bounds.ts";

/** What a vault may round down between the program's check of the minimum output and its payment. Base units. */
const VAULT_ROUNDING = 2n;
/** What may arrive below a minimum that the program checked before its vault rounds. Base units. */
const VAULT_SHORT = 1n;

/**
 * What the swaps of a route may take and must yield, as their instructions are read. In a row of markets each swap's input and
 * output match the order; over parallel paths their sums do. All amounts are base units.
 */
export class SwapAmounts {
  /** True if each market trades what the one before it yielded: there are no parallel paths. */
  readonly isRow: boolean;
  readonly #trade: TradeExpectation;
  /** By mint between two markets: what the swaps so far guarantee of it, less what later swaps may take. */
  readonly #held = new Map<Address, bigint>();
  /** What all swaps may take of the input, and must yield of the output. */
  #mostIn = 0n;
  #leastOut = 0n;

  constructor(trade: TradeExpectation) {
    const { legs } = trade;
    this.#trade = trade;
    this.isRow = legs.every(({ inMint }, index) => index === 0 || inMint === legs[index - 1]!.outMint);
  }

  /** Adds the next swap. @returns the fault of its bounds, if any */
  add(leg: ExpectedLeg, bounds: SwapBounds, table: SwapTable): readonly string[] {
    const slack = table.rounds === true ? VAULT_ROUNDING : 0n;
    return [
      // A program may pass over a swap of nothing, and over its bound with it.
      bounds.mostIn === 0n ? "it swaps nothing" : undefined,
      this.isRow ? undefined : pathFault(this.#trade, leg, bounds, slack),
      leg.inMint === this.#trade.inMint ? this.#spend(leg, bounds, table) : this.#pass(leg, bounds),
      this.#yield(leg, bounds, table),
    ].filter((fault) => fault !== undefined);
  }

  /** Over parallel paths, all swaps together take of the input, and must yield of the output, what the order allows. */
  sumFaults(isGuarded: boolean): readonly string[] {
    if (this.isRow) return [];
    const { mode, amount, threshold } = this.#trade;
    const [most, least] = mode === "exactIn" ? [amount, threshold] : [threshold, amount];
    const faults: string[] = [];
    if (mode === "exactIn" ? this.#mostIn !== most : this.#mostIn > most) {
      faults.push(`its swaps take up to ${this.#mostIn} base units together, but the order allows ${most}`);
    }
    if (!isGuarded && this.#leastOut < least) {
      faults.push(`its swaps yield at least ${this.#leastOut} base units together, but the order requires ${least}`);
    }
    return faults;
  }

  #spend(leg: ExpectedLeg, { mostIn }: SwapBounds, { exact }: SwapTable): string | undefined {
    const { mode, amount, threshold } = this.#trade;
    this.#mostIn += mostIn;
    if (!this.isRow) return undefined;
    if (mode === "exactIn") {
      if (mostIn === amount) return undefined;
      return `its input is up to ${mostIn} base units, but the order is for ${amount}`;
    }
    // Without an exact-output instruction, the swap takes the estimated input and requires the exact output.
    const most = exact === "out" || leg.inAmount > threshold ? threshold : leg.inAmount;
    if (mostIn === most) return undefined;
    return `its input is up to ${mostIn} base units, but slippage allows exactly ${most}`;
  }

  /** A swap takes at most as much of a mint between two markets as earlier swaps must yield. */
  #pass({ inMint }: ExpectedLeg, { mostIn }: SwapBounds): string | undefined {
    const held = this.#held.get(inMint) ?? 0n;
    this.#held.set(inMint, held - mostIn);
    if (mostIn <= held) return undefined;
    return `it may take ${mostIn} base units, but the previous swaps guarantee only ${held}`;
  }

  #yield(
    { outMint, outAmount }: ExpectedLeg,
    { leastOut }: SwapBounds,
    { rounds, cuts }: SwapTable,
  ): string | undefined {
    const { mode, amount, threshold } = this.#trade;
    if (outMint !== this.#trade.outMint) {
      const arrives = cuts === true ? 0n : rounds === true ? leastOut - VAULT_SHORT : leastOut;
      this.#held.set(outMint, (this.#held.get(outMint) ?? 0n) + arrives);
      return undefined;
    }
    this.#leastOut += leastOut;
    if (!this.isRow) return undefined;
    const exactIn = mode === "exactIn";
    const least = exactIn ? threshold : amount;
    // Where rounding follows the check, the minimum is higher by it; an exact output may be overshot as estimated.
    const most = (exactIn || outAmount < least ? least : outAmount) + VAULT_ROUNDING;
    if (rounds === true ? leastOut >= least && leastOut <= most : leastOut === least) return undefined;
    return `its minimum output is ${leastOut} base units, but ${exactIn ? "slippage requires" : "the order is for"} ${least}`;
  }
}
