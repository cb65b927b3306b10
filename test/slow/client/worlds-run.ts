import { checkOnNode } from "../../../src/client/node/check-on-node.ts";
import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { worseThan } from "./execution.ts";
import { programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";
import { worldNode } from "./world-node.ts";

/** What a run over honest builds found. */
export interface WorldsReport {
  readonly builds: number;
  /** Accepted builds by world and mode, and by form. */
  readonly accepted: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** Tries to find an amount that a market takes. */
const TRIES = 60;

/** Builds honest trades in each world in turn, and holds each against the client, offline and on a node, and its execution. */
export async function checkWorlds(seed: number, count: number): Promise<WorldsReport> {
  const random = createRandom(seed);
  const accepted: Record<string, number> = {};
  const faults: string[] = [];
  let builds = 0;
  for (let done = 0; done < count; done++) {
    const world = programWorld(WORLD_NAMES[done % WORLD_NAMES.length]!);
    let build: WorldBuild | undefined;
    // The first build of each world is exactIn, so that every world has one.
    const isWanted = ({ order }: WorldBuild) => done >= WORLD_NAMES.length || order.swapMode === "exactIn";
    for (let tries = 0; build === undefined && tries < TRIES; tries++) {
      const next = await buildInWorld(random, world);
      if (next !== undefined && isWanted(next)) build = next;
    }
    if (build === undefined) continue;
    builds += 1;
    const reason = await faultOf(build);
    const { order, form } = build;
    if (reason !== undefined) {
      const { swapMode, inputMint, amount, amountRaw, slippage, sellPercent } = order;
      faults.push(
        `seed ${seed}: ${world.name} ${swapMode} ${inputMint} ${amount ?? amountRaw ?? `${sellPercent} %`} ${slippage} ${form}: ${reason}`,
      );
    } else for (const kind of [`${world.name} ${order.swapMode}`, form]) accepted[kind] = (accepted[kind] ?? 0) + 1;
  }
  return { builds, accepted, faults };
}

/** Why a build is refused, offline or on a node, or what its execution does wrong; undefined if it does as promised. */
async function faultOf(build: WorldBuild): Promise<string | undefined> {
  const { wallet, order, answer, decimals, wire } = build;
  try {
    const expected = expectTrade(wallet, order, answer, { decimals }, "caller");
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

if (import.meta.main) {
  const [seed, count] = process.argv.slice(2).map(Number);
  process.stdout.write(JSON.stringify(await checkWorlds(seed!, count!)));
}
