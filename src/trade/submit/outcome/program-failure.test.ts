import { expect, test } from "vitest";
import { programErrors } from "../../../venues/shared/program-errors.ts";
import type { Venue } from "../../../venues/venue.ts";
import { classifyFailure, failureOfInstruction, isCloseFailure, isGuardFailure } from "./program-failure.ts";

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
