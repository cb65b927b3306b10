import { describe, expect, it } from "vitest";
import { venues } from "../../src/venues/registry.ts";
import {
  failed,
  invoke,
  named,
  outcomeOf as outcomeAmong,
  SYSTEM,
  TOKEN,
  TOKEN_2022,
  testProgramErrors,
  UNKNOWN,
} from "./program-error-checks.ts";

const outcomeOf = (logs: readonly string[], error?: unknown) => outcomeAmong(venues, logs, error);

describe.each(venues)("$id", (venue) => testProgramErrors(venues, venue));

describe("failures outside the venues", () => {
  it("reports accounts that a program no longer accepts as PROGRAM_ERROR, with the reason", () => {
    const pumpFun = venues.find(({ id }) => id === "pump_fun")!.programs[0]!.toString();
    const outcome = outcomeOf([
      invoke(pumpFun, 1),
      named("BuybackFeeRecipientNotAuthorized", 6057),
      failed(pumpFun, 6057),
    ]);
    expect(outcome).toMatchObject({ code: "PROGRAM_ERROR", facts: { details: { reason: "VENUE_DEGRADED" } } });
    expect(outcome.message).toContain("did not accept the accounts");
  });

  it("prefers a name to a number: CLMM has renumbered its errors", () => {
    const clmm = venues.find(({ id }) => id === "raydium_clmm")!.programs[0]!.toString();
    expect(outcomeOf([invoke(clmm, 1), named("TooLittleOutputReceived", 6022), failed(clmm, 6022)]).code).toBe(
      "SLIPPAGE_EXCEEDED",
    );
  });

  it("ignores a name logged for another failure", () => {
    const [venue] = venues;
    const program = venue!.programs[0]!.toString();
    const outcome = outcomeOf([invoke(program, 1), named("TooMuchSolRequired", 6002), failed(program, UNKNOWN)]);
    expect(outcome.code).toBe("PROGRAM_ERROR");
    expect(outcome.facts.details).not.toHaveProperty("name");
  });

  it("handles failures without a number", () => {
    const program = venues[0]!.programs[0]!.toString();
    const outcome = outcomeOf([invoke(program, 1), `Program ${program} failed: exceeded CUs meter at BPF instruction`]);
    expect(outcome.code).toBe("PROGRAM_ERROR");
    expect(outcome.facts.details).toMatchObject({ program });
    expect(outcome.facts.details).not.toHaveProperty("code");
  });

  it.each([
    [SYSTEM, 1, "INSUFFICIENT_SOL"],
    [SYSTEM, 0, "PROGRAM_ERROR"],
    [TOKEN, 1, "INSUFFICIENT_TOKEN_BALANCE"],
    [TOKEN, 4, "PROGRAM_ERROR"],
    [TOKEN_2022, 1, "INSUFFICIENT_TOKEN_BALANCE"],
  ] as const)("%s failing with %i is %s", (program, number, code) => {
    expect(outcomeOf([invoke(program, 1), failed(program, number)]).code).toBe(code);
  });

  it("falls back to the runtime's error if no program failed", () => {
    expect(outcomeOf([], { InsufficientFundsForRent: { account_index: 1 } }).code).toBe("INSUFFICIENT_SOL");
    expect(outcomeOf([], "InsufficientFundsForFee").code).toBe("INSUFFICIENT_SOL");
    expect(outcomeOf([], "AccountNotFound").code).toBe("INSUFFICIENT_SOL");
    expect(outcomeOf([], "MaxLoadedAccountsDataSizeExceeded").code).toBe("PROGRAM_ERROR");
    expect(outcomeOf(["Log truncated"], { InstructionError: [0, { Custom: 6002 }] }).code).toBe("PROGRAM_ERROR");
  });
});
