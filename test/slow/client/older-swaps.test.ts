import { expect, test } from "vitest";
import { explainTransaction } from "../../../src/client/verify/explain/explain-transaction.ts";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { planOf, wireOf } from "./mutations.ts";
import { buildSample, expectationOf } from "./sample-builds.ts";

/** The newest instructions beside the older ones, and the fixed accounts of those. */
const VENUES = [
  { venue: "raydium_clmm", newest: ["swap_v2"], older: ["swap"], fixed: 10 },
  { venue: "orca_whirlpool", newest: ["swap_v2"], older: ["swap"], fixed: 11 },
  { venue: "meteora_dlmm", newest: ["swap2", "swap_exact_out2"], older: ["swap", "swap_exact_out"], fixed: 15 },
] as const;
const OTHER_MINT = Address.from(new Uint8Array(32).fill(0x44)).toString();
const OTHER = Address.from(new Uint8Array(32).fill(0x45));

/** One build of each direction and mode on a venue, by its older instructions. */
async function olderBuilds(random: Random, venue: string): Promise<readonly HonestBuild[]> {
  const found = new Map<string, HonestBuild>();
  for (let tries = 0; tries < 400 && found.size < 4; tries++) {
    const build = await buildSample(random, venue);
    if (build?.form === "lean") found.set(`${build.order.swapMode} ${build.order.inputMint}`, build);
  }
  return [...found.values()];
}

function swapOf(wire: Uint8Array) {
  const { instructions } = readTransaction(wire);
  const swap = instructions.find((one) => findSwapTable(one) !== undefined)!;
  return { swap, table: findSwapTable(swap)! };
}

const problemsOf = (build: HonestBuild, wire = build.wire): string =>
  findProblems(readTransaction(wire), expectationOf(build)).map(describeProblem).join("; ");

/** How many swaps the explanation calls no part of a trade, and of how many it leaves open whose accounts they move. */
function explained(wire: Uint8Array): { readonly unknown: number; readonly mintless: number } {
  const { unknown, mintless } = explainTransaction(wire);
  return { unknown: unknown.filter((line) => line.includes("Swaps on")).length, mintless: mintless.length };
}

/** The same bytes, said to trade another mint on one side. */
function forOther(build: HonestBuild, side: "inputMint" | "outputMint"): HonestBuild {
  const { order, answer } = build;
  const route = answer.route.map((leg) => ({ ...leg, [side]: OTHER_MINT }));
  return { ...build, order: { ...order, [side]: OTHER_MINT }, answer: { ...answer, [side]: OTHER_MINT, route } };
}

/** The transaction with the swap changed. */
function changed(wire: Uint8Array, change: (accounts: Address[], data: Uint8Array) => unknown): Uint8Array {
  const plan = planOf(wire);
  const { swap } = swapOf(wire);
  const instructions = plan.instructions.map((one) => {
    if (one.program !== swap.program) return one;
    const addresses = one.accounts.map(({ address }) => address);
    const data = one.data.slice();
    change(addresses, data);
    return { ...one, data, accounts: one.accounts.map((account, at) => ({ ...account, address: addresses[at]! })) };
  });
  return wireOf({ ...plan, instructions });
}

test.each(VENUES)(
  "$venue: honest swaps by the older instructions are accepted, and no others",
  async ({ venue, newest, older, fixed }) => {
    const builds = await olderBuilds(createRandom(29), venue);
    expect(builds.length).toBe(4);
    for (const build of builds) {
      const { swap, table } = swapOf(build.wire);
      expect(problemsOf(build), table.name).toBe("");
      expect(older).toContain(table.name);
      expect(newest).not.toContain(table.name);
      expect(table.accounts.length).toBe(fixed);
      expect(swap.accounts.length).toBeGreaterThanOrEqual(fixed);
      // They name no mint, or the program's own check of it alone: the wallet's accounts prove what is traded.
      for (const side of ["inputMint", "outputMint"] as const) {
        expect(problemsOf(forOther(build, side)), `${table.name} ${side}`).not.toBe("");
      }
      for (const [place, { name, rule }] of table.accounts.entries()) {
        if (rule.kind === "venue") continue;
        const foreign = changed(build.wire, (accounts) => accounts.splice(place, 1, OTHER));
        expect(problemsOf(build, foreign), `${table.name} ${name}`).not.toBe("");
      }
      const stolen = changed(build.wire, (accounts) => {
        const at = table.accounts.findIndex(({ rule }) => rule.kind === "destination");
        accounts[at] = associatedTokenAddress(OTHER, Address.of(build.order.outputMint), TOKEN_PROGRAM);
      });
      expect(problemsOf(build, stolen), table.name).toContain("is not the wallet's account of the output mint");
      // Without the order, the bytes show it only where they name the mint: elsewhere the explanation says that they do not.
      const [unknown, mintless] = venue === "meteora_dlmm" ? [1, 0] : [0, 1];
      expect(explained(stolen), table.name).toEqual({ unknown, mintless });
      expect(explained(build.wire), table.name).toEqual({ unknown: 0, mintless });
      const of2022 = changed(build.wire, (accounts) => {
        const at = accounts.indexOf(TOKEN_PROGRAM);
        accounts[at] = TOKEN_2022_PROGRAM;
      });
      expect(problemsOf(build, of2022), table.name).toContain(`is not ${TOKEN_PROGRAM}`);
      if (venue === "meteora_dlmm") continue;
      const limited = changed(build.wire, (_, data) => data.fill(1, 30, 31));
      expect(problemsOf(build, limited), table.name).toContain("are not zero");
      expect(explained(limited), table.name).toEqual({ unknown: 1, mintless: 1 });
    }
  },
);
