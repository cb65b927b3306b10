import { afterAll, beforeAll, expect, test } from "vitest";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../src/client/verify/trade-expectation.ts";
import { describeProblem, findProblems } from "../../src/client/verify/verify-transaction.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { type Builder, startBuilder } from "./honest-builds.ts";

/** How many honest builds have to be accepted; the whole measure is 10 000, run by `npm run test:client`. */
const COUNT = Number(process.env.HONEST_BUILDS ?? 1_500);

let builder: Builder;
beforeAll(async () => {
  builder = await startBuilder();
}, 120_000);
afterAll(() => builder?.close());

test(
  "honest builds of every venue and mode are accepted, all of them",
  async () => {
    const random = createRandom(20261120);
    const accepted = new Map<string, number>();
    const refused: string[] = [];
    for (let count = 0; count < COUNT; ) {
      const build = await builder.build(random);
      if (build === undefined) continue;
      count += 1;
      const { wallet, order, answer, wire, venue } = build;
      const problems = findProblems(readTransaction(wire), expectTrade(wallet, order, answer, {}));
      const kind = `${venue} ${order.swapMode} ${order.inputMint.startsWith("So1") ? "from SOL" : order.outputMint.startsWith("So1") ? "to SOL" : "tokens"}`;
      if (problems.length > 0) refused.push(`${kind}: ${problems.map(describeProblem).join("; ")}`);
      else accepted.set(kind, (accepted.get(kind) ?? 0) + 1);
    }
    expect(refused.slice(0, 5)).toEqual([]);
    expect([...accepted.values()].reduce((sum, count) => sum + count, 0)).toBe(COUNT);
    for (const venue of builder.venues) {
      expect([...accepted.keys()].filter((kind) => kind.startsWith(`${venue} `)).length, venue).toBeGreaterThanOrEqual(
        2,
      );
    }
    process.stdout.write(`${JSON.stringify(Object.fromEntries([...accepted].sort()), undefined, 1)}\n`);
  },
  20 * 60_000,
);
