import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { readU64, viewOf } from "../../../src/primitives/bytes.ts";
import { compileMessageV1, type MessageBudget, unsignedTransaction } from "../../../src/solana/message.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../../src/solana/programs.ts";
import { type Plan, planOf, wireOf } from "./mutations.ts";

const MICRO = 1_000_000n;

/** A version 0 transaction as the service composes version 1: the budget in the header, all other instructions as they are. */
export function asVersion1(wire: Uint8Array): Uint8Array {
  const { plan, budget } = version1Of(wire);
  return wireOfVersion1(plan, budget);
}

/** The parts of the version 1 form of a version 0 transaction. */
export function version1Of(wire: Uint8Array): { readonly plan: Plan; readonly budget: MessageBudget } {
  const plan = planOf(wire);
  const value = (tag: number, length: number) =>
    plan.instructions.find(
      ({ program, data }) => program === COMPUTE_BUDGET_PROGRAM && data[0] === tag && data.length === length,
    )?.data;
  const [units, price, bytes] = [value(2, 5), value(3, 9), value(4, 5)];
  const computeUnitLimit = units === undefined ? 0 : viewOf(units).getUint32(1, true);
  const priced = price === undefined ? 0n : BigInt(computeUnitLimit) * readU64(price, 1);
  const kept = plan.instructions.filter(({ data }) => data !== units && data !== price && data !== bytes);
  return {
    plan: { ...plan, instructions: kept },
    budget: {
      priorityFeeLamports: (priced + MICRO - 1n) / MICRO,
      computeUnitLimit,
      loadedBytesLimit: bytes === undefined ? 0 : viewOf(bytes).getUint32(1, true),
    },
  };
}

/** The wire transaction of instructions in the version of another one, with its header's budget in version 1. */
export function wireLike(original: Uint8Array, plan: Plan): Uint8Array {
  const { config } = readTransaction(original);
  if (config === undefined) return wireOf(plan);
  const { priorityFeeLamports = 0n, computeUnitLimit = 0, loadedAccountsLimit = 0 } = config;
  return wireOfVersion1(plan, { priorityFeeLamports, computeUnitLimit, loadedBytesLimit: loadedAccountsLimit });
}

/** The wire transaction of a version 1 message, through the service's own compiler. */
export function wireOfVersion1(plan: Plan, budget: MessageBudget): Uint8Array {
  return unsignedTransaction(compileMessageV1(plan, budget)).slice();
}
