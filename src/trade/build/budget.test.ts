import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import {
  setComputeUnitLimit,
  setComputeUnitPrice,
  setLoadedAccountsDataSizeLimit,
} from "../../solana/compute-budget.ts";
import type { Instruction } from "../../solana/instruction.ts";
import { compileMessage } from "../../solana/message.ts";
import { BUDGET_INSTRUCTIONS, BUDGET_UNITS, type Budget, unitLimit, writeBudget } from "./budget.ts";

const random = createRandom(612);
const address = () => Address.from(random.bytes(32));

test("a budget written into a message is that of instructions with its numbers, up to more accounts than a transaction has", () => {
  for (let round = 0; round < 300; round++) {
    const budget: Budget = {
      computeUnitLimit: random.u32() % 1_400_001,
      priceMicroLamports: random.below(1n << 64n),
      loadedBytesLimit: random.u32() % (64 << 20),
    };
    const payer = address();
    const more = Array.from({ length: random.pick([0, 1, 5, 130]) }, (): Instruction => {
      const accounts = Array.from({ length: random.pick([0, 1]) }, () => ({
        address: address(),
        writable: true,
        signer: false,
      }));
      return { program: address(), accounts, data: random.bytes(random.u32() % 40) };
    }).slice(0, 120);
    const plan = { payer, blockhash: random.bytes(32), lookupTables: [], kind: random.pick([undefined, payer]) };
    const message = compileMessage({ ...plan, instructions: [...BUDGET_INSTRUCTIONS, ...more] });
    writeBudget(message, budget);
    const numbers = [
      setComputeUnitLimit(budget.computeUnitLimit),
      setComputeUnitPrice(budget.priceMicroLamports),
      setLoadedAccountsDataSizeLimit(budget.loadedBytesLimit),
    ];
    const wanted = compileMessage({ ...plan, kind: undefined, instructions: [...numbers, ...more] });
    expect(Buffer.compare(message, wanted)).toBe(0);
  }
});

test("a limit has the margin, or room for a moved price if that is more, up to half of what is known to be needed", () => {
  const limit = (movedUnits: number, units = 100_000 - BUDGET_UNITS) =>
    unitLimit({ computeUnitMarginPercent: 10 }, units, movedUnits);
  expect([0, 9_000, 10_000, 27_000, 50_000, 900_000].map((moved) => limit(moved))).toEqual([
    110_000, 110_000, 110_000, 127_000, 150_000, 150_000,
  ]);
  expect(limit(900_000, 1_200_000)).toBe(1_400_000);
});
