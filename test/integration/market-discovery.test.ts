import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { venues } from "../../src/venues/registry.ts";
import { discoverCold } from "../support/discover.ts";

const pair = { a: SOL_MINT, b: Address.from(createRandom(1).bytes(32)) };
const fetchAccounts = async (addresses: readonly Address[]) => ({ slot: 1n, accounts: addresses.map(() => null) });

test("a search gives others a turn between venues while it derives addresses", async () => {
  let searching = true;
  const turns = (async () => {
    let count = 0;
    for (; searching; count++) await nextTurn();
    return count;
  })();
  const reader = { fetchAccounts, fetchProgramAccounts: async () => "refused" as const };
  const { searched, found, faults } = await discoverCold(pair, { reader, venues });
  searching = false;
  expect(found).toEqual([]);
  const refused = venues.map(({ id }) => id).filter((id) => !searched.includes(id));
  expect(faults.map(({ venue }) => venue).sort()).toEqual(refused.sort());
  const guessed = venues.filter((venue) => venue.search(pair).some(({ kind }) => kind === "guess"));
  expect(guessed.length).toBeGreaterThan(5);
  expect(await turns).toBeGreaterThanOrEqual(guessed.length);
});

test("a node that serves filters is asked for nothing that they answer: one call of filters a side, one of addresses", async () => {
  const filtered: string[] = [];
  const read: number[] = [];
  const reader = {
    fetchAccounts: (addresses: readonly Address[]) => {
      read.push(addresses.length);
      return fetchAccounts(addresses);
    },
    fetchProgramAccounts: async ({ program }: { readonly program: Address }) => {
      filtered.push(program.toString());
      return [];
    },
  };
  const { searched } = await discoverCold(pair, { reader, venues });
  expect(searched).toEqual(venues.map(({ id }) => id));
  expect(filtered.length).toBeLessThanOrEqual(17);
  expect(read.length).toBe(1);
  expect(read[0]).toBeLessThan(10);
});
