import { expect, test } from "vitest";
import { findSwapTable, swapBounds } from "../../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import type { SwapTable } from "../../../src/client/verify/venues/swap-table.ts";
import { SWAP_TABLES } from "../../../src/client/verify/venues/swap-tables.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import type { Instruction } from "../../../src/solana/instruction.ts";
import { planOf, wireOf } from "./mutations.ts";
import { buildSample, expectationOf, sampleVenues } from "./sample-builds.ts";

const kindsOf = ({ accounts }: SwapTable) => accounts.map(({ rule }) => rule.kind).join();

/** The same swap with its exact side turned around: the least output is what comes out, and the input is what it may take. */
function turned(swap: Instruction, table: SwapTable, other: SwapTable): Instruction {
  const { mostIn, leastOut } = swapBounds(table, swap.data);
  const data = new Uint8Array(other.dataLength);
  data.set(swap.data.subarray(0, data.length));
  data.set(other.discriminator);
  writeU64(data, other.inAt, mostIn);
  writeU64(data, other.outAt, leastOut);
  for (const { at, is } of other.flags) data[at] = is[0]!;
  return { ...swap, data };
}

test("an exact input is sold whole: no swap that stops at the least output passes for it, on any venue that has one", async () => {
  const random = createRandom(31);
  const refused = new Set<string>();
  for (const venue of sampleVenues) {
    for (let tries = 0; tries < 1_000 && !refused.has(venue); tries++) {
      const build = await buildSample(random, venue);
      if (build?.form !== "plain" || build.order.swapMode !== "exactIn") continue;
      const plan = planOf(build.wire);
      const at = plan.instructions.findIndex((one) => findSwapTable(readable(one)) !== undefined);
      const swap = plan.instructions[at]!;
      const table = findSwapTable(readable(swap))!;
      const fits = (other: SwapTable) =>
        other.program === table.program && other.exact === "out" && kindsOf(other) === kindsOf(table);
      for (const other of SWAP_TABLES.filter(fits)) {
        const instructions = plan.instructions.with(at, turned(swap, table, other));
        const problems = findProblems(readTransaction(wireOf({ ...plan, instructions })), expectationOf(build));
        const reasons = problems.map(({ reason }) => reason).join("; ");
        expect(reasons, `${venue} ${other.name}`).toContain("stops at an exact output");
        refused.add(venue);
      }
    }
  }
  expect(refused.size).toBe(sampleVenues.length - 1);
});

test("an exact output takes what it costs: no swap that spends the whole estimate passes for it where the venue has better", async () => {
  const random = createRandom(32);
  const refused = new Set<string>();
  for (const venue of sampleVenues) {
    for (let tries = 0; tries < 1_000 && !refused.has(venue); tries++) {
      const build = await buildSample(random, venue);
      if (build?.form !== "plain" || build.order.swapMode !== "exactOut") continue;
      const plan = planOf(build.wire);
      const at = plan.instructions.findIndex((one) => findSwapTable(readable(one)) !== undefined);
      const swap = plan.instructions[at]!;
      const table = findSwapTable(readable(swap))!;
      if (table.exact !== "out") continue;
      const { leastOut } = swapBounds(table, swap.data);
      const mostIn = BigInt(build.answer.estimates!.inputAmountRaw);
      for (const other of SWAP_TABLES) {
        if (other.program !== table.program || other.exact !== "in" || kindsOf(other) !== kindsOf(table)) continue;
        const spending = turned(swap, table, other);
        writeU64(spending.data, other.inAt, mostIn);
        writeU64(spending.data, other.outAt, leastOut);
        const wire = wireOf({ ...plan, instructions: plan.instructions.with(at, spending) });
        const problems = findProblems(readTransaction(wire), expectationOf(build));
        const reasons = problems.map(({ reason }) => reason).join("; ");
        expect(reasons, `${venue} ${other.name}`).toContain("spends an exact input");
        refused.add(venue);
      }
    }
  }
  expect(refused.size).toBe(sampleVenues.length - 1);
});

/** As the verifier reads an instruction. */
function readable({ program, accounts, data }: Instruction) {
  return { program, data, accounts: accounts.map((account, index) => ({ ...account, index })) };
}
