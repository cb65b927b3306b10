import { expect, test } from "vitest";
import { Svm } from "../../../../test/support/svm.ts";
import { Address } from "../../../primitives/address.ts";
import { setComputeUnitLimit } from "../../../solana/compute-budget.ts";
import { requireBalance } from "../../../solana/token/token-instructions.ts";
import { programErrors } from "../../../venues/shared/program-errors.ts";
import type { Venue } from "../../../venues/venue.ts";
import { failedOutcome } from "./landed-failure.ts";
import {
  classifyFailure,
  failureOfInstruction,
  isCloseFailure,
  isGuardFailure,
  isOutOfUnits,
} from "./program-failure.ts";

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const VENUE = "venue";

test("an error names the instruction that failed", () => {
  const programs = [VENUE, TOKEN_PROGRAM];
  expect(isGuardFailure({ InstructionError: [1, { Custom: 1 }] }, programs)).toBe(true);
  expect(isGuardFailure({ InstructionError: [0, { Custom: 1 }] }, programs)).toBe(false);
  expect(isGuardFailure({ InstructionError: [1, { Custom: 11 }] }, programs)).toBe(false);
  const closing = (index: number, Custom: number) =>
    isCloseFailure({ InstructionError: [index, { Custom }] }, programs);
  expect([closing(1, 11), closing(1, 35), closing(1, 1), closing(0, 11)]).toEqual([true, true, false, false]);
  expect(failureOfInstruction({ InstructionError: [0, { Custom: 6_000 }] }, programs)).toMatchObject({
    program: VENUE,
    number: 6_000,
  });
});

test("a trade that runs out of compute units says so, and no program can say it of another failure", () => {
  const svm = new Svm();
  const wallet = svm.newWallet();
  const mint = svm.newMint({ decimals: 6 });
  const account = svm.setTokens(wallet, mint, 9n);
  const messageOf = (units: number, amount: bigint, error: unknown): string => {
    const order = { account, mint, owner: wallet, amount, decimals: 6, tokenProgram: Address.of(TOKEN_PROGRAM) };
    const { ok, logs } = svm.send(wallet, [setComputeUnitLimit(units), requireBalance(order)]);
    expect(ok).toBe(false);
    const record = { slot: 1n, error: { InstructionError: [1, error] }, logs, feeLamports: 5_000n } as never;
    const sent = { signature: "signature", programs: [order.tokenProgram, order.tokenProgram] };
    const outcome = failedOutcome(sent, { record, witnesses: 1 }, []);
    return (outcome as { readonly message: string }).message;
  };
  expect(messageOf(300, 9n, "ProgramFailedToComplete")).toContain("took more compute units than it asked for");
  expect(messageOf(200_000, 10n, { Custom: 1 })).not.toContain("compute units");
  const log = (line: string) => isOutOfUnits({ InstructionError: [1, "InvalidArgument"] }, [line]);
  expect(log("Program log: Program x failed: exceeded CUs meter at BPF instruction")).toBe(false);
  expect(isOutOfUnits({ InstructionError: [1, "ComputationalBudgetExceeded"] }, [])).toBe(true);
});

test("an error in a form that no node should use names none", () => {
  const errors = [5, {}, null, [], ["a"], [9, null], [1], [1, "BorrowFailed"], { length: 2 }];
  for (const named of errors) {
    expect(isGuardFailure({ InstructionError: named }, [TOKEN_PROGRAM])).toBe(false);
    expect(isCloseFailure({ InstructionError: named }, [TOKEN_PROGRAM])).toBe(false);
    expect(failureOfInstruction({ InstructionError: named }, [TOKEN_PROGRAM])).toBeUndefined();
  }
  for (const error of ["AccountInUse", 5, undefined]) expect(isGuardFailure(error, [TOKEN_PROGRAM])).toBe(false);
});

test("a name that is not listed counts for nothing, even if every object has it", () => {
  const errors = programErrors([[6_000, "TooLittle", "SLIPPAGE_EXCEEDED"]]);
  const venues = [{ programs: [VENUE], errors } as unknown as Venue];
  const codeOf = (number: number | undefined, name: string) =>
    classifyFailure({ program: VENUE, number, name }, venues);
  expect(codeOf(undefined, "TooLittle")).toBe("SLIPPAGE_EXCEEDED");
  for (const name of ["Other", "constructor", "toString", "__proto__"]) {
    expect([codeOf(6_000, name), codeOf(7, name)]).toEqual(["SLIPPAGE_EXCEEDED", "PROGRAM_ERROR"]);
  }
});
