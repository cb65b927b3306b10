import { writeU32, writeU64 } from "../primitives/bytes.ts";
import type { Instruction } from "./instruction.ts";
import { COMPUTE_BUDGET_PROGRAM } from "./programs.ts";

const NO_ACCOUNTS: Instruction["accounts"] = [];
const instruction = (data: Uint8Array): Instruction => ({
  program: COMPUTE_BUDGET_PROGRAM,
  accounts: NO_ACCOUNTS,
  data,
});

/** Upper bound of compute units that one transaction can request. */
export const MAX_COMPUTE_UNITS = 1_400_000;

/** Instructions that one transaction runs at most, those among them that programs call. @see agave MAX_INSTRUCTION_TRACE_LENGTH */
export const MAX_INSTRUCTIONS = 64;

/** Micro-lamports in one lamport: the unit of compute-unit prices. */
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

/** Limits the compute units of the transaction. */
export function setComputeUnitLimit(units: number): Instruction {
  const data = new Uint8Array(5);
  data[0] = 2;
  writeU32(data, 1, units);
  return instruction(data);
}

/** Sets the price per requested compute unit, in micro-lamports. */
export function setComputeUnitPrice(microLamports: bigint): Instruction {
  const data = new Uint8Array(9);
  data[0] = 3;
  writeU64(data, 1, microLamports);
  return instruction(data);
}

/** Limits the bytes of account data that the transaction loads; the scheduler prefers smaller limits. */
export function setLoadedAccountsDataSizeLimit(bytes: number): Instruction {
  const data = new Uint8Array(5);
  data[0] = 4;
  writeU32(data, 1, bytes);
  return instruction(data);
}

/** Lamports charged for priority: ceil(units × price / 1 000 000), as the runtime computes it. */
export function priorityFeeLamports(computeUnitLimit: number, priceMicroLamports: bigint): bigint {
  return (BigInt(computeUnitLimit) * priceMicroLamports + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
}
