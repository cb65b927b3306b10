import { expect, it } from "vitest";
import type { TransactionRecord } from "../../src/chain/port.ts";
import { ERRORS } from "../../src/errors/error-codes.ts";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { Address } from "../../src/primitives/address.ts";
import { failedOutcome } from "../../src/trade/submit/outcome/landed-failure.ts";
import type { Venue } from "../../src/venues/venue.ts";

export const SYSTEM = "11111111111111111111111111111111";
export const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
export const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
const STRANGER = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";
/** A number that no venue lists. */
export const UNKNOWN = 7_777;

export const invoke = (program: string, depth: number): string => `Program ${program} invoke [${depth}]`;
export const failed = (program: string, number: number): string =>
  `Program ${program} failed: custom program error: 0x${number.toString(16)}`;
export const named = (name: string, number: number): string =>
  `Program log: AnchorError thrown in programs/x/src/lib.rs:101. Error Code: ${name}. Error Number: ${number}. Error Message: words.`;

/** The outcome that a caller gets for a transaction that failed with these logs. */
export function outcomeOf(
  venues: readonly Venue[],
  logs: readonly string[],
  error: unknown = { InstructionError: [3, { Custom: 1 }] },
  programs: readonly Address[] = [],
) {
  const outcome = failedOutcome(
    { signature: "sig", programs },
    { record: { ...RECORD, error, logs }, witnesses: 2 },
    venues,
  );
  if (outcome.kind !== "failed") throw new Error("a failed transaction came out as landed");
  return outcome;
}

const RECORD: TransactionRecord = {
  slot: 5n,
  error: null,
  feeLamports: 5_000n,
  accounts: [],
  preBalances: [],
  postBalances: [],
  preTokenBalances: [],
  postTokenBalances: [],
  logs: [],
  computeUnitsConsumed: 1n,
};

/** Defines the tests of one venue among `venues`: each error it lists comes out as the code it lists. */
export function testProgramErrors(venues: readonly Venue[], venue: Venue): void {
  const program = venue.programs[0]!.toString();
  const { listed } = venue.errors;
  const aNumber = listed.find(([number]) => number !== null)![0]!;

  it.each(listed)("%s %s is %s", (number, name, code) => {
    for (const logs of failuresOf(program, number, name)) {
      const { code: answer, message, facts } = outcomeOf(venues, logs);
      expect(new TradewireError(answer, message, facts).retryable).toBe(false);
      expect(ERRORS[answer].http).toBe(422);
      expect(facts.details?.reason ?? answer).toBe(code);
      expect(facts.safeToRebuild).toBe(true);
      expect(facts.details).toMatchObject({ program, code: number ?? UNKNOWN });
      if (name !== null && logs.some((line) => line.includes(name))) expect(facts.details).toMatchObject({ name });
    }
  });

  it("ignores the number if a program that it calls failed with it", () => {
    const outcome = outcomeOf(venues, [
      invoke(program, 1),
      invoke(STRANGER, 2),
      failed(STRANGER, aNumber),
      failed(program, aNumber),
    ]);
    expect(outcome.code).toBe("PROGRAM_ERROR");
    expect(outcome.facts.details).toMatchObject({ program: STRANGER, code: aNumber });
  });

  it("attributes a transfer without funds to the deepest program, by that program's meaning of 1", () => {
    const transfer = (inner: string) =>
      outcomeOf(venues, [invoke(program, 1), invoke(inner, 2), failed(inner, 1), failed(program, 1)]);
    expect(transfer(SYSTEM).code).toBe("INSUFFICIENT_SOL");
    expect(transfer(TOKEN).code).toBe("INSUFFICIENT_TOKEN_BALANCE");
    expect(transfer(TOKEN_2022).code).toBe("INSUFFICIENT_TOKEN_BALANCE");
    expect(transfer(TOKEN).facts.details).toMatchObject({ program: TOKEN, code: 1 });
  });

  it("attributes an error by instruction and number if the logs are cut before it", () => {
    const cut = [invoke(program, 1), "Log truncated"];
    const programs = [Address.of(SYSTEM), venue.programs[0]!];
    const outcomeFor = (number: number) =>
      outcomeOf(venues, cut, { InstructionError: [1, { Custom: number }] }, programs);
    for (const [number, , code] of listed) {
      if (number === null) continue;
      const { code: answer, facts } = outcomeFor(number);
      // A small number may be a token program's, called by the venue's.
      expect(facts.details?.reason ?? answer).toBe(number < 20 ? "PROGRAM_ERROR" : code);
    }
    expect(outcomeFor(1).code).toBe("PROGRAM_ERROR");
    expect(outcomeOf(venues, cut, { InstructionError: [0, { Custom: 1 }] }, programs).code).toBe("INSUFFICIENT_SOL");
    expect(outcomeOf(venues, cut, { InstructionError: [9, { Custom: aNumber }] }, programs).code).toBe("PROGRAM_ERROR");
  });

  it("answers an unlisted error with the program, its number and its name", () => {
    const outcome = outcomeOf(venues, [invoke(program, 1), named("Novelty", UNKNOWN), failed(program, UNKNOWN)]);
    expect(outcome.code).toBe("PROGRAM_ERROR");
    expect(outcome.facts.details).toMatchObject({ program, code: UNKNOWN, name: "Novelty" });
  });

  it("lists each number and each name once, and the failure of its slippage guard", () => {
    const numbers = listed.flatMap(([number]) => (number === null ? [] : [number]));
    const names = listed.flatMap(([, name]) => (name === null ? [] : [name]));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(new Set(names).size).toBe(names.length);
    expect(listed.filter(([number, , code]) => number !== null && code === "SLIPPAGE_EXCEEDED")).not.toEqual([]);
  });
}

/** The logs of an error: named by the program, by its number alone, and in a call from another program. */
function failuresOf(program: string, number: number | null, name: string | null): readonly (readonly string[])[] {
  const thrown = number ?? UNKNOWN;
  const naming = name === null ? [] : [named(name, thrown)];
  const failures = [
    [invoke(program, 1), ...naming, failed(program, thrown)],
    [invoke(STRANGER, 1), invoke(program, 2), ...naming, failed(program, thrown), failed(STRANGER, thrown)],
  ];
  return number === null ? failures : [...failures, [invoke(program, 1), failed(program, number)]];
}
