/**
 * What one worst case costs on a market of each venue, for the largest trade it takes: `npm run bench:worst-cases`. The longest step,
 * which is the longest turn of the event loop, and the whole search. The same steps run several times and the least time of each
 * counts, so that other work on the machine is left out. Ends with an error if a turn is longer than promised.
 */
import { SOL_MINT } from "../../src/solana/programs.ts";
import { findSandwich } from "../../src/trade/quote/worst-case/sandwich.ts";
import type { Quote } from "../../src/venues/venue.ts";
import { readSampleMarkets, type SampleMarket } from "../support/sample-markets.ts";

const REPEATS = 3;
const MARKETS_OF_A_VENUE = 3;
/** Milliseconds. */
const LONGEST_TURN = 20;

const { mint, clock, markets } = readSampleMarkets();
let isHeld = true;
for (const [id, all] of Map.groupBy(markets, ({ venue }) => venue.id)) {
  let [turn, total] = [0, 0];
  for (const market of all.slice(0, MARKETS_OF_A_VENUE)) {
    for (const forwards of [true, false]) {
      const steps = stepsOf(market, forwards);
      turn = Math.max(turn, ...steps);
      total = Math.max(
        total,
        steps.reduce((sum, step) => sum + step, 0),
      );
    }
  }
  isHeld &&= turn <= LONGEST_TURN;
  process.stdout.write(`${id.padEnd(20)} longest turn ${turn.toFixed(2)} ms, in all ${total.toFixed(1)} ms\n`);
}
process.exitCode = isHeld ? 0 : 1;

/** The least time of each step of one search. Milliseconds. */
function stepsOf({ venue, hot }: SampleMarket, forwards: boolean): readonly number[] {
  const [inMint, outMint] = forwards ? [SOL_MINT, mint] : [mint, SOL_MINT];
  const quoted = (amount: bigint): Quote | undefined => {
    try {
      return venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount, clock });
    } catch {
      return undefined;
    }
  };
  let signed: Quote | undefined;
  for (let size = 8n; size < 62n; size++) signed = quoted(1n << size) ?? signed;
  if (signed === undefined) return [0];
  // A bound as loose as it can be: the search is the longer the more room there is.
  const ask = { mode: "exactIn", amount: signed.inAmount, bound: signed.outAmount / 100n } as const;
  const least: number[] = [];
  for (let run = 0; run < REPEATS; run++) {
    const steps = findSandwich({ hot, state: hot.state, inMint, outMint, signed, ask, clock });
    for (let at = 0, done: boolean | undefined = false; !done; at++) {
      const started = performance.now();
      done = steps.next().done;
      least[at] = Math.min(least[at] ?? Number.POSITIVE_INFINITY, performance.now() - started);
    }
  }
  return least;
}
