import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../primitives/address.ts";
import { binaryPath } from "../programs/manifest.ts";
import { CPMM_PROGRAM } from "./cpmm.ts";
import { LAUNCHLAB_PROGRAM } from "./launchlab.ts";
import { FEE_PROGRAM } from "./pump-fees.ts";
import { PUMP_PROGRAM } from "./pump-fun.ts";
import { PUMP_SWAP_PROGRAM } from "./pump-swap.ts";

/** A program deployed in the world. */
export interface WorldProgram {
  readonly id: Address;
  /** Name of its stand-in, and of the file that replaces it. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** True for a program of this project, false for a real one that takes its place. */
  readonly isStandIn: boolean;
}

const PROGRAMS: readonly { readonly id: Address; readonly name: string }[] = [
  { id: PUMP_PROGRAM, name: "pump_fun" },
  { id: PUMP_SWAP_PROGRAM, name: "pump_swap" },
  { id: CPMM_PROGRAM, name: "raydium_cpmm" },
  { id: LAUNCHLAB_PROGRAM, name: "raydium_launchlab" },
];

/** Programs that real ones call and stand-ins do not: they have no stand-in of their own. */
const CALLED: readonly { readonly id: Address; readonly name: string }[] = [{ id: FEE_PROGRAM, name: "pump_fees" }];

/**
 * The programs of the world. A file `<name>.so` in `folder` takes the place of the stand-in of that name; what real programs
 * call is deployed beside them.
 *
 * @throws Error when a binary cannot be read or calls a program that the folder lacks, or the folder replaces no stand-in
 */
export function readWorldPrograms(folder: string | undefined): WorldProgram[] {
  const programs = PROGRAMS.map(({ id, name }): WorldProgram => {
    const bytes = readReplacement(folder, name);
    return { id, name, bytes: bytes ?? readFileSync(binaryPath(name)), isStandIn: bytes === undefined };
  });
  const real = programs.filter(({ isStandIn }) => !isStandIn);
  if (folder !== undefined && real.length === 0) {
    const names = PROGRAMS.map(({ name }) => `${name}.so`).join(", ");
    throw new Error(`SANDBOX_PROGRAMS names ${folder}, in which no file replaces a stand-in: ${names}.`);
  }
  for (const { id, name } of CALLED) {
    const bytes = readReplacement(folder, name);
    const caller = real.find((program) => Buffer.from(program.bytes).includes(Buffer.from(id.bytes)));
    if (bytes !== undefined) programs.push({ id, name, bytes, isStandIn: false });
    else if (caller !== undefined)
      throw new Error(`${caller.name}.so calls the program ${name} (${id}): add ${name}.so to SANDBOX_PROGRAMS.`);
  }
  return programs;
}

function readReplacement(folder: string | undefined, name: string): Uint8Array | undefined {
  const path = folder === undefined ? undefined : join(folder, `${name}.so`);
  return path !== undefined && existsSync(path) ? readFileSync(path) : undefined;
}
