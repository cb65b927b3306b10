import { existsSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const PROGRAMS = resolve(".venues");
/** Programs of the world that are public, by the file that they run from. */
const BUILDS: Readonly<Record<string, string>> = {
  pump_fun: "pump_fun_2026",
  pump_swap: "pump_swap_2026",
  pump_fees: "pump_fees_2026",
  raydium_cpmm: "raydium_cpmm",
};

/** True if every real program is present. */
export function hasRealPrograms(): boolean {
  return Object.values(BUILDS).every((build) => existsSync(join(PROGRAMS, `${build}.so`)));
}

/** Links the real programs into the folder under the names that SANDBOX_PROGRAMS expects. */
export function linkRealPrograms(folder: string): void {
  for (const [name, build] of Object.entries(BUILDS))
    symlinkSync(join(PROGRAMS, `${build}.so`), join(folder, `${name}.so`));
}
