import { expect, test } from "vitest";
import type { CliIo } from "./command.ts";
import { safeIo } from "./print.ts";

test("no character that a terminal obeys, or that hides or reorders text, is printed; JSON reads back the same", () => {
  const lines: string[] = [];
  const io = safeIo({ out: (line: string) => lines.push(line) } as unknown as CliIo);
  const hostile = [
    "\u001b]52;c;AAAA\u0007",
    "\u009b2J",
    "\r\n",
    "\u061c\u200e\u200f\u202e\u2066\u2069",
    "\u00ad\u200b\u2060\ufeff\u180e",
    "\u{e0041}\u{1d173}",
    "\u3164\uffa0\u115f\u034f\u17b4\u180b\u2065",
    "\ufe00\ufe0e\u{e0100}\u{e01ef}",
    "\ud800",
  ];
  for (const text of hostile) {
    io.out(JSON.stringify({ text }));
    const printed = lines.at(-1)!;
    expect(printed).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u);
    expect(JSON.parse(printed)).toEqual({ text });
  }
  io.out("EMBER → 5 ✓ 日本");
  expect(lines.at(-1)).toBe("EMBER → 5 ✓ 日本");
});
