/**
 * How many divided sales that are good as a whole fail at the bounds of single markets, and how many land with the guard of the
 * total: `npm run bench:guard`, with `-- --sales N --seed S`. The markets of each sale move by up to twice its slippage,
 * each on its own, between build and execution; the program runs both builds. Ends with an error if a sale lands below its bound.
 * Every world has a chain of its own, of some 80 MB outside of V8's heap: what V8 does not know of, it does not collect in time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "../../../src/primitives/random.ts";
import { guardedSales, judgeMoved } from "../../support/guard-world.ts";

const { values } = parseArgs({
  options: { sales: { type: "string", default: "300" }, seed: { type: "string", default: "57" } },
});
const random = createRandom(Number(values.seed));
const percent = (part: number, all: number) => `${((part / Math.max(1, all)) * 100).toFixed(1)} %`;
for (const slippage of [0.005, 0.01, 0.03]) {
  const seen = { good: 0, plain: 0, guarded: 0, bad: 0, loose: 0 };
  let left = Number(values.sales);
  for await (const sale of guardedSales(random, slippage)) {
    judgeMoved(sale, random, seen);
    await nextTurn();
    globalThis.gc?.();
    if (--left === 0) break;
  }
  process.stdout.write(
    `slippage ${slippage * 100} %: ${seen.good} good sales; land at the bounds of markets ${percent(seen.plain, seen.good)}, with the guard ${percent(seen.guarded, seen.good)}; ${seen.loose} of ${seen.bad} bad ones land with it\n`,
  );
  if (seen.loose > 0) process.exitCode = 1;
}
