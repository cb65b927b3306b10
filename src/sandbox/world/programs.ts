import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../primitives/address.ts";
import { binaryPath } from "../programs/manifest.ts";
import { CPMM_PROGRAM } from "./cpmm.ts";
import { LAUNCHLAB_PROGRAM } from "./launchlab.ts";
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

/**
 * The programs of the world. A file `<name>.so` in `folder` takes the place of the stand-in of that name.
 *
 * @throws Error when a binary cannot be read
 */
export function readWorldPrograms(folder: string | undefined): WorldProgram[] {
  return PROGRAMS.map(({ id, name }) => {
    const replacement = folder === undefined ? undefined : join(folder, `${name}.so`);
    const isStandIn = replacement === undefined || !existsSync(replacement);
    return { id, name, bytes: readFileSync(isStandIn ? binaryPath(name) : replacement), isStandIn };
  });
}
