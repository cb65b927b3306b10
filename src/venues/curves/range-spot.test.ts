import { expect, test } from "vitest";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import { createRandom } from "../../primitives/random.ts";
import { LINE_SIZE, mostOut, spotBoundOf, writeLine } from "../spot-bound.ts";

const random = createRandom(1_768);
const { clock, markets } = readSampleMarkets();
const samples = markets
  .filter(({ venue }) => venue.id === "raydium_clmm" || venue.id === "orca_whirlpool")
  .map((sample) => [sample.name, sample] as const);
const line = new Float64Array(LINE_SIZE);

test.each(samples)("%s: the bound lies close up to the next multiple of the spacing, and holds beyond", (_, sample) => {
  const { venue, hot, accounts } = sample;
  const bound = spotBoundOf(venue, hot.state, accounts)!;
  let [near, far] = [0, 0];
  for (let ask = 0; ask < 120; ask++) {
    const side = ask % 2 === 0 ? bound.from0 : bound.from1;
    const [inMint, outMint] = ask % 2 === 0 ? hot.market.mints : [hot.market.mints[1], hot.market.mints[0]];
    const reach = BigInt(Math.floor(side.reach / side.kept));
    const amount = ask % 4 < 2 && reach > 1_000n ? random.between(1_000n, reach) : reach + random.magnitude(10n ** 12n);
    writeLine(line, 0, side, bound.rounding);
    let output: number;
    try {
      output = Number(venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount, clock }).outAmount);
    } catch {
      continue;
    }
    const most = mostOut(line, 0, Number(amount));
    expect(most, `${amount}`).toBeGreaterThanOrEqual(output);
    if (amount > reach) far++;
    else {
      near++;
      expect(most - output, `${amount}`).toBeLessThanOrEqual(3 + output * 1e-9);
    }
  }
  expect(near + far).toBeGreaterThan(20);
});
