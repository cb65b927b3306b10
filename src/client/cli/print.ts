import { type CliIo, type CommandLine, UsageError } from "./command.ts";

/** Control characters, and those that reorder text or show nothing: a terminal could obey them, a reader be misled. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Prints a result: as JSON with big integers as strings if asked for, or else in lines for a reader. */
export function print({ flags }: CommandLine, io: CliIo, value: object, lines: readonly string[]): void {
  if (flags.has("json")) io.out(JSON.stringify(value, withoutBigints));
  else for (const line of lines) io.out(line);
}

/** The same access to the world, but no text of a service, node or file reaches the terminal as a command to it. */
export function safeIo(io: CliIo): CliIo {
  return {
    ...io,
    out: (line) => io.out(escapeUnsafe(line)),
    note: (line) => io.note(escapeUnsafe(line)),
    confirm: (question) => io.confirm(escapeUnsafe(question)),
  };
}

/** Unsafe characters as \uXXXX, which JSON reads back as they were. */
function escapeUnsafe(text: string): string {
  const asUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(UNSAFE, (character) => character.split("").map(asUnit).join(""));
}

/** A number without an exponent, as people write it. */
export function decimal(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const text = String(value);
  if (!text.includes("e")) return text;
  return value.toFixed(20).replace(/\.?0+$/, "");
}

/** A fraction as a percentage. */
export function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}

/** The bytes of base64 text. @throws UsageError */
export function base64Bytes(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
      character.charCodeAt(0),
    );
  } catch {
    throw new UsageError("The transaction is not base64.");
  }
}

function withoutBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
