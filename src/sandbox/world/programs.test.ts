import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readWorldPrograms } from "./programs.ts";
import { FEE_PROGRAM } from "./pump-fees.ts";

test("what a real program calls is deployed with it; a program that lacks it is refused with the cure", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-programs-"));
  try {
    const caller = Buffer.concat([Buffer.from("\x7fELF"), FEE_PROGRAM.bytes, Buffer.alloc(8)]);
    writeFileSync(join(folder, "pump_fun.so"), caller);
    expect(() => readWorldPrograms(folder)).toThrow(
      /pump_fun\.so calls the program pump_fees \(pfee\w+\): add pump_fees\.so/,
    );
    writeFileSync(join(folder, "pump_fees.so"), "fees");
    const programs = readWorldPrograms(folder);
    expect(programs.filter(({ isStandIn }) => !isStandIn).map(({ name }) => name)).toEqual(["pump_fun", "pump_fees"]);
    writeFileSync(join(folder, "pump_fun.so"), "one that calls nothing");
    rmSync(join(folder, "pump_fees.so"));
    expect(readWorldPrograms(folder)).toHaveLength(4);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a folder whose files take no stand-in's place is refused with the names that do", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-programs-"));
  try {
    writeFileSync(join(folder, "pump_fun_2026.so"), "under a name of its own");
    expect(() => readWorldPrograms(folder)).toThrow(
      `SANDBOX_PROGRAMS names ${folder}, in which no file replaces a stand-in: pump_fun.so, pump_swap.so, raydium_cpmm.so, raydium_launchlab.so.`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
