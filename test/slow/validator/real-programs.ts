import { existsSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { pumpBuildsOf } from "../venues/support/pump-builds.ts";

/** The newest builds of Pump's programs. */
const PUMP = pumpBuildsOf("pump_fun").at(-1);
/** Programs of the world that are public, by the name that SANDBOX_PROGRAMS expects. */
const BUILDS: Readonly<Record<string, string>> = {
  pump_fun: PUMP?.fun ?? ".venues/pump_fun_2026.so",
  pump_swap: PUMP?.swap ?? ".venues/pump_swap_2026.so",
  pump_fees: PUMP?.fees ?? ".venues/pump_fees_2026.so",
  raydium_cpmm: ".venues/raydium_cpmm.so",
};

/** True if every real program is present. */
export function hasRealPrograms(): boolean {
  return Object.values(BUILDS).every((path) => existsSync(path));
}

/** Links the real programs into the folder under the names that SANDBOX_PROGRAMS expects. */
export function linkRealPrograms(folder: string): void {
  for (const [name, path] of Object.entries(BUILDS)) symlinkSync(resolve(path), join(folder, `${name}.so`));
}
