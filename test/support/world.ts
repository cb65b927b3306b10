import type { Address } from "../../src/primitives/address.ts";
import { createWorld, type World } from "../../src/sandbox/world/world.ts";
import { decodeLookupTable } from "../../src/solana/lookup-table.ts";
import { Svm } from "./svm.ts";

/** The clock of test worlds: an epoch in which both transfer fee settings differ. */
export const WORLD_CLOCK = { slot: 450_000_000n, epoch: 1_041n, unixTimestamp: 1_795_000_000n };

/** The world of a seed on a fresh SVM; with `programsDir`, on the programs of that folder. */
export function worldOnSvm(seed: number, programsDir?: string): { readonly world: World; readonly svm: Svm } {
  const world = createWorld({
    seed,
    slot: WORLD_CLOCK.slot,
    unixTimestamp: WORLD_CLOCK.unixTimestamp,
    ...(programsDir === undefined ? {} : { programsDir }),
  });
  const svm = new Svm(WORLD_CLOCK);
  for (const program of world.programs) svm.addProgram(program.id, program.bytes);
  for (const account of world.accounts) svm.setAccount(account);
  return { world, svm };
}

/** The contents of a world's lookup tables, as a client is given them. */
export function lookupTablesOf({ accounts }: World): ReadonlyMap<Address, readonly Address[]> {
  return new Map(
    accounts.flatMap((account) => {
      const table = decodeLookupTable({ ...account, executable: false, slot: 0n });
      return table === undefined ? [] : [[table.address, table.entries] as const];
    }),
  );
}
