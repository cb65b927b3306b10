import { expect, test } from "vitest";
import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { verifyTransaction } from "../../../src/client/verify/verify-transaction.ts";
import { equalBytes } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import type { Attack } from "./attacks.ts";
import { worseThan } from "./execution.ts";
import { programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { splitAttacks } from "./split-attacks.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";

/** The worlds with several markets for a purchase: where SOL lies between two tokens, nothing is bought with it. */
const SPLIT_WORLDS = WORLD_NAMES.filter((name) => name.includes(" beside ") && !name.includes(" over SOL "));

/** An honest purchase that is divided over all markets of the world. */
async function honestSplit(name: string, swapMode: string): Promise<WorldBuild> {
  const random = createRandom(57);
  const world = programWorld(name);
  for (let tries = 0; tries < 3_000; tries++) {
    const build = await buildInWorld(random, world);
    if (build === undefined || build.form !== "plain" || build.answer.route.length < world.markets.length) continue;
    const { order, answer } = build;
    const isLoose = order.slippage >= 0.001 && order.slippage <= 0.05;
    if (order.inputMint !== SOL_MINT.toString() || order.swapMode !== swapMode || !isLoose) continue;
    if (new Set(answer.route.map(({ market }) => market)).size === world.markets.length) return build;
  }
  throw new Error(`no split of ${name} found`);
}

/** What a client says to it; undefined if it would sign. */
function refusal(build: WorldBuild, attack: Pick<Attack, "answer" | "wire">): string | undefined {
  const { wallet, order, answer, decimals } = build;
  try {
    const expected = expectTrade(wallet, order, { ...answer, ...attack.answer }, { decimals }, "caller");
    verifyTransaction(attack.wire ?? build.wire, expected);
    return undefined;
  } catch (error) {
    const { problems = [], message } = error as { problems?: Parameters<typeof describeProblem>[0][]; message: string };
    return [message, ...problems.map(describeProblem)].join("; ");
  }
}

test.runIf(SPLIT_WORLDS.length > 0)(
  "every named attack on a divided trade is refused, by the check that is meant to",
  async () => {
    const names = new Set<string>();
    const executed: string[] = [];
    const misfits: string[] = [];
    for (const world of SPLIT_WORLDS) {
      for (const swapMode of ["exactIn", "exactOut"]) {
        const build = await honestSplit(world, swapMode);
        expect(refusal(build, {}), world).toBeUndefined();
        const { wallet, order, answer, decimals } = build;
        const expected = expectTrade(wallet, order, answer, { decimals }, "caller");
        for (const attack of splitAttacks(build)) {
          // A swap for lamports names no paying account that could be another.
          if (attack.wire !== undefined && equalBytes(attack.wire, build.wire)) continue;
          const said = refusal(build, attack) ?? "accepted";
          if (!attack.stopped.test(said)) misfits.push(`${world}, ${swapMode}: ${attack.name}: ${said}`);
          names.add(attack.name);
          // The chain in process runs what the wallet alone would sign.
          if (attack.wire === undefined || readTransaction(attack.wire).requiredSignatures !== 1) continue;
          const reason = worseThan(expected, executeInWorld(build, attack.wire));
          if (reason !== undefined) executed.push(`${attack.name}: ${reason}`);
        }
      }
    }
    expect(misfits).toEqual([]);
    expect(names.size).toBeGreaterThanOrEqual(45);
    process.stdout.write(
      `${names.size} attacks on divided trades refused; ${new Set(executed).size} would have executed: ${[...new Set(executed)].join("; ")}\n`,
    );
  },
);
