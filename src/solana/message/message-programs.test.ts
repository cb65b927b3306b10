import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { setComputeUnitLimit } from "../compute-budget.ts";
import { compileMessage, compileMessageV1 } from "../message.ts";
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { programsOf } from "./message-programs.ts";

const payer = Address.from(new Uint8Array(32).fill(9));
const blockhash = new Uint8Array(32).fill(1);
const instructionOf = (program: Address, bytes: number) => ({
  program,
  accounts: [{ address: payer, signer: true, writable: true }],
  data: new Uint8Array(bytes).fill(2),
});
const instructions = [
  setComputeUnitLimit(7),
  instructionOf(TOKEN_PROGRAM, 200),
  instructionOf(SYSTEM_PROGRAM, 0),
  instructionOf(TOKEN_PROGRAM, 1),
];
const PROGRAMS = [COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM].map(String);

test("the program of each instruction is read from messages of every version", () => {
  const message = compileMessage({ payer, blockhash, instructions, lookupTables: [] });
  const budget = { priorityFeeLamports: 7n, computeUnitLimit: 8, loadedBytesLimit: 9 };
  // A legacy message is the same without its prefix and its list of lookup tables.
  for (const one of [message, message.slice(1, -1), compileMessageV1({ payer, blockhash, instructions }, budget)])
    expect(programsOf(one).map(String)).toEqual(PROGRAMS);
});

test("none is read from a message that is cut", () => {
  const message = compileMessage({ payer, blockhash, instructions, lookupTables: [] });
  for (let end = 0; end < message.length - 1; end++) expect(programsOf(message.subarray(0, end))).toEqual([]);
});
