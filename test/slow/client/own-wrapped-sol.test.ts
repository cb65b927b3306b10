import { expect, test } from "vitest";
import { checkOnNode } from "../../../src/client/node/check-on-node.ts";
import { readBaseInstruction } from "../../../src/client/verify/base-instruction.ts";
import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import type { Instruction } from "../../../src/solana/instruction.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { fillWrappedSol } from "../../../src/solana/token/wrapped-sol.ts";
import { planOf, wireOf } from "./mutations.ts";
import { type ProgramWorld, programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";
import { worldNode } from "./world-node.ts";

const WORLD = "raydium_cpmm";

/** A purchase of a wallet that holds wrapped SOL, as a transaction of the plainest form. */
async function purchase(random: Random, world: ProgramWorld): Promise<WorldBuild> {
  for (;;) {
    const build = await buildInWorld(random, world);
    const isBuy = build?.order.swapMode === "exactIn" && Address.of(build.order.inputMint) === SOL_MINT;
    if (isBuy && build.form === "own wrapped SOL" && build.order.slippage < 0.5) return build;
  }
}

/** The same trade through the wallet's own wrapped-SOL account instead of a temporary one. */
function throughOwn({ wire, wallet, answer }: WorldBuild): Uint8Array {
  const plan = planOf(wire);
  const own = tokenAccountAddress(wallet, SOL_MINT, TOKEN_PROGRAM);
  const kinds = readTransaction(wire).instructions.map((one) => readBaseInstruction(one)?.kind);
  const temporary = plan.instructions[kinds.indexOf("initializeTokenAccount")]!.accounts[0]!.address;
  const lamports = BigInt(answer.estimates!.inputAmountRaw);
  const moved = ({ accounts, ...one }: Instruction): Instruction => ({
    ...one,
    accounts: accounts.map((account) => (account.address === temporary ? { ...account, address: own } : account)),
  });
  return wireOf({
    ...plan,
    instructions: plan.instructions.flatMap((one, at) => {
      if (kinds[at] === "createWithSeed") return fillWrappedSol({ account: own, wallet, lamports });
      return kinds[at] === "initializeTokenAccount" ? [] : [moved(one)];
    }),
  });
}

test.runIf(WORLD_NAMES.includes(WORLD))(
  "a caller's node refuses to have wrapped SOL unwrapped that the wallet had before",
  async () => {
    const world = programWorld(WORLD);
    const build = await purchase(createRandom(510_301), world);
    const { wallet, order, answer, decimals } = build;
    const wire = throughOwn(build);
    const expected = expectTrade(wallet, order, answer, { decimals }, "caller");
    const transaction = readTransaction(wire);
    // The bytes do not show what lay in the account.
    expect(findProblems(transaction, expected)).toEqual([]);
    expect(executeInWorld(build, wire).error).toBeUndefined();
    const { slippage } = order;
    const trade = { wire, transaction, expected, slippage, sellPercent: undefined, rentPaid: undefined };
    const reason = expect.stringContaining("closes a wrapped-SOL account that the wallet had before");
    await expect(checkOnNode(worldNode(world), trade, undefined)).rejects.toMatchObject({
      problems: [expect.objectContaining({ reason })],
    });
    const honest = { ...trade, wire: build.wire, transaction: readTransaction(build.wire) };
    await checkOnNode(worldNode(world), honest, undefined);
  },
);
