import type { ProgramErrorCode, Venue } from "../../../venues/venue.ts";

/** The deepest program that failed, from the logs. */
export interface ProgramFailure {
  /** Base58 program id. */
  readonly program: string;
  /** Custom error number, if any. */
  readonly number: number | undefined;
  /** Anchor error name, if the program logs one. */
  readonly name: string | undefined;
  /** True if the program panicked. */
  readonly hasPanicked?: boolean;
}

const FAILED = /^Program (\w+) failed: (?:custom program error: 0x([0-9a-f]+)|(SBF program panicked))?/;
const ANCHOR = /Error Code: (\w+)\. Error Number: (\d+)/;

/**
 * Parses which program failed, and with what error, from a transaction's logs. The first "failed" line is the deepest
 * program: a caller fails after the program it called.
 */
export function parseProgramFailure(logs: readonly string[]): ProgramFailure | undefined {
  let name: string | undefined;
  let named: number | undefined;
  for (const line of logs) {
    const anchor = ANCHOR.exec(line);
    if (anchor !== null) {
      name = anchor[1];
      named = Number(anchor[2]);
    }
    const failed = FAILED.exec(line);
    if (failed !== null) {
      const number = failed[2] === undefined ? undefined : Number.parseInt(failed[2], 16);
      const hasPanicked = failed[3] !== undefined;
      return {
        program: failed[1]!,
        number,
        name: named === number ? name : undefined,
        ...(hasPanicked && { hasPanicked }),
      };
    }
  }
  return undefined;
}

/** Numbers below this may be those of a token or system program that the instruction called. */
const LEAST_OWN_NUMBER = 20;

/**
 * The failure by the chain's own error, for logs that are cut or absent: the program of the instruction that failed, in our own
 * message, and its number. Undefined if the error names none, or if the number may be that of a program called by it.
 *
 * @param programs the program of each instruction
 */
export function failureOfInstruction(
  error: unknown,
  programs: readonly { toString(): string }[],
): ProgramFailure | undefined {
  const [index, cause] = failedInstruction(error);
  const program = index === undefined ? undefined : programs[index]?.toString();
  const number = cause?.Custom;
  if (program === undefined || typeof number !== "number") return undefined;
  const isOwn = number >= LEAST_OWN_NUMBER || program === SYSTEM || TOKEN_PROGRAMS.has(program);
  return isOwn ? { program, number, name: undefined } : undefined;
}

/** The program of the instruction that failed; undefined if the error names none. @param programs the program of each instruction */
export function failedProgram<P>(error: unknown, programs: readonly P[]): P | undefined {
  const [index] = failedInstruction(error);
  return index === undefined ? undefined : programs[index];
}

/** The place of the instruction that failed, and why; nothing if the error names none. A node may say anything. */
function failedInstruction(error: unknown): readonly [index?: number, cause?: { readonly Custom?: unknown } | null] {
  const named = (error as { InstructionError?: unknown } | null | undefined)?.InstructionError;
  return Array.isArray(named) ? (named as [number, { Custom?: unknown } | null]) : [];
}

/**
 * True if the guard of the total failed: of the trade's own token-program instructions, only the guard can fail for lack of balance. A swap
 * that lacks balance fails as an instruction of its venue.
 *
 * @param programs the program of each instruction
 */
export function isGuardFailure(error: unknown, programs: readonly { toString(): string }[]): boolean {
  const [index, cause] = failedInstruction(error);
  return cause?.Custom === INSUFFICIENT && TOKEN_PROGRAMS.has(programs[index!]?.toString() ?? "");
}

/**
 * True if the trade failed because the token account that it had emptied could not be closed: somebody had sent into it meanwhile.
 *
 * @param programs the program of each instruction
 */
export function isCloseFailure(error: unknown, programs: readonly { toString(): string }[]): boolean {
  const [index, cause] = failedInstruction(error);
  const isClosing = cause?.Custom === HOLDS_TOKENS || cause?.Custom === HOLDS_FEES;
  return isClosing && TOKEN_PROGRAMS.has(programs[index!]?.toString() ?? "");
}

/**
 * True if the trade took more compute units than it had asked for, as it may if the market has moved: the next prices lie in other bins and
 * arrays. The runtime says so in its error if a program called it, else in the log.
 */
export function isOutOfUnits(error: unknown, logs: readonly string[]): boolean {
  const [, cause] = failedInstruction(error);
  return (cause as unknown) === "ComputationalBudgetExceeded" || logs.some((line) => OUT_OF_UNITS.test(line));
}

/** A program's own output cannot begin like this. */
const OUT_OF_UNITS = /^Program \w+ failed: (?:exceeded CUs meter|Computational budget exceeded)/;

const TOKEN_PROGRAMS = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
]);
const SYSTEM = "11111111111111111111111111111111";
const INSUFFICIENT = 1;
/** Why a token program does not close an account: its balance, or fees that Token-2022 withheld in it. @see spl-token-2022 `error.rs` */
const HOLDS_TOKENS = 11;
const HOLDS_FEES = 35;

/** The code of a failure, by the program's error name, else by its number; PROGRAM_ERROR if both are unknown. */
export function classifyFailure(failure: ProgramFailure, venues: readonly Venue[]): ProgramErrorCode | "PROGRAM_ERROR" {
  const { program, number, name, hasPanicked = false } = failure;
  if (program === SYSTEM) return number === INSUFFICIENT ? "INSUFFICIENT_SOL" : "PROGRAM_ERROR";
  if (TOKEN_PROGRAMS.has(program)) return number === INSUFFICIENT ? "INSUFFICIENT_TOKEN_BALANCE" : "PROGRAM_ERROR";
  const venue = venues.find(({ programs }) => programs.some((id) => id.toString() === program));
  if (venue === undefined) return "PROGRAM_ERROR";
  return (
    (name === undefined ? undefined : venue.errors.byName.get(name)) ??
    (number === undefined ? undefined : venue.errors.byNumber.get(number)) ??
    (hasPanicked ? venue.errors.panic : undefined) ??
    "PROGRAM_ERROR"
  );
}
