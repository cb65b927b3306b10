import { expect, test } from "vitest";
import { checkOnNode } from "../../../src/client/node/check-on-node.ts";
import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { worseThan } from "./execution.ts";
import { ABSENT_WORLDS, programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";
import { worldNode } from "./world-node.ts";

/** How many honest builds have to be accepted; the whole measure is 20,000, run by `npm run slow:client`. */
const COUNT = Number(process.env.WORLD_BUILDS ?? 4 * WORLD_NAMES.length);
/** Tries to find an amount that a market takes. */
const TRIES = 60;
if (ABSENT_WORLDS.length > 0) console.log(`without their programs, not traded on: ${ABSENT_WORLDS.join("; ")}`);

/** Why a build is refused, offline or on a node, or what its execution does wrong; undefined if it does as promised. */
async function fault(build: WorldBuild): Promise<string | undefined> {
  const { wallet, order, answer, decimals, wire } = build;
  try {
    const expected = expectTrade(wallet, order, answer, { decimals });
    const transaction = readTransaction(wire);
    const problems = findProblems(transaction, expected);
    if (problems.length > 0) return problems.map(describeProblem).join("; ");
    const done = executeInWorld(build, wire);
    const wrong = done.error?.replace(/meta: .*Program log: /, "… ").slice(0, 600) ?? worseThan(expected, done);
    if (wrong !== undefined) return wrong;
    const { slippage, sellPercent } = order;
    const rentPaid = BigInt(answer.costs!.rentPaid!);
    const trade = { wire, transaction, expected, slippage, sellPercent, rentPaid };
    const found = await checkOnNode(worldNode(build.world), trade, undefined);
    const { inputAmountRaw, outputAmountRaw } = answer.estimates!;
    const isEstimate = found.inputAmountRaw === inputAmountRaw && found.outputAmountRaw === outputAmountRaw;
    return isEstimate
      ? undefined
      : `${JSON.stringify(found)} on the node, estimated ${JSON.stringify(answer.estimates)}`;
  } catch (error) {
    const { problems = [] } = error as { problems?: readonly { readonly reason: string }[] };
    return [(error as Error).message, ...problems.map(({ reason }) => reason)].join("; ");
  }
}

test("honest builds on every program and shape of pool are accepted, and execute as ordered", {
  timeout: 3_600_000,
}, async () => {
  const random = createRandom(Number(process.env.WORLD_SEED ?? 20_000));
  const accepted = new Map<string, number>();
  const faults: string[] = [];
  for (let done = 0; done < COUNT; done++) {
    const world = programWorld(WORLD_NAMES[done % WORLD_NAMES.length]!);
    let build: WorldBuild | undefined;
    // The first build of each world is exactIn, so that every world has one.
    const isWanted = ({ order }: WorldBuild) => done >= WORLD_NAMES.length || order.swapMode === "exactIn";
    for (let tries = 0; build === undefined && tries < TRIES; tries++) {
      const next = await buildInWorld(random, world);
      if (next !== undefined && isWanted(next)) build = next;
    }
    if (build === undefined) continue;
    const reason = await fault(build);
    const { order, form } = build;
    if (reason === undefined) {
      for (const kind of [`${world.name} ${order.swapMode}`, form]) accepted.set(kind, (accepted.get(kind) ?? 0) + 1);
    } else
      faults.push(
        `${world.name} ${order.swapMode} ${order.inputMint} ${order.amount} ${order.slippage} ${form}: ${reason}`,
      );
  }
  process.stdout.write(`accepted: ${JSON.stringify(Object.fromEntries([...accepted].sort()))}\n`);
  expect(faults.slice(0, 5)).toEqual([]);
  for (const name of WORLD_NAMES) expect(accepted.get(`${name} exactIn`), name).toBeGreaterThan(0);
});
