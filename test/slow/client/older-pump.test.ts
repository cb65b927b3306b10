import { expect, test } from "vitest";
import { explainTransaction } from "../../../src/client/verify/explain/explain-transaction.ts";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { buildSample, expectationOf } from "./sample-builds.ts";

const SOL = "So1";
const OTHER_MINT = Address.from(new Uint8Array(32).fill(0x44)).toString();

/** Builds by the older instructions: purchases for an exact input and an exact output, and a sale. */
async function olderBuilds(): Promise<ReadonlyMap<string, HonestBuild>> {
  const random = createRandom(16);
  const found = new Map<string, HonestBuild>();
  for (let tries = 0; tries < 200 && found.size < 3; tries++) {
    const build = await buildSample(random, "pump_fun");
    if (build?.form === "lean") found.set(swapOf(build).table.name, build);
  }
  return found;
}

function swapOf({ wire }: HonestBuild) {
  const { instructions } = readTransaction(wire);
  const swap = instructions.find((one) => findSwapTable(one) !== undefined)!;
  return { swap, table: findSwapTable(swap)! };
}

const problemsOf = (build: HonestBuild): string =>
  findProblems(readTransaction(build.wire), expectationOf(build)).map(describeProblem).join("; ");

/** The same bytes, said to trade another token in the place of SOL. */
function forOther(build: HonestBuild): HonestBuild {
  const { order, answer } = build;
  const swapped = <T extends { readonly inputMint: string; readonly outputMint: string }>(one: T): T => ({
    ...one,
    inputMint: one.inputMint.startsWith(SOL) ? OTHER_MINT : one.inputMint,
    outputMint: one.outputMint.startsWith(SOL) ? OTHER_MINT : one.outputMint,
  });
  return { ...build, order: swapped(order), answer: { ...swapped(answer), route: answer.route.map(swapped) } };
}

test("trades by the older instructions are accepted, and move SOL only where SOL was ordered", async () => {
  const builds = await olderBuilds();
  expect([...builds.keys()].toSorted()).toEqual(["buy", "buy_exact_sol_in", "sell"]);
  for (const [name, build] of builds) {
    expect(problemsOf(build), name).toBe("");
    // The side that is lamports names no account: they are the wallet's.
    expect(explainTransaction(build.wire).lines.join(), name).not.toContain("undefined");
    expect(swapOf(build).swap.accounts.length, name).toBe(name === "sell" ? 16 : 18);
    expect(problemsOf(forOther(build)), name).toContain(
      name === "sell" ? "sell yields SOL, which is not what this swap yields" : `${name} pays SOL, which is not what`,
    );
  }
});
