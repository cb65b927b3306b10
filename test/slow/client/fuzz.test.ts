import { expect, test } from "vitest";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { execute, worseThan } from "./execution.ts";
import { mutate, refusalOf } from "./fuzz.ts";
import { type HonestBuild, startBuilder } from "./honest-builds.ts";

/**
 * How many mutants there are; the whole measure is 1 000 000, run by `npm run slow:client`. Shards of it run side by side:
 * `MUTANT_SEED=2 MUTANTS=250000 npx vitest run test/slow/client/fuzz.test.ts`.
 */
const COUNT = Number(process.env.MUTANTS ?? 500);
const SEED = Number(process.env.MUTANT_SEED ?? 1);
/** Mutants of each honest build. */
const EACH = 50;

/** Accepts each mutant that is signed, and counts. */
async function fuzz(
  count: number,
  next: () => Promise<HonestBuild | undefined>,
  judge: (build: HonestBuild, mutant: HonestBuild) => Promise<string | undefined>,
): Promise<{ readonly accepted: number; readonly bad: readonly string[] }> {
  const random = createRandom(SEED);
  const bad: string[] = [];
  let accepted = 0;
  for (let done = 0; done < count; ) {
    const build = await next();
    if (build === undefined) continue;
    for (let one = 0; one < EACH && done < count; one++, done++) {
      const mutant = mutate(random, build);
      if (refusalOf(mutant) !== undefined) continue;
      accepted += 1;
      const reason = await judge(build, mutant);
      if (reason !== undefined) bad.push(`${build.venue}: ${reason} ${Buffer.from(mutant.wire).toString("base64")}`);
    }
  }
  return { accepted, bad };
}

test("no accepted mutant, executed, leaves the wallet worse than the order promised", {
  timeout: 7_200_000,
}, async () => {
  const builder = await startBuilder();
  try {
    const random = createRandom(SEED + 2_000);
    let executed = 0;
    const { accepted, bad } = await fuzz(
      COUNT,
      () => builder.build(random),
      async (_, mutant) => {
        const { wallet, order, answer, decimals, wire } = mutant;
        const mints = new Set(answer.route.flatMap((leg) => [leg.inputMint, leg.outputMint]));
        const after = await execute(
          builder.service.rpc,
          wire,
          wallet,
          [...mints].map((mint) => Address.of(mint)),
        );
        if (after.error === undefined) executed += 1;
        return worseThan(expectTrade(wallet, order, answer, { decimals }), after);
      },
    );
    expect(bad.slice(0, 3)).toEqual([]);
    process.stdout.write(`${COUNT} mutants, ${accepted} accepted, ${executed} of them executed\n`);
  } finally {
    await builder.close();
  }
});
