import { describe, expect, it } from "vitest";
import type { AccountView } from "../../src/solana/account.ts";
import { LINE_SIZE, leastIn, mostOut, spotBoundOf, writeLine } from "../../src/venues/spot-bound.ts";
import type { Quote, Venue } from "../../src/venues/venue.ts";
import { type Execution, readExecutions } from "../support/executions.ts";

/** Most units that are asked for, for each that was used. */
const LOOSEST = 1.4;

/*
 * Trades that the slow tests of the venues made on the real programs, a few of each venue. They were chosen so that together they go
 * through as much of its code as all that were made do, most of it several times.
 */

describe.each(readExecutions())("%s", (_, executions) => {
  it("quotes trades as its program executed them", () => {
    for (const execution of executions) {
      const { inAmount, outAmount } = quoteOf(execution).quote;
      expect({ inAmount, outAmount }, told(execution)).toEqual(execution.moved);
    }
  });

  it("asks for the compute units that they used, and for few more", () => {
    for (const execution of executions) {
      const { venue, ask, wallet, source, destination, exists, units } = execution;
      const { state, quote } = quoteOf(execution);
      const threshold = ask.mode === "exactIn" ? quote.outAmount : quote.inAmount;
      const leg = venue.swap(state, quote, { wallet, source, destination, threshold, salt: 0, exists });
      expect(leg.computeUnits, told(execution)).toBeGreaterThanOrEqual(units);
      expect(leg.computeUnits, told(execution)).toBeLessThanOrEqual(LOOSEST * units);
    }
  });

  it("bounds what they gave by the price before them, and closely", () => {
    const table = new Float64Array(LINE_SIZE);
    const shares = executions.flatMap((execution) => {
      const { venue, ask, pair, before, moved } = execution;
      const bound = spotBoundOf(venue, stateOf(execution, before), before);
      if (bound === undefined) return [];
      const { mints } = venue.decode(before.get(execution.market)!, { a: pair[0], b: pair[1] })!;
      writeLine(table, 0, ask.inMint === mints[0] ? bound.from0 : bound.from1, bound.rounding);
      const [input, output] = [Number(moved.inAmount), Number(moved.outAmount)];
      if (ask.mode === "exactIn") expect(mostOut(table, 0, input), told(execution)).toBeGreaterThanOrEqual(output);
      else expect(leastIn(table, 0, output), told(execution)).toBeLessThanOrEqual(input);
      return ask.mode === "exactIn" ? output / mostOut(table, 0, input) : leastIn(table, 0, output) / input;
    });
    // Fees that may fall keep some bounds far from what trades give.
    expect(Math.max(...shares)).toBeGreaterThan(0.999);
  });

  it.runIf(executions.some(({ after }) => after !== undefined))("says what they left", () => {
    for (const execution of executions) {
      const { venue, ask, after } = execution;
      if (after === undefined) continue;
      const { state, quote } = quoteOf(execution);
      const said = venue.traded!(state, quote, ask.clock);
      for (const next of nextAsks(venue, quote, execution)) {
        const expected = answerOf(venue, said, next);
        // The state that is said holds no arrays of ticks beyond those that were read.
        if (venue.arrayNumbers !== undefined && expected === "INSUFFICIENT_LIQUIDITY") continue;
        expect(expected, told(execution)).toBe(answerOf(venue, stateOf(execution, after), next));
      }
    }
  });
});

function stateOf({ venue, market, pair }: Execution, have: AccountView): unknown {
  const found = venue.decode(have.get(market)!, { a: pair[0], b: pair[1] })!;
  expect(venue.needs(found, have)).toEqual([]);
  return venue.read(found, have);
}

function quoteOf(execution: Execution): { state: unknown; quote: Quote } {
  const state = stateOf(execution, execution.before);
  return { state, quote: execution.venue.quote(state, execution.ask) };
}

/** Trades of about the size, either way. */
function nextAsks({ supports }: Venue, made: Quote, { ask }: Execution): readonly Execution["ask"][] {
  const back = { ...ask, mode: "exactIn", inMint: ask.outMint, outMint: ask.inMint } as const;
  const sizes = [made.inAmount, made.inAmount / 3n + 1n];
  return [
    ...sizes.map((amount) => ({ ...ask, mode: "exactIn", amount }) as const),
    { ...back, amount: made.outAmount },
    { ...back, amount: made.outAmount / 7n + 1n },
    ...(supports.exactOut ? [{ ...ask, mode: "exactOut", amount: made.outAmount / 7n + 1n } as const] : []),
  ];
}

/** Both amounts, or the code of the refusal. */
function answerOf(venue: Venue, state: unknown, ask: Execution["ask"]): string {
  try {
    const { inAmount, outAmount } = venue.quote(state, ask);
    return `${inAmount} for ${outAmount}`;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const told = ({ market, ask }: Execution) => `${ask.mode} ${ask.amount} of ${ask.inMint} on ${market}`;
